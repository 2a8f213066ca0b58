"""Windows that count rows: numbered as the definition says, with DuckDB's values over exactly the rows of each."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.runtime.rows import fold_rows, keyed_rows, pending_rows, row_times, row_windows
from windrow.storage import chunks
from windrow.windows import log

from .compare import Case, Watched, like
from .judge import same
from .judge_rows import RowsOracle, RowsWindow, judged, sortable
from .streams import Stream, streams

ORDER = "ORDER BY t, seq"
NAN = float("nan")
COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y", ""])),
    "g": (pa.float64(), st.sampled_from([None, 0.0, -0.0, NAN, 1.5])),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.integers(-80, 80).map(lambda n: n / 8) | st.just(NAN)),
    "m": (pa.decimal128(12, 2), st.none() | st.integers(-999, 999).map(lambda n: Decimal(n).scaleb(-2))),
}
CASES = [
    like("COUNT(*)"),
    like("COUNT(i)"),
    Case("SUM(i)", "sum(i)::BIGINT"),
    like("SUM(d)"),
    like("SUM(m)"),
    like("AVG(i)", 1e-15),
    like("MAX(d)"),
    like("MIN(k)"),
    like("VAR_SAMP(i)", 1e-9),
    Case("REGR_SLOPE(i, m)", "nullif(regr_slope(i, m::DOUBLE), 'NaN'::DOUBLE)", 1e-9),
    Case("FIRST(i)", f"first(i {ORDER})"),
    Case("LAST(k)", f"last(k {ORDER})"),
    Case("LAST(d) IGNORE NULLS", f"last(d {ORDER}) FILTER (WHERE d IS NOT NULL)"),
    Case("SUM(i) FILTER (WHERE k = 'x')", "(sum(i) FILTER (WHERE k = 'x'))::BIGINT"),
    like("BOOL_OR(i > 3)"),
    Case("trail(i)", f"string_agg(coalesce(i::VARCHAR, 'None') || ',', '' {ORDER})"),  # a user's, which shows the order
]
KINDS = ["rows", "rows unbounded", "range in time", "slide in time", "slide in time unbounded"]


@st.composite
def row_windows_of(draw: st.DrawFn, stream: Stream, kind: str, partition: tuple[str, ...]) -> RowsWindow:
    """Windows whose lengths in time are of the order of the stream's own."""
    rows, slide = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    assert stream.window.range_us is not None
    window = RowsWindow(partition=partition)
    match kind:
        case "rows":
            return replace(window, rows=rows, slide_rows=slide)
        case "rows unbounded":
            return replace(window, slide_rows=slide)
        case "range in time":
            return replace(window, range_us=stream.window.range_us, slide_rows=slide)
        case "slide in time":
            return replace(window, rows=rows, slide_us=stream.window.slide_us, offset_us=stream.window.offset_us)
    return replace(window, slide_us=stream.window.slide_us)


def keys_of(stream: Stream, names: tuple[str, ...]) -> list[tuple]:
    """What each row is counted by, with one NaN and one zero."""
    columns = [[str(value) if value != value else value for value in stream.columns[name][1]] for name in names]
    return [tuple(column[row] for column in columns) for row in range(len(stream.times))]


