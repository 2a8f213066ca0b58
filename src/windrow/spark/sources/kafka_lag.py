"""How far behind a topic a batch has left a stream, by partition: from what Spark's progress says of its sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def lag_of(sources: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Messages that were in each partition when the batch began, and are not read yet.

    >>> lag_of([{"description": "KafkaV2[Subscribe[tx]]", "endOffset": {"tx": {"0": 5, "1": 7}},
    ...          "latestOffset": {"tx": {"0": 9, "1": 7}}}])
    {'tx/0': 4, 'tx/1': 0}
    """
    found: dict[str, int] = {}
    for source in sources:
        if not str(source["description"]).startswith("Kafka"):
            continue
        ends, latest = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
        for topic, partitions in latest.items():
            for partition, offset in partitions.items():
                read = ends.get(topic, {}).get(partition, 0)
                found[f"{topic}/{partition}"] = max(0, int(offset) - int(read))
    return found


def ends_of(sources: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Mapping[str, int]]]:
    """Up to where a batch has read each source that is one of Kafka, in their order.

    >>> ends_of([{"description": "FileStreamSource[x]"}, {"description": "KafkaV2[..]", "endOffset": '{"tx":{"0":5}}'}])
    [{'tx': {'0': 5}}]
    """
    return [_offsets(each["endOffset"]) for each in sources if str(each["description"]).startswith("Kafka")]


def _offsets(said: Any) -> Mapping[str, Mapping[str, int]]:
    read = json.loads(said) if isinstance(said, str) else said
    return read if isinstance(read, dict) else {}
