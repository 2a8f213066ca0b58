"""What the demo shows: prices with their traces, who moves, the market, alerts, and how the job is doing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from windrow.cli.demos.ticks.answers import Answers
from windrow.cli.figures import Figures, rate

SHOWN = 9
BARS = "▁▂▃▄▅▆▇█"


def screen(answers: Answers, figures: Figures, notes: Sequence[str]) -> RenderableType:
    """All of it, with `notes` below; where there is room, a figure of each query follows."""
    right = Group(
        _ranked("moved most", "1 min", answers.movers, "+.2f", "%"),
        _ranked("volume", "times", answers.surges, ".2f", "x"),
    )
    side = Table.grid(padding=(0, 4, 0, 0))
    side.add_row(_prices(answers), right)
    return Group(
        Text.assemble(
            ("windrow demo", "bold"),
            f"   {len(figures['rows'])} queries, windows that end at {_clock(answers.window_end)}",
        ),
        Text(),
        side,
        Text(),
        *(
            Text(line, no_wrap=True, overflow="ellipsis")
            for line in (market_line(answers), sectors_line(answers), turns_line(answers), alerts_line(answers))
        ),
        Text(f"{delay_line(figures)}, from a tick to all its answers", style="bold"),
        Text(progress_line(figures), style="dim"),
        *(Text(note, style="dim") for note in notes),
        QueriesBelow(figures),
    )


def plain_line(answers: Answers, figures: Figures) -> str:
    """The same in a line, for a log."""
    prices = ", ".join(f"{symbol} {trace[-1]:.2f}" for symbol, trace in shown(answers)[:3])
    movers = ", ".join(f"{symbol} {percent:+.2f}%" for symbol, percent in answers.movers[:3])
    clock = _clock(answers.window_end)
    job = f"{progress_line(figures)}  {delay_line(figures)}"
    return f"{clock}  VWAP {prices}  movers {movers}  {market_line(answers)}  {job}"


def shown(answers: Answers) -> Sequence[tuple[str, Sequence[float]]]:
    """A few symbols, always the same ones: the eye follows a row that stays where it is."""
    symbols = sorted(answers.vwap)
    step = max(1, len(symbols) // SHOWN)
    return [(symbol, answers.vwap[symbol]) for symbol in symbols[::step][:SHOWN]]


def _prices(answers: Answers) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    table.add_column("VWAP 1 min", justify="right")
    table.add_column("")
    table.add_column("low - high 5 min", justify="right")
    table.add_column("stddev", justify="right")
    for symbol, trace in shown(answers):
        rises = trace[-1] - trace[-2] if len(trace) > 1 else 0.0
        style = "green" if rises > 0 else "red" if rises < 0 else ""
        swing: Mapping[str, float] = answers.volatility.get(symbol, {})
        table.add_row(
            Text(symbol, style="bold"),
            Text(f"{trace[-1]:.3f} {'▲' if rises > 0 else '▼' if rises < 0 else ' '}", style=style),
            Text(sparkline(list(trace)[-12:]), style=style),
            f"{swing['low']:.2f} - {swing['high']:.2f}" if swing else "",
            f"{swing['stddev']:.3f}" if swing else "",
        )
    return table


def _ranked(title: str, unit: str, ranked: Sequence[tuple[str, float]], format: str, sign: str) -> Table:
    """Symbols in the order of a figure."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(title, min_width=10)
    table.add_column(unit, justify="right", min_width=6)
    for symbol, figure in ranked:
        table.add_row(
            Text(symbol, style="bold"), Text(f"{figure:{format}}{sign}", style="green" if figure > 0 else "red")
        )
    return table


def market_line(answers: Answers) -> str:
    """The whole market in its last minute, and the usual trade."""
    market, medians = answers.market, answers.medians
    if market is None:
        return ""
    usual = f"; median {medians['half']:,.0f}, p99 {medians['most']:,.0f} shares" if medians else ""
    return f"market   {market['trades']:,} trades a minute for {market['turnover'] / 1e9:.2f} bn{usual}"


def sectors_line(answers: Answers) -> str:
    """What was paid in each sector, in a minute."""
    paid = (f"{sector} {paid / 1e9:.1f}" for sector, paid in sorted(answers.sectors.items()))
    return f"sectors  {'  '.join(paid)} bn a minute"


def turns_line(answers: Answers) -> str:
    """Which stocks have begun to rise, to fall or to rest, the last ones first."""
    told = (f"{row['symbol']} {row['way']}" for row in reversed(answers.turns))
    return f"turns    {'  '.join(told)}"


def alerts_line(answers: Answers) -> str:
    """Stocks of which large trades pile up, the last ones first."""
    told = (f"{row['time']:%H:%M:%S} {row['symbol']} {row['trades']} large" for row in reversed(answers.alerts))
    return f"alerts   {'  '.join(told) or 'none yet'}"


def progress_line(figures: Figures) -> str:
    """How much comes in and goes out."""
    rows = sum(figures["rows_per_second"].values())
    return f"{figures['events']:,} ticks, {rate(figures)}   {sum(figures['rows'].values()):,} rows, {rows:,.0f}/s"


def delay_line(figures: Figures) -> str:
    """How long ticks wait for their answers, once all is loaded: the first batches, which load it, are left out."""
    delay = figures["delay"]
    return f"delay p50 {delay['p50']:.2f} s, p99 {delay['p99']:.2f} s" if delay else "delay: not known yet"


class QueriesBelow:
    """Each query with its rows, beside each other, where a terminal has the lines for it."""

    beside, above = 3, 22
    """So many queries in a line, and so many lines of the screen are taken by what stands above."""

    def __init__(self, figures: Figures) -> None:
        self._rows = figures["rows"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = -(-len(self._rows) // self.beside)
        if console.size.height < self.above + 2 + lines:
            return
        table = Table(box=None, pad_edge=False, padding=(0, 4, 0, 0), header_style="dim")
        for _ in range(self.beside):
            table.add_column("query", style="bold", no_wrap=True)
            table.add_column("rows", justify="right", no_wrap=True)
        told = [(name, f"{count:,}") for name, count in self._rows.items()]
        for line in range(lines):
            table.add_row(*(cell for one in told[line::lines] for cell in one))
        yield Text()
        yield table


def sparkline(values: Sequence[float]) -> str:
    """A row of numbers as a row of bars.

    >>> sparkline([1.0, 2.0, 3.0, 2.0])
    '▁▅█▅'
    """
    low, high = min(values), max(values)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((value - low) * scale)] for value in values)


def _clock(instant: datetime | None) -> str:
    return "-" if instant is None else instant.strftime("%H:%M:%S UTC")