def check(stream: Stream, window: RowsWindow, cases, group: tuple[str, ...], where: str, how: dict) -> None:
    """Work off `stream` in several tasks and shards, and hold each batch's answers against the oracle."""
    keys = tuple(dict.fromkeys((*group, *window.partition)))
    aggregates = [f"{case.asked} AS a{i}" for i, case in enumerate(cases)]
    text = f"SELECT {', '.join(aggregates)} FROM ticks {window} WHERE {where}"
    text += f" GROUP BY {', '.join(group)}" if group else ""
    events = stream.events
    core = Core(plan_of([text], events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
    every = [True] * len(stream.times)
    due = judged(window, stream, every, keys_of(stream, window.partition))
    oracle = RowsOracle(events)
    select = ", ".join(
        [f"{key} AS key_{i}" for i, key in enumerate(keys)]
        + [f"{case.oracle} AS agg_{i}" for i, case in enumerate(cases)]
    )
    outcomes = [core.step(events.slice(start, size), how["tasks"]) for start, size in stream.bounds] + [core.flush()]
    for outcome, windows in zip(outcomes, due, strict=True):
        mine = [{name: value for name, value in row.items() if name != "due"} for row in rows_of(outcome)]
        theirs = oracle.answers(windows, select, keys, where)
        for row in theirs:
            row |= {f"agg_{i}": case.read(row[f"agg_{i}"]) for i, case in enumerate(cases)}
        assert_same(mine, theirs, [0.0] * (3 + len(keys)) + [case.relative for case in cases])


def assert_same(mine: list[dict], theirs: list[dict], relative: list[float]) -> None:
    assert len(mine) == len(theirs)
    for ours, wanted in zip(sorted(mine, key=sortable), sorted(theirs, key=sortable)):
        assert ours.keys() == wanted.keys()
        for name, allowed in zip(ours, relative, strict=True):
            assert same(ours[name], wanted[name], allowed), f"{name}: {ours}, the oracle has {wanted}"


ways = st.fixed_dictionaries(
    {
        "reopen": st.sampled_from(["never", "adopt", "fresh"]),
        "shards": st.sampled_from([1, 1, 3]),
        "tasks": st.sampled_from([1, 1, 2, 3]),
        "size": st.sampled_from([2, 5, 16_384]),
        "together": st.sampled_from([1, 1_000_000]),
    }
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partition", [(), ("k",), ("k", "g")], ids=["all rows", "by key", "by two keys"])
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_every_window_over_rows_equals_the_oracle(kind, partition, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    window = data.draw(row_windows_of(stream, kind, partition))
    group = data.draw(st.sampled_from([(), ("k",), ("g", "k")]))
    where = data.draw(st.sampled_from(["true", "true", "i > 0", "k = 'x' OR d < 0", "i > 99"]))
    cases = data.draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=5, unique=True))
    how = data.draw(ways)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in BLOCK_SIZES:
            patch.setattr(module, name, how["size"])
        patch.setattr(fold_rows, "TOGETHER", how["together"])
        check(stream, window, cases, group, where, how)


@pytest.mark.parametrize("partition", [(), ("k",)], ids=["all rows", "by key"])
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_each_level_in_rows_answers_as_a_window_of_its_own(partition, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    pairs, slide, reach = [], data.draw(st.integers(1, 3)), 0
    for _ in range(data.draw(st.integers(1, 3))):
        reach = slide * data.draw(st.integers(reach // slide + 1, reach // slide + 3))
        pairs.append((reach, slide))
        slide += data.draw(st.integers(0, 4))
    group = data.draw(st.sampled_from([(), ("k",), ("g", "k")]))
    how, events = data.draw(ways), stream.events
    selected = f"SELECT SUM(i) AS s, MAX(d) AS m, COUNT(*) AS n FROM ticks [{'PARTITION BY k ' if partition else ''}"
    rest = f" WHERE i > -5{' GROUP BY ' + ', '.join(group) if group else ''}"
    ranges, slides = (", ".join(str(length) for length in reversed(lengths)) for lengths in zip(*pairs))
    texts = [f"{selected}ROWS {ranges} SLIDES {slides}]{rest}"]
    texts += [f"{selected}ROWS {reach} SLIDE {slide}]{rest}" for reach, slide in pairs]
    nested, *alone = (
        Core(plan_of([text], events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
        for text in texts
    )
    for start, size in [*stream.bounds, (0, None)]:
        batch = None if size is None else events.slice(start, size)
        mine, *theirs = (
            rows_of(core.flush() if batch is None else core.step(batch, how["tasks"])) for core in (nested, *alone)
        )
        expected = [row | {"level": level} for level, rows in enumerate(theirs) for row in rows]
        ordered = [sorted(rows, key=lambda row: sorted(map(str, row.items()))) for rows in (mine, expected)]
        assert [sorted(map(str, row.items())) for row in ordered[0]] == [
            sorted(map(str, row.items())) for row in ordered[1]
        ]


BLOCK_SIZES = [
    (log, "BLOCK_ENTRIES"),
    (pending_rows, "BLOCK_ROWS"),
    (keyed_rows, "BLOCK_ROWS"),
    (row_times, "STEP"),
    (row_windows, "AT_ONCE"),
    (chunks, "CHUNK"),
]


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.sampled_from(["", "PARTITION BY k "]))
def test_rows_before_the_clock_are_late_and_those_without_a_time_are_not_counted(stream, partition):
    events = stream.events
    text = f"SELECT COUNT(*) AS n FROM ticks [{partition}ROWS 3 SLIDE 2]"
    replay = Watched(text, lateness=stream.lateness, ticks=events)
    clock = newest = None
    for start, size in stream.bounds:
        times = stream.times[start : start + size]
        replay.step(events.slice(start, size))
        late = sum(time is not None and clock is not None and time < clock for time in times)
        assert (replay.outcome.late, replay.outcome.untimed) == (late, times.count(None))
        seen = [time for time in [*times, newest] if time is not None]
        if seen:
            newest = max(seen)
            clock = newest - stream.lateness_us


@settings(max_examples=examples(25), deadline=None)
@given(st.data(), st.sampled_from(KINDS), st.sampled_from([(), ("k",)]))
def test_a_sub_query_before_the_window_leaves_rows_out_of_the_counting(data, kind, partition):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    window = data.draw(row_windows_of(stream, kind, partition))
    text = (
        f"WITH some AS (SELECT k, i + 1 AS j FROM ticks WHERE i > 0) SELECT SUM(j) AS s FROM some {window} WHERE j > 3"
    )
    counted = [value is not None and value > 0 for value in stream.columns["i"][1]]
    due = judged(window, stream, counted, keys_of(stream, partition))
    replay = Watched(text, lateness=stream.lateness, ticks=stream.events)
    oracle = RowsOracle(stream.events)
    tables = [replay.step(stream.events.slice(start, size)) for start, size in stream.bounds] + [replay.flush()]
    for found, windows in zip(tables, due, strict=True):
        mine = [row for table in found for row in plain(table)]
        theirs = oracle.answers(windows, "sum(i + 1)::BIGINT AS s", (), "i + 1 > 3")
        assert_same(mine, theirs, [0.0] * 4)


def plain(table: pa.Table) -> list[dict]:
    times = [table[name].cast(pa.int64()) for name in ("window_start", "window_end")]
    return table.set_column(0, "window_start", times[0]).set_column(1, "window_end", times[1]).to_pylist()


@settings(max_examples=examples(25), deadline=None)
@given(st.data(), st.sampled_from(KINDS), st.sampled_from([(), ("k",)]))
def test_order_and_limit_are_those_of_each_window_though_windows_end_together(data, kind, partition):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    window = data.draw(row_windows_of(stream, kind, partition))
    text = f"SELECT i, COUNT(*) AS n FROM ticks {window} GROUP BY i ORDER BY n DESC, i NULLS LAST LIMIT 2"
    due = judged(window, stream, [True] * len(stream.times), keys_of(stream, partition))
    replay = Watched(text, lateness=stream.lateness, ticks=stream.events)
    oracle = RowsOracle(stream.events)
    tables = [replay.step(stream.events.slice(start, size)) for start, size in stream.bounds] + [replay.flush()]
    for found, windows in zip(tables, due, strict=True):
        mine = [row for table in found for row in plain(table)]
        theirs = []
        for one in windows:
            rows = oracle.answers([one], "i, COUNT(*) AS n", ("i",), "true")
            theirs += sorted(rows, key=lambda row: (-row["n"], row["i"] is None, row["i"] or 0))[:2]
        assert_same(mine, theirs, [0.0] * 5)
