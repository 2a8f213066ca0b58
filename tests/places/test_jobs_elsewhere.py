"""Jobs on S3 and on HDFS, killed and started again: all rows are there once, and answers are whole."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quick_spark import SHORT_LIVED
from windrow.places.place import Place, place_of

from .stores import BUCKET, s3_server

JARS = Path(sys.prefix) / "jars"
FILES, EACH = 12, 20
START = 1_700_000_000


def jars(kind: str) -> list[Path]:
    found = sorted((JARS / kind).glob("*.jar"))
    if not found:
        pytest.skip(
            f"there are no jars in {JARS / kind}: python scripts/fetch_jars.py fetches them where Maven is to be had"
        )
    return found


def hadoop(settings: dict[str, str]) -> dict[str, str]:
    return {f"spark.hadoop.{name}": value for name, value in settings.items()}


@contextmanager
def s3(tmp_path: Path) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """A bucket, Spark's settings for it, and those with jars for Spark itself."""
    found = ",".join(map(str, jars("s3a")))
    with s3_server() as settings:
        options = hadoop(settings) | {"spark.jars": found, "spark.hadoop.fs.s3a.connection.expect.continue": "false"}
        options["spark.hadoop.fs.s3a.optimized.copy.from.local.enabled"] = "false"  # moto's server answers 100, too
        yield f"s3a://{BUCKET}/job", settings, options


@contextmanager
def hdfs(tmp_path: Path) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """A folder of HDFS: a name node and a data node in a JVM of their own."""
    import pyspark

    found = [str(jar) for jar in jars("hdfs")]
    spark = str(Path(pyspark.__file__).parent / "jars" / "*")
    details, kept = tmp_path / "details.json", tmp_path / "conf.xml"
    command = [f"{os.environ.get('JAVA_HOME', '/usr')}/bin/java", "-Xmx400m", f"-Dtest.build.data={tmp_path / 'hdfs'}"]
    command += ["-cp", ":".join([*found, spark]), "org.apache.hadoop.test.MiniDFSClusterManager", "-format"]
    command += ["-datanodes", "1", "-nnport", "0", "-httpport", "0"]
    command += ["-writeDetails", str(details), "-writeConfig", str(kept)]
    with open(tmp_path / "hdfs.log", "wb") as log:
        cluster = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path)
    try:
        while not details.exists():
            assert cluster.poll() is None, (tmp_path / "hdfs.log").read_text()[-2000:]
            time.sleep(0.2)
        known = dict(re.findall(r"<name>([^<]*)</name><value>([^<]*)</value>", kept.read_text()))
        settings = {name: known[name] for name in ("fs.defaultFS", "dfs.namenode.http-address")}
        here = {"dfs.namenode.http-address": settings["dfs.namenode.http-address"]}
        yield f"{settings['fs.defaultFS']}/job", here, hadoop(here)
    finally:
        cluster.kill()
        cluster.wait()


def events(folder: Path) -> list[dict[str, Any]]:
    """Files of events in order; one in each is late beyond all, and rejected."""
    folder.mkdir()
    draw, all_events = random.Random(7), []
    for number in range(FILES):
        rows = [
            {"ts": START + number * 2 + draw.random() * 2, "k": draw.choice("abc"), "i": draw.randrange(100)}
            for _ in range(EACH)
        ]
        rows.sort(key=lambda row: row["ts"])
        all_events += rows
        lines = [json.dumps({**row, "ts": stamp(row["ts"])}) for row in rows]
        (folder / f"{number:03d}.json").write_text("\n".join(lines))
        os.utime(folder / f"{number:03d}.json", (START + number, START + number))
    return all_events


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(seconds))) + f".{int(seconds % 1 * 1e6):06d}Z"


def expected(rows: list[dict[str, Any]]) -> list[tuple[int, str, int, int]]:
    """Each window over exactly its events: its end, the key, how many, and their sum."""
    windows: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row in rows:
        first = int(row["ts"]) // 2 * 2 + 2
        for end in (first, first + 2):
            windows[end, row["k"]].append(row["i"])
    return sorted((end, key, len(found), sum(found)) for (end, key), found in windows.items())


