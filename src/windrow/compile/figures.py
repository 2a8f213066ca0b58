"""What plans are made by: events in a second, groups, widths, shares, as they were measured, or else assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from windrow.plan.nodes.spaces import Space
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.stream_statistics import StreamStatistics

RATE, GROUPS = 1000.0, 100.0
"""So many events a second, and groups, are assumed."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of a stream: events in a second of its own time, and groups; of `streams`, all that was measured.

    `measured` says that the rate was, `counted` that the groups were.

    >>> print(Figures())
    1,000 events a second and 100 groups are assumed
    """

    rate: float = RATE
    groups: float = GROUPS
    measured: bool = False
    counted: bool = False
    groups_a_pane: float | None = None
    streams: tuple[tuple[str, StreamStatistics], ...] = ()

    def of(self, space: Space) -> Figures:
        """The same of the rows that a space counts, by its keys."""
        known = dict(self.streams).get(space.stream)
        if known is None:
            return Figures() if self.streams else self
        own = known.groupings.get(space.grouping)
        rate, measured = self.rate_of(space.stream)
        if own is None:
            groups = GROUPS if space.keys else 1.0
            return replace(self, rate=rate, groups=groups, measured=measured, counted=False, groups_a_pane=None)
        rate *= own.share if measured else 1.0
        return Figures(rate, own.groups, measured, True, own.groups_a_pane, self.streams)

    def rate_of(self, stream: str) -> tuple[float, bool]:
        """Events in a second of one stream, and whether that was measured."""
        known = dict(self.streams).get(stream)
        if known is None or known.rate is None:
            return (RATE, False) if self.streams else (self.rate, self.measured)
        return known.rate, True

    def share(self, stream: str, text: str) -> float | None:
        """Of which share of the events a value is not NULL, or a condition is true, if that was measured."""
        known = dict(self.streams).get(stream)
        return None if known is None else known.shares.get(text)

    def width(self, stream: str, text: str | None) -> float | None:
        """The bytes of a value, if they were measured."""
        known = dict(self.streams).get(stream)
        return None if known is None or text is None else known.widths.get(text)

    def __str__(self) -> str:
        rate = f"{self.rate:,.4g}" if self.rate < 1000 else f"{self.rate:,.0f}"
        rate, groups = f"{rate} events a second", f"{self.groups:,.0f} groups"
        if self.measured != self.counted:
            first, second = (rate, groups) if self.measured else (groups, rate)
            return f"{first} are measured, {second} assumed"
        return f"{rate} and {groups} are {'measured' if self.measured else 'assumed'}"


def figures_of(streams: Mapping[str, StreamStatistics]) -> Figures:
    """What plans are made by."""
    known = {name: own for name, own in streams.items() if own.events}
    if not known:
        return Figures()
    rates = [own.rate for own in known.values() if own.rate is not None]
    groups = [each.groups for own in known.values() for each in own.groupings.values()]
    rate, most = sum(rates) if rates else RATE, max(groups, default=1.0)
    return Figures(rate, most, bool(rates), bool(groups), streams=tuple(sorted(known.items())))


def figures_for(query: AnyQuery, figures: Mapping[str, Figures]) -> Figures:
    """What is known of the streams that a query reads: by its own run, or else by another one that reads them."""
    own = figures.get(query.run, Figures())
    known = dict(own.streams)
    for other in figures.values() if figures else ():
        known = {name: found for name, found in other.streams if name in query.sources} | known
    return figures_of(known) if known else own
