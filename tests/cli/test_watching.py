"""A job as it is watched: on a screen, in a log, and when it is asked to stop."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from windrow.cli.figures import NONE_YET
from windrow.cli.json_log import JsonLog
from windrow.cli.view import LiveView, LogView, figures_table
from windrow.cli.watch import StopSignals, watch

FIGURES = {
    "batches": 3,
    "events": 1_234_567,
    "events_per_second": 45_000.4,
    "clock": datetime(2024, 1, 1, 9, 30, tzinfo=UTC),
    "windows": 42,
    "rejected": {"late": 3, "no time": 0, "unreadable": 1},
    "failed": 2,
    "dropped": 0,
    "delay": {"p50": 0.612, "p99": 0.93, "max": 1.1},
    "groups": 100,
    "state_bytes": 2_500_000,
    "memory_bytes": 640_000,
    "seconds": {"scan": 1.0, "slice": 2.0, "slide": 3.0, "state": 2.0, "sinks": 2.0},
    "rows": {"vwap": 12_345, "top": 60},
    "rows_per_second": {"vwap": 321.4, "top": 1.2},
    "waiting": False,
}
SHOWN = (
    *("1,234,567", "45,000/s", "2024-01-01 09:30:00", "42", "3 late, 1 unreadable", "2 values made NULL"),
    *(
        "p50 0.61 s  p99 0.93 s  max 1.10 s",
        "2.5 MB on disk, 640.0 kB in memory",
        "100 groups",
        "scan 10%",
        "slide 30%",
    ),
)


class FakeJob:
    """Ends after so many looks, if nobody stops it before."""

    def __init__(self, looks: int) -> None:
        self.looks, self.stopped = looks, False

    def wait(self, timeout: float) -> bool:
        self.looks -= 1
        return self.looks <= 0

    def progress(self) -> dict[str, Any]:
        return {"ticks": FIGURES}

    def stop(self) -> None:
        self.stopped = True


def test_a_log_in_json_has_a_line_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    stopped = FIGURES | {"batches": 4, "stopped": {"vwap": "its sink is gone"}}
    with JsonLog(now=lambda: datetime(2024, 1, 2, tzinfo=UTC)) as log:
        for figures in (FIGURES, FIGURES, stopped, stopped, FIGURES | {"clock": None, "batches": 5}):
            log.show({"changes-2-ticks": figures})
        log.say("that's all")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = ["batch", "query stopped", "batch", "query resumed", "batch", "said"]
    assert [line["event"] for line in lines] == told
    assert {line["at"] for line in lines} == {"2024-01-02T00:00:00.000+00:00"}
    first, stop = lines[:2]
    assert (first["stream"], first["events"], first["clock"]) == ("ticks", 1_234_567, "2024-01-01T09:30:00+00:00")
    assert (first["rejected"]["late"], first["rows"]["top"], first["delay"]["p99"]) == (3, 60, 0.93)
    assert (stop["query"], stop["why"]) == ("vwap", "its sink is gone")
    assert (lines[4]["clock"], lines[5]["text"]) == (None, "that's all")


def test_a_log_has_all_figures_in_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with LogView(every=0.0) as view:
        view.show({"ticks": FIGURES})
        view.show({"ticks": FIGURES})
    line, *others = capsys.readouterr().out.splitlines()
    assert line.startswith("ticks: ")
    assert all(part in line for part in SHOWN)
    assert not others, "nothing has happened since"


@pytest.mark.parametrize("width", [80, 100])
def test_a_screen_has_all_figures_and_what_is_printed_stays_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    console = Console(file=screen, force_terminal=True, width=width, height=24, color_system=None)
    row = "|" + "x" * 150 + "|"
    with LiveView(console) as view:
        print(row)
        print("a part of a line, ", end="")
        print("and its end")
        view.show({"ticks": FIGURES})
    assert row in screen.getvalue()
    assert "a part of a line, and its end\n" in screen.getvalue()
    assert all(part in screen.getvalue() for part in SHOWN)
    assert sys.stdout is screen


def shown(streams: dict[str, Any], sinks: dict[str, str]) -> list[str]:
    """The lines that a screen of 80 columns ends with."""
    screen = io.StringIO()
    with LiveView(Console(file=screen, force_terminal=True, width=80, height=40, color_system=None), sinks) as view:
        view.show(streams)
        screen.truncate(0)
    return [line.split("\x1b[2K")[-1].rstrip() for line in screen.getvalue().splitlines()]


def test_a_screen_has_a_line_for_each_query_with_its_sink() -> None:
    sinks = {"vwap": "parquet out/vwap", "top": "memory", "by_spark": "jdbc t", "long": "csv " + "deeper/" * 30}
    lines = shown({"ticks": FIGURES, "changes-2-a+b": FIGURES}, sinks)
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert "a, b" in text and "changes-" not in text
    (vwap,) = (line for line in lines if line.startswith("vwap"))
    assert vwap.split() == ["vwap", "12,345", "321", "parquet", "out/vwap"]
    (by_spark,) = (line for line in lines if line.startswith("by_spark"))
    assert by_spark.split() == ["by_spark", "-", "-", "jdbc", "t"]


def test_of_many_queries_a_screen_shows_the_busiest() -> None:
    rows = {f"q{number}": number for number in range(40)}
    figures = FIGURES | {"rows": rows, "rows_per_second": dict.fromkeys(rows, 1.0)}
    text = "\n".join(shown({"ticks": figures}, dict.fromkeys(rows, "noop")))
    assert "q39 " in text and "q28 " in text and "q27 " not in text
    assert "and 28 more queries" in text


def test_a_screen_says_that_nothing_comes() -> None:
    idle = FIGURES | {"waiting": True}
    assert "waiting for input" in "\n".join(shown({"ticks": idle | {"batches": 0}}, {}))
    assert "waiting for input" in "\n".join(shown({"ticks": idle}, {}))
    assert "waiting for input" not in "\n".join(shown({"ticks": FIGURES}, {}))


def test_a_job_is_watched_to_its_end() -> None:
    job = FakeJob(looks=3)
    with StopSignals() as stop, LogView() as view:
        assert watch(job, view, stop)  # type: ignore[arg-type]
    assert not job.stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops_the_job_and_the_second_interrupts(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    job = FakeJob(looks=10**9)
    with StopSignals() as stop, LogView() as view:
        os.kill(os.getpid(), number)
        assert not watch(job, view, stop)  # type: ignore[arg-type]
        assert job.stopped
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert "stopping after this batch" in capsys.readouterr().out


def test_what_only_one_stream_tells_has_a_line_for_all() -> None:
    """Rows that were shed are no fault of theirs: they are told beside those that were rejected."""
    figures = [FIGURES | {"shed": 1_087, "share": 0.0625}, FIGURES | {"absent": {"v": {"files": 2, "rows": 12}}}]
    for first, second in (figures, reversed(figures)):
        out = io.StringIO()
        Console(file=out, width=200).print(figures_table({"a": first, "b": second}))
        lines = {line.split()[0]: line for line in out.getvalue().splitlines()}
        assert "1,087 rows left out, takes 6.25% now" in lines["shed"] and NONE_YET in lines["shed"]
        assert "column 'v' absent in 12 rows of 2 files" in lines["absent"] and NONE_YET in lines["absent"]
        assert "1,087" not in lines["rejected"]
