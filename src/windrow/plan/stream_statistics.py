"""What a stream is like, as it was measured: the stream statistics directory of Salehi et al. 2010, Figure 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GroupingStatistics:
    """Of one set of rows and keys: the groups that its windows hold, those of one pane, and which share of events."""

    groups: float
    groups_a_pane: float
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class StreamStatistics:
    """What was measured of one stream.

    `rate` is events in a second of the stream's own time; None as long as all that came is of one second. `groupings`
    are by which rows are counted by what; `widths`, `distinct` and `shares` by expression: the bytes of a value, how
    many values were different in samples of each batch, and of which share of the events it is not NULL, or true.
    `disorder_us` is how far behind a later event of its batch one was, at most, and `late` the share of events that no
    window took; `delay` is how long events waited for their results, in seconds.
    """

    events: int = 0
    rate: float | None = None
    groupings: Mapping[str, GroupingStatistics] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)
    distinct: Mapping[str, int] = field(default_factory=dict)
    disorder_us: int = 0
    late: float = 0.0
    delay: Mapping[str, float] | None = None
    shares: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, such as JSON takes."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> StreamStatistics:
        """What `to_dict` has given."""
        groupings = {name: GroupingStatistics(**each) for name, each in plain["groupings"].items()}
        return cls(**{**plain, "groupings": groupings})

    def over(self, before: StreamStatistics) -> StreamStatistics:
        """These, and what was known `before` of all that has not been measured since."""
        if not self.events:
            return before
        return StreamStatistics(
            self.events,
            before.rate if self.rate is None else self.rate,
            {**before.groupings, **self.groupings},
            {**before.widths, **self.widths},
            {**before.distinct, **self.distinct},
            self.disorder_us,
            self.late,
            self.delay or before.delay,
            {**before.shares, **self.shares},
        )

    def lines(self) -> list[str]:
        """The same for people.

        >>> by_symbol = {"ticks by symbol": GroupingStatistics(40, 11.2, 0.5)}
        >>> for line in StreamStatistics(9000, 50.0, by_symbol, {"price": 8.0}, {"price": 700}, 20_000).lines():
        ...     print(line)
        50 events a second, up to 0.02 s out of order, 0 % late
        ticks by symbol: 40 groups, 11.2 in a pane, of 50 % of the events
        price: 8 bytes, about 700 values in samples
        """
        if not self.events:
            return []
        delay = "" if self.delay is None else f", delay {self.delay['p50']} s (p99 {self.delay['p99']} s)"
        behind = f"up to {self.disorder_us / 1e6:g} s out of order, {100 * self.late:.2g} % late{delay}"
        often = "" if self.rate is None else f"{self.rate:,.4g} events a second"
        lines = [f"{often or f'{self.events:,} events, too close together for a rate'}, {behind}"]
        for name, own in self.groupings.items():
            groups = f"{own.groups:,.0f} groups, {own.groups_a_pane:,.4g} in a pane"
            lines.append(f"{name}: {groups}, of {100 * own.share:.3g} % of the events")
        for name, width in self.widths.items():
            lines.append(f"{name}: {width:,.4g} bytes, about {self.distinct.get(name, 0):,} values in samples")
        return lines
