"""A place that cannot be had is refused before anything starts: the message has its name, the reason and a way out."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from windrow.errors import SettingsError
from windrow.places import remote_homes
from windrow.places.addresses import same_place
from windrow.places.object_home import ObjectHome
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.places.reach import check_reached
from windrow.spark.fs_settings import fs_settings
from windrow.spark.job.checkpoint import kept_in
from windrow.spark.job.hold import Hold

from .stores import BUCKET, KEYS, new_folder, s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    with s3_server() as known:
        yield known


def test_a_bucket_that_is_not_there(s3: dict[str, str]):
    place = place_of("s3a://nobody-has-this/checkpoint", s3)
    for ask in (lambda: kept_in(place, 2), Hold(place).take, lambda: check_reached(place, "the checkpoint")):
        with pytest.raises(
            SettingsError,
            match=r"the checkpoint s3a://nobody-has-this/checkpoint cannot be written: .*bucket.*fs\.s3a\.access\.key",
        ):
            ask()


def test_no_credentials(s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    bare = {name: value for name, value in s3.items() if name not in KEYS}
    with pytest.raises(
        SettingsError, match=rf"s3a://{BUCKET}/x cannot be written: unable to locate credentials; .*fs\.s3a"
    ):
        check_reached(place_of(f"s3a://{BUCKET}/x", bare), "the checkpoint")


def test_a_machine_that_does_not_answer():
    pytest.importorskip("requests")
    pytest.importorskip("fsspec")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = place_of("hdfs://127.0.0.1:1/x", {"dfs.namenode.http-address": f"127.0.0.1:{port}"})
    with pytest.raises(
        SettingsError,
        match=r"the checkpoint hdfs://127.0.0.1:1/x cannot be written: 127.0.0.1:\d+: connection refused; see that it",
    ):
        Hold(place).take()


def test_a_place_that_may_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda *asked, **named: False)  # root may write everywhere
    with pytest.raises(
        SettingsError, match=r"the folder of a sink .*out cannot be written: permission denied; name another"
    ):
        check_reached(place_of(tmp_path / "in" / "out"), "the folder of a sink")
    assert list(tmp_path.iterdir()) == [], "nothing was made"
    place = new_folder("memory", tmp_path)
    monkeypatch.setattr(ObjectHome, "write", lambda *asked: (_ for _ in ()).throw(PermissionError("Access Denied")))
    with pytest.raises(SettingsError, match=r"the checkpoint memory://.* cannot be written: access denied"):
        kept_in(place, 2)


def test_what_no_package_reaches_is_named_with_the_one_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote_homes, "find_spec", lambda name: None)
    for address, extra in (
        ("s3://b/x", "s3"),
        ("gs://b/x", "gcs"),
        ("abfss://c@a.dfs/x", "azure"),
        ("hdfs://n/x", "hdfs"),
    ):
        with pytest.raises(SettingsError, match=rf"{address} is reached by .*\nhint: pip install 'windrow\[{extra}\]'"):
            place_of(address)
    with pytest.raises(SettingsError, match=r"ftp:// is no place that Windrow knows\nhint: file, hdfs, s3a"):
        place_of("ftp://there/x")


@pytest.mark.parametrize(
    ("address", "said"),
    [("s3a:///x", "names no bucket"), ("hdfs:///x", "names no name node"), ("abfss://container/x", "names no account")],
)
def test_half_an_address_is_named(address: str, said: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote_homes, "find_spec", lambda name: name)
    with pytest.raises(SettingsError, match=f"{address} {said}"):
        place_of(address)


def test_settings_of_spark_become_options_of_the_packages():
    s3 = remote_homes._s3(
        "mine",
        {
            "fs.s3a.access.key": "a",
            "fs.s3a.bucket.mine.access.key": "b",
            "fs.s3a.secret.key": "c",
            "fs.s3a.endpoint": "minio:9000",
            "fs.s3a.connection.ssl.enabled": "false",
        },
    )
    assert (s3["key"], s3["secret"], s3["endpoint_url"]) == ("b", "c", "http://minio:9000")
    assert remote_homes._google({"fs.gs.auth.service.account.json.keyfile": "key.json"})["token"] == "key.json"
    azure = remote_homes._azure("acc.dfs.core.windows.net", {"fs.azure.account.key.acc.dfs.core.windows.net": "k"})
    assert (azure["account_name"], azure["account_key"]) == ("acc", "k")
    pytest.importorskip("fsspec")
    several = {
        "dfs.ha.namenodes.both": "a,b",
        "dfs.namenode.http-address.both.a": "one:9870",
        "dfs.namenode.http-address.both.b": "two:9871",
    }
    assert remote_homes._hdfs("both", several).nodes == (("one", 9870), ("two", 9871))
    assert remote_homes._hdfs("node:8020", {}).nodes == (("node", 9870),)


def test_commands_without_spark_read_its_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.hadoop.fs.s3a.endpoint   http://here\nspark.hadoop.fs.s3a.secret.key=x=y\nspark.master local\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    told = settings_outside_spark({"spark.hadoop.fs.s3a.endpoint": "http://there"})
    assert told == {"fs.s3a.endpoint": "http://there", "fs.s3a.secret.key": "x=y"}


def test_what_a_server_keeps_to_itself_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Spark Connect tells settings, and stars in place of secrets."""
    (tmp_path / "spark-defaults.conf").write_text("spark.hadoop.fs.s3a.secret.key mine\nspark.hadoop.fs.s3a.endpoint x")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    told = {"spark.hadoop.fs.s3a.endpoint": "http://there", "spark.hadoop.fs.s3a.secret.key": "*********(redacted)"}
    session: Any = SimpleNamespace(conf=SimpleNamespace(getAll=told | {"spark.sql.x": "1"}))
    assert fs_settings(session) == {"fs.s3a.endpoint": "http://there", "fs.s3a.secret.key": "mine"}


def test_one_place_is_one_however_it_is_written():
    assert same_place("s3://b/out", "s3a://b/out/") and not same_place("s3a://b/out", "gs://b/out")
