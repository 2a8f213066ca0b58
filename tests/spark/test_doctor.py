"""What the doctor finds: of executors that are not like the driver, of places, and of masters that are not there."""

from __future__ import annotations

import copy
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyspark
import pytest

import windrow
from windrow.errors import SettingsError
from windrow.language import parse_script
from windrow.spark.doctor.examine import examination, facts, tried
from windrow.spark.doctor.findings import findings
from windrow.spark.doctor.trial_places import places_needed, tried_here
from windrow.spark.doctor.visit import visit_executors
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.reach_master import check_master, master_addresses
from windrow.spark.stages.same_version import check_version, told_of_windrow

SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP) USING parquet OPTIONS (path '{0}/in/day=*') TIMESTAMP BY ts;
CREATE TABLE names USING csv OPTIONS (path '{0}/gone.csv');
CREATE SINK counts USING parquet OPTIONS (path '{0}/out/counts');
"""


@pytest.fixture
def here():
    return facts(()) | {"java": "17", "ahead": (-0.1, 0.1), "places": {}}


def other(here, **changed):
    return copy.deepcopy(here) | {"executor": "1", "host": "there"} | changed


def test_executors_like_the_driver_are_well(here):
    found = findings(here, {"there/1": other(here)}, [], None)
    assert (found.wrong, found.remarks) == ([], [])


def test_an_executor_without_windrow_or_with_another_one_is_named_with_the_way_out(here):
    bare = other(here, code=None, packages=here["packages"] | {"windrow": None})
    old = other(here, code="x", packages=here["packages"] | {"windrow": "0.0.9"})
    edited = other(here, code="x")
    for told, said in (
        (bare, "has no Windrow"),
        (old, "has Windrow 0.0.9, and the driver"),
        (edited, "has other code"),
    ):
        (problem,) = findings(here, {"there/1": told}, [], None).wrong
        assert problem.startswith(f"executor 1 on there {said}") and "windrow pack" in problem


def test_missing_packages_keep_a_job_from_running_and_other_versions_are_remarked_on(here):
    lacks = other(here, packages=here["packages"] | {"pyarrow": None})
    assert "lacks pyarrow" in findings(here, {"a": lacks}, [], None).wrong[0]
    differs = other(here, packages=here["packages"] | {"numpy": "1.0"})
    found = findings(here, {"a": differs}, [], None)
    assert not found.wrong and found.remarks == [
        f"executor 1 on there has numpy 1.0, and the driver {here['packages']['numpy']}"
    ]
    spark = other(here, packages=here["packages"] | {"pyspark": "3.5.0"})
    assert "pyspark 3.5.0" in findings(here, {"a": spark}, [], None).wrong[0]


def test_clocks_space_and_caches_are_remarked_on(here):
    cache = here["numba_cache"] | {"writable": False}
    told = other(here, ahead=(4.0, 5.0), disk_bytes=1, memory_bytes=1, numba_cache=cache)
    remarks = findings(here, {"a": told}, [], None).remarks
    words = ["4.0 s ahead", "free disk", "free memory", "NUMBA_CACHE_DIR"]
    assert len(remarks) == len(words) and all(word in remark for word, remark in zip(words, remarks))


def test_every_place_of_a_script_is_tried_here_and_there_and_nothing_is_left(here, tmp_path):
    (tmp_path / "in" / "day=1").mkdir(parents=True)
    (tmp_path / "in" / "day=1" / "x.parquet").write_bytes(b"PAR1")
    before = sorted(tmp_path.rglob("*"))
    statements = parse_script(SCRIPT.format(tmp_path))
    needed = places_needed(statements, str(tmp_path / "kept"))
    assert [place.what for place in needed] == ["stream ticks", "table names", "sink counts", "checkpoint"]
    with tried_here(needed, {}) as trials:
        assert [trial.wrong is None for trial in trials] == [True, False, True, True]
        assert [tried(trial.asked(), "1-0") for trial in trials if trial.wrong is None] == [None] * 3
        (tmp_path / "out" / "counts" / trials[2].token).unlink()  # as where the folder of an executor is another one
        places = {trial.address: tried(trial.asked(), "1-0") for trial in trials}
        found = findings(here, {"there/1": other(here, places=places)}, trials, None)
    assert sorted(tmp_path.rglob("*")) == before
    assert ["from the driver" in problem for problem in found.wrong] == [True, False]
    assert "table names" in found.wrong[0] and "sink counts" in found.wrong[1]
    assert "cannot be written from executor 1 on there: what the driver sees is not there" in found.wrong[1]


def test_a_visit_tells_of_the_executor(spark, tmp_path):
    with tried_here(places_needed((), str(tmp_path)), {}) as trials:
        visits = visit_executors(spark, trials, 120)
    (told,) = visits.executors.values()
    assert visits.failure is None and told["executor"] == "driver"
    assert findings(facts(()), visits.executors, trials, None).wrong == []
    assert told["java"].split(".")[0].isdigit() and told["places"] == {str(tmp_path): None}


def test_an_examination_needs_no_windrow_to_be_sent():
    from pyspark import cloudpickle

    from windrow.spark.doctor import examine

    cloudpickle.register_pickle_by_value(examine)
    try:
        sent = cloudpickle.dumps(examination((), (), 0.0))
    finally:
        cloudpickle.unregister_pickle_by_value(examine)
    alone = [
        sys.executable,
        "-c",
        "import pickle, sys; pickle.load(sys.stdin.buffer)(0); assert 'windrow' not in sys.modules",
    ]
    place = {"PYTHONPATH": str(Path(pyspark.__file__).parents[1])}  # what is there of us is found, and not needed
    subprocess.run([*alone[:1], "-S", *alone[1:]], input=sent, check=True, env=place)


def test_a_master_that_is_not_there_is_refused_by_name_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SettingsError, match=rf"the master spark://127.0.0.1:{port} cannot be reached: .*refused"):
        check_master(f"spark://127.0.0.1:{port}")
    with pytest.raises(SettingsError, match=r"no address"):
        check_master("spark://:7077")


@pytest.mark.parametrize(("said", "complaint"), [(b"HTTP/1.1 400 Bad", "a web page"), (b"", None)])
def test_what_listens_there_must_be_a_master(said, complaint):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            line, _ = server.accept()
            with line:
                line.recv(64)
                line.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        url = f"spark://127.0.0.1:{server.getsockname()[1]}"
        if complaint is None:
            check_master(url)
        else:
            with pytest.raises(SettingsError, match=complaint):
                check_master(url)


def test_a_silent_listener_is_refused_within_the_time(monkeypatch):
    monkeypatch.setattr("windrow.spark.reach_master.SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        began = time.monotonic()
        with pytest.raises(SettingsError, match="no answer within"):
            check_master(f"spark://127.0.0.1:{server.getsockname()[1]}")
        assert time.monotonic() - began < 10


def test_resource_managers_are_found_in_the_settings_of_yarn(tmp_path, monkeypatch):
    entries = {
        "yarn.resourcemanager.ha.rm-ids": "a, b",
        "yarn.resourcemanager.hostname.a": "one",
        "yarn.resourcemanager.address.b": "two:9032",
    }
    lines = [f"<property><name>{name}</name><value>{value}</value></property>" for name, value in entries.items()]
    (tmp_path / "yarn-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")
    monkeypatch.setenv("YARN_CONF_DIR", str(tmp_path))
    assert master_addresses("yarn") == [("one", 8032), ("two", 9032)]


def test_a_task_of_another_version_refuses_by_name_and_the_job_says_so():
    check_version(windrow.__version__)
    with pytest.raises(SettingsError, match=r"has Windrow .*, and the driver 9\.9; windrow pack"):
        check_version("9.9")
    lost = "(TID 3) (10.0.0.4 executor 2): ModuleNotFoundError: No module named 'windrow'"
    assert cause_of(lost) is Cause.JOB and "executor 2 on 10.0.0.4 has no Windrow" in told_of_windrow(lost)
    changed = "AttributeError: Can't get attribute 'Old' on <module 'windrow.plan.x' from '/x.py'>"
    assert "another version" in told_of_windrow(changed)
    assert told_of_windrow("No module named 'windrow_plugins'") is None
