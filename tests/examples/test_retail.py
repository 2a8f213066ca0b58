"""The retailer: its sales, its script, and the five queries of the paper's Table 1."""

from __future__ import annotations

import doctest
import importlib.util
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from windrow.language import CreateSink, CreateStream, CreateTable, Insert, parse_script, to_sql

FOLDER = Path(__file__).parents[2] / "examples" / "retail"
BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)
BEGIN_US = round(BEGIN.timestamp() * 1_000_000)
SECONDS = 100
SPARK = {pa.int32(): "INT", pa.float64(): "DOUBLE", pa.timestamp("us", tz="UTC"): "TIMESTAMP"}


def loaded() -> ModuleType:
    """The generator, which is in no package."""
    spec = importlib.util.spec_from_file_location("retail_generate", FOLDER / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = loaded()
SCRIPT = parse_script((FOLDER / "retail.sql").read_text())
QUERIES = {statement.sink: to_sql(statement.query) for statement in SCRIPT if isinstance(statement, Insert)}


def written(folder: Path, step: int = 10, seed: int = 42) -> dict[str, pa.Table]:
    """What a generated folder holds, by stream and table."""
    count = generate.write_sales(folder, SECONDS, step, rate=200, start=BEGIN, seed=seed, live=False)
    found = {path.name: pq.read_table(path) for path in folder.iterdir()}
    assert sum(found[name].num_rows for name in generate.STREAMS) == count
    return found


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    return written(tmp_path_factory.mktemp("sales"))


def test_its_doctests_hold() -> None:
    failed, tried = doctest.testmod(generate)
    assert tried and not failed


def test_the_script_reads_the_columns_that_are_written(sales: dict[str, pa.Table]) -> None:
    declared = [statement for statement in SCRIPT if isinstance(statement, CreateStream | CreateTable)]
    assert {statement.name for statement in declared} == sales.keys()
    for statement in declared:
        columns = [(column.name, column.type_sql) for column in statement.columns]
        assert columns == [(field.name, SPARK[field.type]) for field in sales[statement.name].schema]


def test_every_query_has_a_sink_of_its_own() -> None:
    assert set(QUERIES) == {sink.name for sink in SCRIPT if isinstance(sink, CreateSink)}
    assert list(QUERIES) == ["q1", "q2", "q3", "q4", "q5"]


def test_the_same_arguments_give_the_same_sales(tmp_path: Path, sales: dict[str, pa.Table]) -> None:
    assert written(tmp_path / "again") == sales
    assert written(tmp_path / "other", seed=7) != sales


def test_sales_are_in_order_and_lie_within_their_time(sales: dict[str, pa.Table]) -> None:
    for name in generate.STREAMS:
        times = sales[name]["Timestamp"].cast(pa.int64()).to_numpy() - BEGIN_US
        assert times.min() == 0 and times.max() < SECONDS * 1_000_000
        assert (np.diff(times) >= 0).all()
        assert 150 * SECONDS < len(times) < 250 * SECONDS


@pytest.mark.parametrize("name", QUERIES)
def test_at_any_instant_the_changes_add_up_to_the_query_without_its_window(
    name: str, sales: dict[str, pa.Table]
) -> None:
    text = QUERIES[name]
    tables = {table: sales[table] for table in sales if table.startswith("Favorite")}
    streams = {stream: sales[stream] for stream in generate.STREAMS if stream in text}
    changes = windrow.replay(text, **streams, tables=tables, time="Timestamp", batch_rows=3_000)

    ops, times = changes["op"].to_pylist(), changes["time"].cast(pa.int64()).to_pylist()
    rows = list(zip(*(column.to_pylist() for column in changes.columns[2:])))
    db = duckdb.connect(config={"threads": 1})
    for table, held in tables.items():
        db.register(table, held)
    answers: Counter[tuple] = Counter()
    done = 0
    for second in (0.5, 20, 59.9, 60, 75.25, 95):
        instant = BEGIN_US + round(second * 1_000_000)
        while done < len(times) and times[done] <= instant:
            answers[rows[done]] += 1 if ops[done] == "+" else -1
            done += 1
        for stream, held in streams.items():
            inside = held["Timestamp"].cast(pa.int64()).to_numpy()
            db.register(stream, held.filter((inside > instant - 60_000_000) & (inside <= instant)))
        wanted = sorted(db.sql(text.replace("MINUS", "EXCEPT").replace("WINDOW 1 MINUTE", "")).fetchall())
        found = sorted((+answers).elements())
        assert min(answers.values(), default=0) >= 0 and len(wanted) > 0
        assert len(found) == len(wanted)
        assert np.allclose(np.array(found, float), np.array(wanted, float), rtol=1e-12)