def shown(place: Place) -> list[dict[str, Any]]:
    """The rows in the files that a reader of the folder finds."""
    rows = []
    for file in place.files_below():
        path = place.at(file)
        inner = path.path[len(place.path) :].strip("/")
        if any(part.startswith(("_", ".")) for part in inner.split("/")):
            continue
        if path.name.endswith(".parquet"):
            found = pq.read_table(pa.BufferReader(path.read())).to_pylist()
        else:
            found = [json.loads(line) for line in path.read().splitlines()]
        folder = dict(part.split("=") for part in inner.split("/")[:-1])
        rows += [{**row, **folder} for row in found]
    return rows


def seconds(instant: Any) -> int:
    from datetime import datetime

    when = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    return int(when.timestamp())


def killed_and_done(tmp_path: Path, kind: Any, kills: int) -> None:
    rows = events(tmp_path / "in")
    with kind(tmp_path) as (address, settings, options):
        given, place = asked(tmp_path, address, options), place_of(address, settings)
        draw = random.Random(kills)
        for _ in range(kills):
            killed(given, tmp_path, place, draw.randrange(1, FILES // 2))
        done(given, tmp_path)
        check_rows(place, rows)


def asked(tmp_path: Path, address: str, options: dict[str, str], **more: str) -> Path:
    """What the process of the job is to do, in a file."""
    given = tmp_path / "given.json"
    told = {"events": str(tmp_path / "in"), "place": address, "options": {**SHORT_LIVED, **options}, **more}
    given.write_text(json.dumps(told))
    return given


def killed(given: Path, tmp_path: Path, place: Place, batches: int) -> None:
    """Run the job, and kill it when so many batches more are committed."""
    commits = place / "checkpoint" / "ticks" / "spark" / "commits"
    until = len(commits.names()) + batches
    with running(given, tmp_path) as process:
        while process.poll() is None and len(commits.names()) < until:
            time.sleep(0.1)


def done(given: Path, tmp_path: Path) -> None:
    """Run the job to its end."""
    with running(given, tmp_path) as process:
        said = process.communicate()[0].decode()
        assert process.returncode == 0 and "worked off" in said, (tmp_path / "job.log").read_text()[-3000:]


def check_rows(place: Place, rows: list[dict[str, Any]]) -> None:
    """All sinks hold what they should: every window once, and the answer of the last one."""
    wanted = expected(rows)
    for name in ("plain", "rolled"):
        found = [(seconds(row["window_end"]), row["k"], row["n"], row["total"]) for row in shown(place / name)]
        assert sorted(found) == wanted, name
    last = [row[1:] for row in wanted if row[0] == wanted[-1][0]]
    assert sorted((row["k"], row["n"], row["total"]) for row in shown(place / "answer")) == last
    assert (place / "answer").names() == ["answer.parquet"]


@contextmanager
def running(given: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The job, in a group of processes of its own, which is killed at the end."""
    script = Path(__file__).with_name("job_elsewhere.py")
    with open(tmp_path / "job.log", "ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(script), str(given)], stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [s3, hdfs])
@pytest.mark.parametrize("kills", [1, 4])
def test_a_job_elsewhere_is_killed_and_loses_nothing(tmp_path: Path, kind: Any, kills: int):
    killed_and_done(tmp_path, kind, kills)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [s3, hdfs])
def test_a_killed_job_elsewhere_goes_on_with_more_shards(tmp_path: Path, kind: Any):
    """From a checkpoint there to another one there, by the command; no row is lost, and none is there twice."""
    rows = events(tmp_path / "in")
    with kind(tmp_path) as (address, settings, options):
        place = place_of(address, settings)
        killed(asked(tmp_path, address, options), tmp_path, place, 4)
        command = [sys.executable, "-c", "from windrow.cli.main import app; app()", "reshard", f"{address}/checkpoint"]
        command += ["--shards", "4", "--to", f"{address}/checkpoint4", "--master", "local[1]"]
        command += [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
        split = subprocess.run(command, check=False, capture_output=True, text=True)
        assert split.returncode == 0 and "4 shards of ticks" in split.stdout, split.stdout + split.stderr
        assert json.loads((place / "checkpoint4" / "windrow.json").read())["shards"] == 4
        done(asked(tmp_path, address, options, checkpoint="checkpoint4"), tmp_path)
        check_rows(place, rows)
