"""What Windrow keeps in a checkpoint: for its owner only, for one job at a time, and by names that lead nowhere else."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import windrow
from windrow.errors import SettingsError, StateError
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.spark.job.checkpoint import Added, Kept, QueryEdits, kept_in, make_folder, write_whole
from windrow.spark.job.file_names import OWN_FOLDERS, file_name, folder_of
from windrow.spark.job.hold import Hold, check_free

NAMES = st.text(st.characters(exclude_categories=[]), max_size=300)


@given(NAMES)
@example("../../evil")
@example("/etc/passwd")
@example("")
@example("..")
@example("letters")
@example("\ud800")
@example("x" * 5000)
def test_a_name_stays_in_its_folder(name: str):
    found = file_name(name)
    assert found.isascii() and not set(found) & set('/\\\0:*?"<>|. ') and 0 < len(found) < 128
    assert found not in OWN_FOLDERS and str(folder_of("/nowhere", name).parent) == "/nowhere"


@given(NAMES, NAMES)
@example("Ticks", "ticks")
@example("a/b", "a%2Fb")
@example("x" * 150, "x" * 151)
@example("a~", "a")
@example("%2E", ".")
def test_two_names_are_two_files_even_where_case_does_not_count(one: str, other: str):
    assert (one == other) == (file_name(one).lower() == file_name(other).lower())


@pytest.mark.parametrize("name", ["ticks", "stock_ticks2", "changes-a+b", "changes-2-a", "call-center", "_x"])
def test_plain_names_keep_their_folders(name: str):
    assert file_name(name) == name


@pytest.mark.parametrize("name", ["Ticks", "stock ticks", "ticks.eu", "Größe"])
def test_a_checkpoint_that_has_a_stream_by_its_bare_name_keeps_it_there(tmp_path: Path, name: str):
    assert folder_of(str(tmp_path), name).path != str(tmp_path / name)
    (tmp_path / name / "control").mkdir(parents=True)
    assert folder_of(str(tmp_path), name).path == str(tmp_path / name)
    assert folder_of(str(tmp_path), name.swapcase()).path != str(tmp_path / name)


def test_a_folder_elsewhere_is_never_taken_for_a_stream(tmp_path: Path):
    (tmp_path / "evil" / "control").mkdir(parents=True)
    (tmp_path / "checkpoint" / "letters" / "control").mkdir(parents=True)
    for name in ("../evil", str(tmp_path / "evil"), "letters"):
        assert Path(folder_of(str(tmp_path / "checkpoint"), name).path).parent == tmp_path / "checkpoint"
        assert not os.path.exists(folder_of(str(tmp_path / "checkpoint"), name).path)


def plan_over(*streams: str, stages: int = 1) -> ChangePlan:
    return ChangePlan("q", streams, None, "CHANGES", stages=stages)  # type: ignore[arg-type]


def test_queries_over_other_streams_run_apart_whatever_those_are_called():
    assert plan_over("a", "b").run == "changes-a+b"
    assert plan_over("a", stages=2).run == "changes-2-a"
    plans = [plan_over("a+b"), plan_over("a", "b"), plan_over("a%2Bb"), plan_over("2-a"), plan_over("a", stages=2)]
    assert len({plan.run for plan in plans}) == len(plans)


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_all_is_for_its_owner_only_whatever_the_umask(tmp_path: Path, open_umask: None):
    place = tmp_path / "deep" / "checkpoint"
    hold = Hold(str(place))
    hold.take()
    hold.release()
    kept_in(str(place), 2)
    QueryEdits().write(str(place))
    make_folder(str(place / "ticks"))
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place, *place.iterdir())} == {
        "checkpoint": 0o700,
        "windrow.json": 0o600,
        "queries.json": 0o600,
        "lock.json": 0o600,
        "ticks": 0o700,
    }
    os.umask(0o777)
    make_folder(str(tmp_path / "closed"))
    write_whole(str(tmp_path / "closed" / "file"), 1)
    assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "closed" / "file").stat().st_mode) == 0o600


def test_a_folder_that_the_user_made_stays_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o755)
    kept_in(str(tmp_path), 2)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


KEPT = json.dumps({"job": "1234abcd", "shards": 2, "expiry": None})
CHANGES = json.dumps(
    {"added": {"q": {"text": "SELECT 1", "format": "csv", "options": [["path", "x"]], "slide_us": 5}}, "dropped": ["p"]}
)


def test_what_was_written_before_is_understood(tmp_path: Path):
    (tmp_path / "windrow.json").write_text(KEPT)
    (tmp_path / "queries.json").write_text(CHANGES)
    assert kept_in(str(tmp_path), 7) == Kept("1234abcd", 2)
    assert QueryEdits.read(str(tmp_path)) == QueryEdits(
        {"q": Added("SELECT 1", windrow.sink("csv", path="x"), 5)}, ["p"]
    )


WRONG = ["", "nonsense", "null", "[]", "7", "{}", "[" * 100_000, "\ufeff{}"]
WRONG_KEPT = ['{"job": "../x", "shards": 2}', '{"job": "x", "shards": "two"}', '{"job": "x", "shards": 0}']
WRONG_KEPT += ['{"job": "x", "shards": true}', '{"job": "x", "shards": 2, "colour": 1}', '{"job": 1, "shards": 2}']
WRONG_CHANGES = ['{"added": [], "dropped": []}', '{"added": {}, "dropped": "p"}', '{"added": {}, "dropped": [1]}']
WRONG_CHANGES += [CHANGES.replace('"SELECT 1"', "1"), CHANGES.replace('[["path", "x"]]', "[1]")]
WRONG_CHANGES += [CHANGES.replace("5", '"5"'), CHANGES.replace('"csv"', "null")]


@pytest.mark.parametrize("content", [*WRONG, *WRONG_KEPT, *(KEPT[:n] for n in range(0, len(KEPT), 7))])
def test_a_damaged_note_of_the_job_is_named(tmp_path: Path, content: str):
    (tmp_path / "windrow.json").write_text(content)
    with pytest.raises(
        StateError, match=r"windrow\.json is damaged: .*\nhint: bring it back from a copy, or start with"
    ):
        kept_in(str(tmp_path), 2)


@pytest.mark.parametrize("content", [*WRONG, *WRONG_CHANGES, *(CHANGES[:n] for n in range(0, len(CHANGES), 17))])
def test_a_damaged_list_of_queries_is_named(tmp_path: Path, content: str):
    (tmp_path / "queries.json").write_text(content)
    with pytest.raises(
        StateError, match=r"queries\.json is damaged: .*\nhint: bring it back from a copy, or start with"
    ):
        QueryEdits.read(str(tmp_path))


def test_a_note_that_is_a_folder_or_bytes_is_named(tmp_path: Path):
    (tmp_path / "windrow.json").mkdir()
    with pytest.raises(StateError, match=r"windrow\.json cannot be read"):
        kept_in(str(tmp_path), 2)
    (tmp_path / "queries.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StateError, match=r"queries\.json is damaged"):
        QueryEdits.read(str(tmp_path))


TAKES = """
import sys
from windrow.spark.job.hold import Hold
hold = Hold(sys.argv[1])
hold.take()
print("taken", flush=True)
sys.stdin.read()
"""


def test_the_second_on_a_checkpoint_is_told_who_has_it_and_a_kill_frees_it(tmp_path: Path):
    command = [sys.executable, "-c", TAKES, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "taken\n"
        told = rf"a job runs on the checkpoint {tmp_path} already: process {first.pid} on \S+, since \d{{4}}-.*\nhint: stop"
        for refused in (Hold(str(tmp_path)).take, lambda: check_free(str(tmp_path))):
            with pytest.raises(SettingsError, match=told):
                refused()
        first.kill()
    check_free(str(tmp_path))
    hold = Hold(str(tmp_path))
    hold.take()
    hold.release()


def test_two_jobs_of_one_process_exclude_each_other_until_one_has_ended(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "checkpoint")
    first, second = Hold(str(tmp_path / "checkpoint")), Hold(str(tmp_path / "link"))
    first.take()
    first.take()
    with pytest.raises(SettingsError, match=f"process {os.getpid()} on"):
        second.take()
    first.lives = lambda: False  # it ended by itself, and nobody has looked since
    second.take()
    with pytest.raises(SettingsError, match="a job runs on the checkpoint"):
        first.take()
    second.release()
    first.take()
    first.release()
    first.release()
    check_free(str(tmp_path / "checkpoint"))
    check_free(str(tmp_path / "nowhere"))


def test_who_holds_a_checkpoint_need_not_be_legible(tmp_path: Path):
    hold = Hold(str(tmp_path))
    hold.take()
    (tmp_path / "lock.json").write_text("[nonsense")
    with pytest.raises(SettingsError, match=r"already\nhint"):
        Hold(str(tmp_path)).take()
    hold.release()


def test_a_checkpoint_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            SettingsError, match=r"cannot be written: (not a directory|file exists); name another folder"
        ):
            Hold(str(place)).take()
