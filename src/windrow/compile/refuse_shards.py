"""Refuses a DISTRIBUTE BY that sends all events to a shard that there is not."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from sqlglot import exp

from windrow.errors import SettingsError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_expression
from windrow.plan.nodes.distributed import SHARD
from windrow.plan.nodes.stage import StagePlan

_ONE_ROW = pa.record_batch({"": pa.nulls(1)})


def refuse_shards(plan: StagePlan, shards: int) -> None:
    """Raises where what says to which shard events go is a constant, and out of the shards: all would be rejected.

    What depends on the event is seen when it comes; such events are counted, and go to the sink of rejected ones.
    """
    for stream, text in _written(plan):
        tree = parse_expression(text)
        if tree.find(exp.Column) is not None or tree.is_string:
            continue
        value = evaluate_text(text, _ONE_ROW)[0].as_py()
        if any(shard is None or not 0 <= shard < shards for shard in (value if isinstance(value, list) else [value])):
            known = "the only shard is 0" if shards == 1 else f"shards are 0 to {shards - 1}"
            raise SettingsError(
                f"DISTRIBUTE BY {text} sends no event of {stream!r} anywhere: {known}"
                f"\nhint: one of these, such as x % {shards}, or ALL; a new job may have more of them, shards=..."
            )


def _written(plan: StagePlan) -> Iterator[tuple[str, str]]:
    """For each stream that is distributed its name, and what says to which shards its events go."""
    for stage in plan.stages:
        for stream in stage.streams:
            for spread in stream.scans:
                names = [column.name for column in spread.scan.read]
                if spread.scan.by is not None and SHARD in names:
                    yield stream.stream, spread.scan.texts[names.index(SHARD)]
