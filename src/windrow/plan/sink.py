"""Where results go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sink:
    """A Spark format with its options."""

    format: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str | None:
        return dict(self.options).get("path")


def sink(format: str, **options: object) -> Sink:
    """Where a query's results go: a Spark format and its options.

    >>> sink("parquet", path="out/vwap").path
    'out/vwap'
    """
    return Sink(format, tuple((name, _text(value)) for name, value in options.items()))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
