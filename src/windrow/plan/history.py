"""Files that have the events of a stream before an instant: they are read first, and then the stream itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from windrow.errors import SettingsError
from windrow.plan.instants import read_instant, shown_instant

HISTORIES = ("parquet", "orc", "avro", "csv", "json")
"""Formats that a history may have: Spark's sources of files, which all keep the same notes in a checkpoint."""


@dataclass(frozen=True, slots=True)
class History:
    """Files in a format of Spark's, with its options, and the first instant whose events the stream itself gives."""

    format: str
    options: tuple[tuple[str, str], ...]
    until_us: int

    def __post_init__(self) -> None:
        if self.format not in HISTORIES:
            raise SettingsError(
                f"a history is read from files, and not from {self.format!r}\nhint: {', '.join(HISTORIES)}"
            )

    def before(self, lateness_us: int) -> str:
        """The instant from which on a broker may have got events that the stream is to give."""
        return shown_instant(self.until_us - lateness_us).isoformat()


def history(format: str, until: datetime | str, **options: object) -> History:
    """What a stream is read after: files that have all its events before `until`.

    >>> history("parquet", "1970-01-01 00:00:02", path="lake/tx")
    History(format='parquet', options=(('path', 'lake/tx'),), until_us=2000000)
    """
    return History(format.lower(), tuple((name, _text(value)) for name, value in options.items()), read_instant(until))


def starting_before(options: Mapping[str, str], after: History | None, lateness_us: int) -> dict[str, str]:
    """The options of a stream of Kafka that is read after a history: it begins where that ends, unless told otherwise.

    >>> starting_before({"topic": "tx"}, history("parquet", "2026-11-16 00:00", path="x"), 5_000_000)
    {'topic': 'tx', 'starting': '2026-11-15T23:59:55+00:00'}
    """
    if after is None or any(name.lower().startswith("starting") for name in options):
        return dict(options)
    return {**options, "starting": after.before(lateness_us)}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
