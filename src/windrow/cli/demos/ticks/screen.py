"""What the demo shows: prices with their traces, the movers, the market, and how the job is doing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from windrow.cli.demos.ticks.answers import Answers
from windrow.cli.figures import Figures, rate

SHOWN = 9
BARS = "▁▂▃▄▅▆▇█"


def screen(answers: Answers, figures: Figures, notes: Sequence[str]) -> RenderableType:
    """All of it, with `notes` below."""
    side = Table.grid(padding=(0, 4, 0, 0))
    side.add_row(_prices(answers), _movers(answers))
    return Group(
        Text.assemble(("windrow demo", "bold"), f"   windows that end at {_clock(answers.window_end)}"),
        Text(),
        side,
        Text(),
        Text(market_line(answers)),
        Text(progress_line(figures), style="dim"),
        *(Text(note, style="dim") for note in notes),
    )


def plain_line(answers: Answers, figures: Figures) -> str:
    """The same in a line, for a log."""
    prices = ", ".join(f"{symbol} {trace[-1]:.2f}" for symbol, trace in shown(answers)[:3])
    movers = ", ".join(f"{symbol} {percent:+.2f}%" for symbol, percent in answers.movers[:3])
    clock = _clock(answers.window_end)
    return f"{clock}  VWAP {prices}  movers {movers}  {market_line(answers)}  {progress_line(figures)}"


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


def _movers(answers: Answers) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("moved most")
    table.add_column("1 min", justify="right")
    for symbol, percent in answers.movers:
        table.add_row(Text(symbol, style="bold"), Text(f"{percent:+.2f}%", style="green" if percent > 0 else "red"))
    return table


def market_line(answers: Answers) -> str:
    """The whole market, in its last minute."""
    market = answers.market
    if market is None:
        return ""
    turnover = f"{market['turnover'] / 1e9:.2f} bn"
    return f"market, 1 min: {market['trades']:,} trades of {market['volume']:,} shares for {turnover}"


def progress_line(figures: Figures) -> str:
    """How the job is doing, in brief."""
    delay = figures["delay"]
    waits = f"  delay p50 {delay['p50']:.1f} s, p99 {delay['p99']:.1f} s" if delay else ""
    return f"{figures['events']:,} ticks  {rate(figures)}  {figures['windows']:,} windows{waits}"


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
