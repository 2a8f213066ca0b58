"""Current answers on their way from a batch to the driver, beside what goes to the sinks of their queries."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.current.answers import Answers
from windrow.current.limits import Limits, read_limits
from windrow.current.shape import ADDED_UP, LATEST_ROWS, Shape
from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, Place
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.sink import Sink
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.sinks.answer_files import answer_home
from windrow.spark.sinks.covered import Coverage, shown_schema
from windrow.spark.sinks.outlets import RejectedOutlet
from windrow.spark.sinks.rejected import REJECTED_SCHEMA
from windrow.spark.sinks.results import spark_schema, typed_results

Batches = Iterator[pa.RecordBatch]
MOST_REJECTED = 500
REJECTED_SHAPE = Shape(LATEST_ROWS, ("stream", "cause", "time"))


@dataclass(frozen=True, slots=True)
class AnswerOutlet:
    """The rows of one query on their way to its current answer; of windows, no more than the newest are sent."""

    query: QueryPlan | ChangePlan
    schema: pa.Schema
    limits: Limits
    zone: str
    files: None = None

    @property
    def packed(self) -> str:
        return self.query.name

    def finish(self, rows: pa.Table) -> pa.Table:
        finished = finish_part(rows.cast(self.query.emitted), self.query, self.zone)
        ranked = isinstance(self.query, QueryPlan) and self.query.rankings  # by all rows of a window
        return finished if ranked else Shape.of(self.query).trimmed(finished, self.limits)

    def whole(self, parts: pa.Table) -> pa.Table:
        return finish_whole(parts, self.query, self.zone).cast(self.schema)


class Keeping:
    """The current answers of the queries over one stream: which rows a batch sends for them, and when they change."""

    def __init__(
        self,
        answers: Answers,
        queries: Sequence[QueryPlan | ChangePlan],
        sinks: Mapping[str, Sink],
        checkpoint: AnyPlace,
        covered: Coverage,
        rejected: Iterable[str] = (),
    ) -> None:
        """`rejected` are the streams whose rejected events come with the batch: the latest are kept like an answer."""
        self._answers, self._queries = answers, list(queries)
        self._outlets: dict[str, AnswerOutlet | RejectedOutlet] = {}
        self._rejected = [rejected_name(stream) for stream in rejected]
        for stream, name in zip(rejected, self._rejected):
            answers.declare(name, REJECTED_SHAPE, REJECTED_SCHEMA, Limits(rows=MOST_REJECTED), asked=False)
            self._outlets[name] = RejectedOutlet(stream, None)
        for query in queries:
            sink, shape = sinks[query.name], Shape.of(query)
            try:
                limits = read_limits(dict(sink.options))
            except SettingsError as error:
                raise SettingsError(f"sink {query.name!r}: {error}") from None
            schema = covered.schema(query)
            home = AnswerHome(answer_home(checkpoint, query)) if shape.kind == ADDED_UP else None
            columns = covered.shown(query) if isinstance(schema, str) else schema
            answers.declare(query.name, shape, columns, limits, asked=sink.keeps_answer, home=home)
            if not isinstance(schema, str):
                self._outlets[query.name] = AnswerOutlet(query, schema, limits, covered.zone)

    def outlets(self) -> dict[str, AnswerOutlet | RejectedOutlet]:
        """Those of queries whose answers are kept, and whose rows tasks can finish."""
        return {name: outlet for name, outlet in self._outlets.items() if self._answers.wants(name)}

    def left_to_spark(self) -> list[QueryPlan | ChangePlan]:
        """Queries whose answers are kept, and whose rows only Spark can finish."""
        return [q for q in self._queries if q.name not in self._outlets and self._answers.wants(q.name)]

    def take(self, name: str, rows: pa.Table, batch: int) -> None:
        """Put the rows of a batch aside, until it is committed."""
        self._answers.take(name, rows, batch)

    def take_from_spark(self, batch: DataFrame, query: QueryPlan | ChangePlan, number: int) -> None:
        """Have Spark finish the rows of a query, and put the newest aside."""
        rows = typed_results(batch, query)
        schema = shown_schema(query, batch.sparkSession)
        trim = _trimming(Shape.of(query), schema, self._answers.limits(query.name))
        self.take(query.name, rows.mapInArrow(trim, spark_schema(schema)).toArrow().cast(schema), number)

    def commit(self, batch: int, clock_us: int | None) -> None:
        """The batch is done: its answers are the current ones."""
        names = [*(query.name for query in self._queries), *self._rejected]
        self._answers.commit([name for name in names if self._answers.wants(name)], batch, clock_us)


def rejected_name(stream: str) -> str:
    """Under which name the rejected events of a stream are asked for."""
    return f"rejected {stream}"


def _trimming(shape: Shape, schema: pa.Schema, limits: Limits) -> Callable[[Batches], Batches]:
    def trim(batches: Batches) -> Batches:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            yield from shape.trimmed(pa.Table.from_batches(held), limits).cast(schema).to_batches()

    return trim


class AnswerHome:
    """A folder of a checkpoint that keeps what changes have added up to, after the newest batch and the one before."""

    def __init__(self, answer: Place) -> None:
        self._folder = answer.parent / f"{answer.name}-current"

    def before(self, batch: int) -> pa.Table | None:
        """The answer after the newest batch before this one, if it was kept."""
        newest = max((number for number in self._kept() if number < batch), default=None)
        if newest is None:
            return None
        return pa.ipc.open_stream(pa.BufferReader(self._place(newest).read())).read_all()

    def keep(self, answer: pa.Table, batch: int) -> None:
        """Keep the answer after `batch`."""
        for folder in (self._folder.parent.parent, self._folder.parent, self._folder):
            folder.make_folder()
        written = io.BytesIO()
        with pa.ipc.new_stream(written, answer.schema) as stream:
            stream.write_table(answer)
        self._place(batch).write(written.getvalue())
        kept = sorted(number for number in self._kept() if number < batch)
        for number in [*kept[:-1], *(number for number in self._kept() if number > batch)]:
            self._place(number).delete()

    def _kept(self) -> list[int]:
        names = (re.fullmatch(r"(\d{9})\.arrow", name) for name in self._folder.names())
        return [int(name[1]) for name in names if name is not None]

    def _place(self, batch: int) -> Place:
        return self._folder / f"{batch:09d}.arrow"
