"""Keys of several columns of every type that has an order: found in an index as a plain filter of DuckDB finds them."""

from __future__ import annotations

import datetime as dt
import tempfile
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow import Replay
from windrow.indexes.facts import TIME, IndexFacts
from windrow.indexes.published import PublishedIndex
from windrow.places.place import place_of
from windrow.spark.sinks.index_files import IndexSink

NAN, INFINITE, SECOND = float("nan"), float("inf"), 1_000_000
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, -1, 0, 127],
    pa.int32(): [-(2**31), -300, -1, 0, 1, 237, 238, 239, 70_000, 2**31 - 1],
    pa.int64(): [-(2**63), -1, 0, 5, 238, 2**63 - 1],
    pa.bool_(): [True, False],
    pa.float32(): [-1.5, 0.0, -0.0, 0.25, NAN, INFINITE, -INFINITE],
    pa.float64(): [-1.5, 0.0, -0.0, 0.1, NAN, INFINITE, -INFINITE, 1e300],
    pa.string(): ["", "a", "a\0", "a\0b", "ab", "é", "日本", "\U0001f600", "a text longer", "a text longes"],
    pa.binary(): [b"", b"\0", b"\xff", b"\xff\xff", b"\0\xff", b"a"],
    pa.decimal128(20, 2): [Decimal("-10.25"), Decimal(0), Decimal("0.01"), Decimal("123456789012345.67")],
    pa.decimal128(38, 10): [-Decimal(10**27), Decimal(0), Decimal("1.5"), Decimal(10**27)],
    pa.date32(): [dt.date(1900, 1, 1), dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    pa.timestamp("us", tz="UTC"): [dt.datetime(1960, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 0, 0, 0, 1, dt.UTC)],
    pa.duration("us"): [dt.timedelta(-1), dt.timedelta(0), dt.timedelta(microseconds=300), dt.timedelta(9)],
    pa.time64("us"): [dt.time(0), dt.time(0, 0, 0, 240), dt.time(23, 59, 59, 999_999)],
    pa.large_binary(): [b"", b"\0", b"a"],
    pa.timestamp("us"): [dt.datetime(1960, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 0, 1)],
}


@settings(deadline=None)
@given(st.data())
def test_prefixes_and_ranges_find_what_a_filter_finds(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(VALUES, key=str)), min_size=1, max_size=4))
    count, names = data.draw(st.integers(1, 60)), [f"k{place}" for place in range(len(kinds))]
    columns = [st.lists(value_of(kind), min_size=count, max_size=count) for kind in kinds]
    keys = {name: pa.array(data.draw(column), kind) for name, column, kind in zip(names, columns, kinds)}
    times = pa.array([row * SECOND // 2 for row in range(count)], pa.timestamp("us", tz="UTC"))
    rows = pa.table({"ts": times, **keys, "v": list(range(count))})
    text = f"CREATE INDEX found ON s [RANGE 1 HOUR SLIDE 7 SECONDS] ({', '.join(names)}) INCLUDE (v)"
    replay = Replay(text, s=rows)
    replay.run(batch_rows=data.draw(st.integers(5, 40)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        published = publish(rows, tuple(names), folder, data.draw(st.integers(5, 40)))
        for _ in range(6):
            asked = names[: data.draw(st.integers(1, len(names)))]
            given: dict[str, Any] = {name: data.draw(value_of(kind)) for name, kind in zip(asked, kinds)}
            ranged = data.draw(st.booleans())
            if ranged:
                ends = value_of(kinds[len(asked) - 1])
                given[asked[-1]] = data.draw(st.tuples(ends, ends))
            expected = filtered(rows, given)
            assert sorted(replay.scan("found", **given)["v"].to_pylist()) == expected
            assert sorted(published.scan(**given)["v"].to_pylist()) == expected
            if asked == names and not ranged:
                assert replay.lookup("found", **given)["v"].to_pylist() == expected
                assert published.lookup(**given)["v"].to_pylist() == expected


def value_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from(VALUES[kind])


def publish(rows: pa.Table, keys: tuple[str, ...], folder: str, batch_rows: int) -> PublishedIndex:
    """The same rows as a job has them in files, in several runs."""
    told = rows.rename_columns([TIME, *rows.column_names[1:]])
    home, facts = (
        place_of(folder) / "found",
        IndexFacts("found", keys, rows.schema.remove(0), 3600 * SECOND, 7 * SECOND),
    )
    sink = IndexSink(facts, home, None, "job-found")  # type: ignore[arg-type]
    sink.clear(0)
    for batch, begin in enumerate(range(0, rows.num_rows, batch_rows)):
        sink.commit(sink.stage(told.slice(begin, batch_rows), batch), batch, 60 * SECOND)
    return PublishedIndex(home)


def filtered(rows: pa.Table, given: dict[str, Any]) -> list[int]:
    """What a filter of all rows finds."""
    wanted: dict[str, pa.Array] = {}
    conditions = ["TRUE"]
    for name, value in given.items():
        kind = rows.schema.field(name).type
        ends = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else {"same": value}
        wanted |= {f"{name}_{end}": pa.array([one], kind) for end, one in ends.items()}
        if "same" in ends:
            conditions.append(f"{name} IS NOT DISTINCT FROM {name}_same")
            continue
        conditions.append(f"{name} IS NOT NULL")
        conditions += [f"{name} >= {name}_low"] if ends["low"] is not None else []
        conditions += [f"{name} <= {name}_high"] if ends["high"] is not None else []
    database = duckdb.connect()
    database.register("found", rows)
    database.register("wanted", pa.table(wanted))
    return [
        v
        for (v,) in database.sql(f"SELECT v FROM found, wanted WHERE {' AND '.join(conditions)} ORDER BY v").fetchall()
    ]
