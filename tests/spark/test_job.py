"""A job and its checkpoint, with stand-ins for Spark's queries: who holds it, what is left, who keeps rejected events."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import windrow
from windrow.current.answers import Answers
from windrow.errors import ChangeError, JobError, SettingsError, StateError, StoppedQueriesError
from windrow.places.place import place_of
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Scan
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.timing import Timing
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.hold import Hold, check_free
from windrow.spark.job.job import Job
from windrow.spark.job.keepers import choose_keepers, read_keepers, write_keepers
from windrow.spark.job.recovery import Recovery
from windrow.spark.job.runs import Runs
from windrow.spark.job.sink_writers import SinkWriters
from windrow.spark.job.spark_query import reason
from windrow.spark.sinks.answer_files import AnswerSink
from windrow.spark.sources.heartbeat import keep_timing
from windrow.spark.sources.missing_files import count_missing


class FakeQuery:
    """A Spark query that runs until it is stopped, or has nothing to do."""

    def __init__(self, folder: Path | None = None) -> None:
        self.isActive, self._folder = True, folder
        self.status = {"isTriggerActive": False, "isDataAvailable": False, "message": "Waiting for data to arrive"}
        self.lastProgress, self.recentProgress = None, []
        self.error: str | None = None
        self.mark: int | None = None

    def die(self, error: str) -> None:
        self.isActive, self.error = False, error

    def exception(self) -> StreamingQueryException | None:
        return None if self.error is None else StreamingQueryException(self.error)

    def awaitTermination(self, timeout: float) -> None:
        return None

    def stop(self) -> None:
        assert self._folder is None or self._folder.exists(), "stopped before its folder goes"
        self.isActive = False


class FakeRun:
    rolls = in_history = False

    def __init__(self, stream: str, keeps: bool) -> None:
        self.plan, self.keeps, self.started = StagePlan((), run=stream), keeps, []
        self.queries: Sequence[Any] = ()
        self.failing: set[str] = set()

    def start(self, trigger: Any, progress: Any) -> FakeQuery:
        if self.plan.run == "wrong":
            raise RuntimeError("it does not start")
        self.started.append(FakeQuery())
        return self.started[-1]

    def flush(self) -> None:
        pass

    def mark(self, query: FakeQuery) -> int | None:
        return query.mark

    def fails(self) -> bool:
        return any(query.name in self.failing for query in self.queries)


class FakePlanner:
    """Makes runs that know whether they keep rejected events, and remembers all of them."""

    answers = Answers()

    def __init__(self) -> None:
        self.keepers: dict[str, str] = {}
        self.runs: list[FakeRun] = []
        self.failing: set[str] = set()

    def begin_anew(self) -> None:
        pass

    def share_out(self, queries: Sequence[Any]) -> list[str]:
        before, self.keepers = self.keepers, choose_keepers(queries, self.keepers)
        return [keeper for stream, keeper in self.keepers.items() if before.get(stream) != keeper]

    def run_of(self, queries: Sequence[Any], sinks: Any, figures: Any) -> FakeRun:
        self.runs.append(FakeRun(queries[0].run, queries[0].run in self.keepers.values()))
        self.runs[-1].queries, self.runs[-1].failing = queries, self.failing
        return self.runs[-1]

    def plan(self, name: str, text: str, beside: Any, choose: Any) -> Any:
        return over(name, *text.split())

    def forget(self, name: str) -> None:
        pass

    def keeping(self) -> list[str]:
        """The Spark queries that run and keep rejected events."""
        return [run.plan.run for run in self.runs for query in run.started if query.isActive and run.keeps]


def over(name: str, *streams: str) -> Any:
    """A query over changes of some streams."""
    return ChangePlan(name, streams, Scan(streams[0], (), 1), "CHANGES")


def job_of(folder: Path, planner: FakePlanner, *queries: Any, recovery: Recovery | None = None) -> Job:
    hold = Hold(str(folder))
    hold.take()
    plans = {query.name: query for query in queries}
    try:
        return Job(plans, dict.fromkeys(plans, windrow.sink("noop")), None, planner, str(folder), hold, recovery)
    except BaseException:
        hold.release()
        raise


def test_a_job_holds_its_checkpoint_until_it_has_ended(tmp_path: Path):
    planner = FakePlanner()
    job = job_of(tmp_path, planner, over("q", "ticks"))
    with pytest.raises(SettingsError, match="a job runs on the checkpoint"):
        check_free(str(tmp_path))
    assert not job.wait(0.01)
    planner.runs[0].started[0].isActive = False
    assert job.wait(0.01)
    check_free(str(tmp_path))
    other = Hold(str(tmp_path))
    other.take()
    with pytest.raises(SettingsError, match="a job runs on the checkpoint"):
        job.flush()
    other.release()
    job.flush()  # runs once more
    with pytest.raises(SettingsError, match="a job runs on the checkpoint"):
        other.take()
    job.stop()
    check_free(str(tmp_path))


def test_the_next_job_need_not_wait_until_somebody_sees_that_one_has_ended(tmp_path: Path):
    planner = FakePlanner()
    first = job_of(tmp_path, planner, over("q", "ticks"))
    with pytest.raises(SettingsError, match="a job runs on the checkpoint"):
        job_of(tmp_path, planner, over("q", "ticks"))
    planner.runs[0].started[0].isActive = False
    job_of(tmp_path, planner, over("q", "ticks")).stop()
    assert not first.is_active


def test_where_one_stream_does_not_start_none_runs(tmp_path: Path):
    planner = FakePlanner()
    with pytest.raises(RuntimeError):
        job_of(tmp_path, planner, over("q", "ticks"), over("p", "wrong"))
    assert [query.isActive for query in planner.runs[0].started] == [False]


@pytest.mark.parametrize("end", ["stopped", "forgotten"])
def test_a_temporary_checkpoint_goes_with_its_job(tmp_path: Path, end: str):
    folder = tmp_path / "temporary"
    job = job_of(folder, FakePlanner(), over("q", "ticks"))
    query = job._running.queries["ticks"] = FakeQuery(folder)
    job.remove_at_end()
    (folder / "ticks").mkdir()
    if end == "stopped":
        job.stop()
        with pytest.raises(ChangeError, match="its temporary checkpoint is gone"):
            job.flush()
    else:
        job._hold.lives = lambda: True
        job._hold.release()
        del job
        gc.collect()
    assert not query.isActive and not folder.exists()


def test_a_checkpoint_of_the_users_stays(tmp_path: Path):
    job_of(tmp_path / "own", FakePlanner(), over("q", "ticks")).stop()
    assert (tmp_path / "own").exists()


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


LOST = "Job aborted: ExecutorLostFailure (executor 1 exited caused by one of the running tasks)"


def running(job: Job, stream: str = "ticks") -> FakeQuery:
    return job._running.queries[stream]  # type: ignore[return-value]


def test_what_passes_is_started_again_after_pauses_that_grow_and_given_up_in_the_end(tmp_path: Path):
    clock = Clock()
    job = job_of(tmp_path, FakePlanner(), over("q", "ticks"), recovery=Recovery(limit=3, now=clock))
    for pause in (1, 2, 4):
        died = running(job)
        died.die(LOST)
        assert job.is_active and running(job) is died, "it waits"
        clock.seconds += pause - 0.1
        assert job.is_active and running(job) is died
        clock.seconds += 0.1
        assert job.is_active and running(job) is not died and running(job).isActive
    running(job).die(LOST)
    with pytest.raises(JobError, match=r"ExecutorLostFailure.*started again 3 times, with no batch done since"):
        job.wait(0.01)
    assert job.progress()["ticks"].restarts == 3
    job.stop()


def test_a_batch_that_is_done_shows_that_the_trouble_has_passed(tmp_path: Path):
    clock = Clock()
    job = job_of(tmp_path, FakePlanner(), over("q", "ticks"), recovery=Recovery(limit=1, now=clock))
    for _ in range(3):
        running(job).lastProgress = {"batchId": 1}
        running(job).die(LOST)
        assert job.is_active
        clock.seconds += 1.0
        assert job.is_active and running(job).isActive
    job.stop()


def test_a_batch_in_which_no_task_ends_is_done_again(tmp_path: Path):
    clock = Clock()
    job = job_of(tmp_path, FakePlanner(), over("q", "ticks"), recovery=Recovery(task_timeout="9 seconds", now=clock))
    hung = running(job)
    hung.mark = 1
    assert job.is_active
    clock.seconds += 8.5
    assert job.is_active and hung.isActive
    clock.seconds += 0.5
    assert job.is_active and not hung.isActive and job.progress()["ticks"].restarts == 1
    clock.seconds += 1.0
    assert job.is_active and running(job).isActive
    job.stop()


@pytest.mark.parametrize("error", ["Encountered error while reading file file:///x.parquet. Details", "StateError"])
def test_what_will_not_pass_stops_at_once(tmp_path: Path, error: str):
    planner = FakePlanner()
    planner.failing = {"q", "p"}
    job = job_of(tmp_path, planner, over("q", "ticks"), over("p", "ticks"))
    running(job).die(error)
    with pytest.raises(JobError):
        job.wait(0.01)
    assert not job.is_active and not job.stopped
    job.stop()


def test_the_query_that_fails_by_itself_stops_and_stays_stopped_until_it_is_brought_back(tmp_path: Path):
    planner = FakePlanner()
    job = job_of(tmp_path, planner, *(over(name, "ticks") for name in "abc"))
    planner.failing = {"b"}
    running(job).die("PythonException: LookupError: not in the book")
    assert job.is_active and job.queries == ["a", "c"] and [*job.stopped] == ["b"]
    assert QueryEdits.read(str(tmp_path)).stopped == job.stopped
    job.resume("b")
    assert job.queries == ["a", "c", "b"] and not job.stopped and not QueryEdits.read(str(tmp_path)).stopped
    running(job).die("PythonException: LookupError: not in the book")
    with pytest.raises(StoppedQueriesError, match="query 'b' has stopped: PythonException: LookupError"):
        assert job.is_active
        job.stop()


def test_where_the_batch_does_well_when_it_is_tried_nobody_is_to_blame(tmp_path: Path):
    clock = Clock()
    job = job_of(tmp_path, FakePlanner(), over("a", "ticks"), over("b", "ticks"), recovery=Recovery(now=clock))
    running(job).die("PythonException: OSError: the network is away")
    assert job.is_active and job.queries == ["a", "b"] and job.progress()["ticks"].restarts == 1
    job.stop()


def test_one_spark_query_keeps_what_a_stream_rejects():
    joined, windowed, alone = over("j", "a", "b"), over("w", "a"), over("c", "c", "b")
    assert choose_keepers([joined, windowed, alone], {}) == {"a": "a", "b": "changes-a+b", "c": "changes-b+c"}
    kept = {"a": "changes-a+b", "b": "changes-b+c"}
    assert choose_keepers([joined, windowed, alone], kept) == kept | {"c": "changes-b+c"}, "as it was, while it runs"
    assert choose_keepers([joined], kept) == {"a": "changes-a+b", "b": "changes-a+b"}


def test_a_keeper_that_is_dropped_has_an_heir(tmp_path: Path):
    planner = FakePlanner()
    job = job_of(tmp_path, planner, over("w", "a"), over("j", "a", "b"))
    assert planner.keepers == {"a": "a", "b": "changes-a+b"}
    job.drop("w")
    assert planner.keepers == {"a": "changes-a+b", "b": "changes-a+b"} and planner.keeping() == ["changes-a+b"]
    job.add("again", "a")
    assert planner.keepers["a"] == "changes-a+b" and planner.keeping() == ["changes-a+b"]
    with pytest.raises(ChangeError, match=r"it does not start\nthe job goes on as it was"):
        job.add("no", "wrong")
    assert sorted(job.queries) == ["again", "j"] and planner.keeping() == ["changes-a+b"]
    job.stop()


def test_keepers_are_what_they_were_after_a_restart(tmp_path: Path):
    assert read_keepers(str(tmp_path)) == {}
    write_keepers(str(tmp_path), {"a": "changes-a+b"})
    assert read_keepers(str(tmp_path)) == {"a": "changes-a+b"}
    (tmp_path / "rejected.json").write_text('{"a": 1}')
    with pytest.raises(StateError, match=r"rejected\.json is damaged"):
        read_keepers(str(tmp_path))


def test_no_query_has_the_name_of_rejected_events(tmp_path: Path):
    runs = Runs(None, str(tmp_path), SimpleNamespace(job="x"), {}, None, {"a": windrow.sink("memory")}, False, {})  # type: ignore[arg-type]
    runs.share_out([over("rejected_b", "a")])
    with pytest.raises(SettingsError, match="no query can be called 'rejected_a'"):
        runs.share_out([over("rejected_a", "a")])


def test_two_views_that_differ_in_case_only_are_refused(tmp_path: Path):
    writers = SinkWriters(None, place_of(tmp_path), "x", {})  # type: ignore[arg-type]
    writers._writer("sums", windrow.sink("memory"))
    writers._writer("Sums", windrow.sink("noop"))
    with pytest.raises(SettingsError, match="'sums' and 'SUMS' would be one view"):
        writers._writer("SUMS", windrow.sink("memory"))


@pytest.mark.parametrize("content", [b"", b"evnt", b"\xff\xfe"])
def test_a_damaged_note_of_how_a_stream_is_timed_is_named(tmp_path: Path, content: bytes):
    (tmp_path / "timing").write_bytes(content)
    with pytest.raises(StateError, match=r"timing is damaged: .*\nhint: it holds one of 'event', 'idle', 'arrival'"):
        keep_timing(str(tmp_path), SimpleNamespace(stream="ticks", timing=Timing.EVENT))  # type: ignore[arg-type]


def test_a_damaged_answer_is_named_before_anything_is_written(tmp_path: Path):
    home = tmp_path / "answers" / "1" / "2"
    sink = AnswerSink(windrow.sink("parquet", path=tmp_path / "out", holds="answer"), str(home), 2)
    (home / "000000000.parquet").write_bytes(b"PAR1")
    (home / "0 is another file").touch()
    with pytest.raises(StateError, match=r"000000000\.parquet, the answer as it was kept, is damaged: bring it back"):
        sink.write(None, 1)  # type: ignore[arg-type]
    assert {oct(os.stat(folder).st_mode)[-3:] for folder in (home, home.parent, home.parent.parent)} == {"700"}


class Seq(list):
    """A list as Scala has it."""

    def size(self) -> int:
        return len(self)

    def apply(self, number: int) -> Any:
        return self[number]


def of_kind(kind: str, **methods: Any) -> SimpleNamespace:
    """A thing of the JVM whose methods give what they are given."""
    own = {name: (lambda value=value: value) for name, value in methods.items()}
    return SimpleNamespace(getClass=lambda: SimpleNamespace(getSimpleName=lambda: kind), **own)


def leaf(
    names: list[str], found: list[str], *, streaming: bool = True, index: str = "InMemoryFileIndex", **options: str
):
    uris = Seq(SimpleNamespace(toUri=lambda uri=uri: SimpleNamespace(toString=lambda: uri)) for uri in names)
    chosen = SimpleNamespace(
        get=lambda name: SimpleNamespace(isDefined=lambda: name in options, get=lambda: options[name])
    )
    location = of_kind(index, rootPaths=uris, inputFiles=found)
    relation = of_kind("HadoopFsRelation", location=location, options=chosen)
    return of_kind("LogicalRelation", isStreaming=streaming, relation=relation)


def batch_over(*leaves: Any) -> Any:
    """A Spark query in the middle of a batch that reads `leaves`."""
    execution = of_kind("IncrementalExecution", logical=of_kind("Project", collectLeaves=Seq(leaves)))
    return SimpleNamespace(_jsq=SimpleNamespace(streamingQuery=lambda: of_kind("", lastExecution=execution)))


IN = "file:/in%20put/50%25"


def test_what_was_noted_and_not_found_is_missing():
    whole = leaf([f"{IN}/1", f"{IN}/2"], ["file:///in%20put/50%25/2", "file:///in%20put/50%25/1"])
    lacking = leaf([f"{IN}/1", f"{IN}/2", f"{IN}/3"], ["file:///in%20put/50%25/2"])
    assert count_missing(batch_over(whole, of_kind("LocalRelation")), None) == 0
    with pytest.raises(
        JobError, match=r"the file /in put/50%/1 and 1 more are gone since Spark noted what to read: bring"
    ):
        count_missing(batch_over(whole, lacking), None)
    assert count_missing(batch_over(lacking, lacking, whole), "true") == 4
    chosen = leaf([f"{IN}/1"], [], ignoremissingfiles="true")
    assert count_missing(batch_over(chosen), "false") == 1
    with pytest.raises(JobError, match="is gone"):
        count_missing(batch_over(leaf([f"{IN}/1"], [], ignoremissingfiles="false")), "true")


def test_tables_and_other_sources_have_no_names_to_miss():
    table = leaf(["file:/table"], ["file:///table/1", "file:///table/2"], streaming=False)
    lake = leaf(["file:/lake"], [], index="TahoeBatchFileIndex")
    database = of_kind("LogicalRelation", isStreaming=True, relation=of_kind("JDBCRelation"))
    assert count_missing(batch_over(table, lake, database), None) == 0


def test_a_file_that_goes_while_it_is_read_is_told_like_one_that_went_before():
    text = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file:///in/a%20b.csv. File does not"
    told = reason(RuntimeError(text))  # type: ignore[arg-type]
    assert told.startswith("the file /in/a b.csv is gone since Spark noted what to read")
