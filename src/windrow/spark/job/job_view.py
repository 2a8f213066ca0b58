"""What may be read of a running job: what runs, how it does, its answers, and what its indexes hold."""

from __future__ import annotations

from threading import RLock
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.compile.figures import Figures
from windrow.current.answer import Answer
from windrow.current.answers import Answers
from windrow.current.subscription import Subscription
from windrow.current.widget import watch_answer
from windrow.errors import SettingsError
from windrow.places.place import Place
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.sink import Sink
from windrow.plan.stream_statistics import StreamStatistics
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.job.progress import Progress
from windrow.spark.job.running import Running
from windrow.spark.job.statistics import keep_statistics
from windrow.spark.job.watched import Watched
from windrow.spark.sources.kafka_broker import Offsets
from windrow.spark.sources.source import Topics


class JobView:
    """Reads a job, and changes nothing in it. Answers and indexes are those of the last committed batch."""

    def __init__(self, place: Place, running: Running, watched: Watched) -> None:
        self._place, self._running, self._watched = place, running, watched
        self._lock = RLock()
        self.indexes: JobIndexes | None = None
        """What is asked of the indexes of the job; whoever starts it gives it."""

    @property
    def checkpoint(self) -> str:
        """Where the job keeps how far it is."""
        return str(self._place)

    def batches(self) -> dict[str, list[dict[str, Any]]]:
        """What is noted of the last hundred batches of each stream, oldest first: number, start, seconds, events."""
        return self._watched.batches()

    def topics_read(self) -> list[tuple[Topics, Offsets]]:
        """The topics of Kafka that are read, and up to where the last finished batches have read them."""
        found: list[tuple[Topics, Offsets]] = []
        for stream, run in list(self._running.runs.items()):
            ends = self._watched.ends(stream)
            found += zip(run.topics, ends) if len(ends) == len(run.topics) else ()
        return found

    def progress(self) -> Progress:
        """How far each stream has come, and where its time goes."""
        return self._watched.progress()

    def measured(self) -> dict[str, Figures]:
        """What is known of the streams by now, for what is chosen by it."""
        return self._running.measured()

    def statistics(self) -> dict[str, StreamStatistics]:
        """What each stream is like: its rate, groups, widths, disorder. The checkpoint keeps it for the next start.

        Of several Spark queries that read a stream, the first that knows something of it tells.
        """
        found: dict[str, StreamStatistics] = {}
        for streams in self._running.statistics().values():
            found = {**streams, **found}
        return found

    def keep_statistics(self) -> None:
        """Note what is known of the streams in the checkpoint."""
        keep_statistics(self._place, self._running.statistics())

    @property
    def queries(self) -> list[str]:
        """The names of the queries that run."""
        return list(self._running.plans)

    @property
    def plans(self) -> dict[str, AnyQuery]:
        """The queries that run, as they were planned, by name."""
        return dict(self._running.plans)

    @property
    def sinks(self) -> dict[str, Sink]:
        """Where the rows of each query that runs go."""
        return dict(self._running.sinks)

    @property
    def runs(self) -> list[StagePlan]:
        """What runs over each stream, for all its queries together."""
        return [run.plan for run in self._running.runs.values()]

    @property
    def stopped(self) -> dict[str, str]:
        """The queries that have failed while the others went on, each with why."""
        return {name: why for figures in self.progress().values() for name, why in figures.stopped.items()}

    def lookup(self, index: str, /, **key: Any) -> pa.Table:
        """The events of one key in the window of an index, in order of time, as of the last committed batch.

        All columns of the key are named. What is read is what the job has published; the stream goes on meanwhile.
        """
        return self._indexed().named(index).lookup(**key)

    def scan(self, index: str, /, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given, in order; the last column may be a range, (low, high)."""
        return self._indexed().named(index).scan(**key)

    def aggregate(self, index: str, expression: str, /, **key: Any) -> Any:
        """One aggregate, such as "AVG(speed)", of the events that `scan` finds."""
        return self._indexed().aggregate(index, expression, key)

    def ask(self, text: str) -> pa.Table:
        """The answer of a SELECT over what an index holds; what WHERE says of its key is what is read."""
        return self._indexed().ask(text)

    def _indexed(self) -> JobIndexes:
        if self.indexes is None:
            raise SettingsError("this job has no indexes\nhint: session.index(...), or CREATE INDEX in a script")
        return self.indexes

    def state_at(self, query: str, horizon: str) -> StateAt[DataFrame]:
        """What a query with levels holds of the last `horizon`, such as "7 minutes", as of the last finished batch.

        It is read from the checkpoint, beside the stream, which goes on meanwhile.
        """
        with self._lock:
            if query not in self._running.plans:
                raise SettingsError(f"there is no query {query!r}\nhint: running are {', '.join(self._running.plans)}")
            asked = Horizon.of(self._running.plans[query], horizon)
            return self._running.runs[asked.query.run].state_at(asked)

    @property
    def answers(self) -> Answers:
        """The current answers that are kept, as of the last committed batch."""
        return self._running.planner.answers

    def answer(self, query: str, /, **keys: Any) -> Answer:
        """The current answer of a query, as of the last committed batch; with `keys`, the rows that have these values.

        It is kept for queries whose sink is `answers`, or has the option `keep="answer"`.
        """
        return self.answers.answer(query, keys)

    def watch(self, query: str) -> Any:
        """The current answer of a query as a table in a notebook, which changes as batches are committed."""
        return watch_answer(self.answers, query)

    def subscribe(self, query: str, since: int | None = None) -> Subscription:
        """What each batch brings of a query, one by one as it is committed: an iterator, which waits for the next.

        With `since`, the number of a batch, it begins with what came after that; else with the current answer.
        """
        return self.answers.subscribe(query, since)
