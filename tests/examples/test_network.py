"""The network: its connections, its script, and the answers of its levels."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path
from types import ModuleType

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from windrow.language import CreateSink, CreateStream, Insert, parse_script, to_sql

FOLDER = Path(__file__).parents[2] / "examples" / "network"
HOUR_US = 3_600_000_000
LEVELS = [(HOUR_US // 6, HOUR_US // 60), (HOUR_US, HOUR_US // 12), (3 * HOUR_US, HOUR_US // 4)]
LEVELS += [(12 * HOUR_US, HOUR_US), (24 * HOUR_US, 6 * HOUR_US)]
"""Range and slide of each level, the finest first."""


def loaded(name: str) -> ModuleType:
    """A module of the example, which is no package."""
    spec = importlib.util.spec_from_file_location(f"network_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate, plot = loaded("generate"), loaded("plot")
SCRIPT = parse_script((FOLDER / "app.sql").read_text())
QUERIES = {statement.sink: to_sql(statement.query) for statement in SCRIPT if isinstance(statement, Insert)}


@pytest.fixture(scope="module")
def connections() -> pa.Table:
    """Every tenth connection of a day and a half: windows of a day leave the first of them behind."""
    table = generate.generated_connections(days=1.5, seed=3)
    return table.take(pa.array(np.arange(0, table.num_rows, 10)))


@pytest.fixture(scope="module")
def db(connections: pa.Table) -> duckdb.DuckDBPyConnection:
    """All windows of all levels with their connections, in DuckDB."""
    db = duckdb.connect(config={"threads": 1})
    db.register("given", connections)
    db.execute("CREATE TABLE connections AS SELECT *, epoch_us(ts) AS t FROM given")
    windows = [
        f"SELECT {level} AS level, {reach} AS reach, unnest(generate_series("
        f"(SELECT min(t) // {slide} * {slide} + {slide} FROM connections), (SELECT max(t) FROM connections), {slide})) AS w"
        for level, (reach, slide) in enumerate(LEVELS)
    ]
    db.execute(f"CREATE TABLE windows AS {' UNION ALL '.join(windows)}")
    return db


@pytest.fixture(scope="module")
def trends(connections: pa.Table) -> pa.Table:
    return windrow.replay(QUERIES["trends"], connections=connections, batch_rows=1_000)


@pytest.mark.parametrize("module", [generate, plot], ids=lambda module: module.__name__)
def test_its_doctests_hold(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried and not failed


def test_the_script_reads_the_columns_that_are_written_and_each_query_has_a_sink(tmp_path: Path) -> None:
    (stream,) = (statement for statement in SCRIPT if isinstance(statement, CreateStream))
    table = generate.generated_connections(days=0.01)
    generate.write_connections(tmp_path, 3, table)
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == ["00000.parquet", "00001.parquet", "00002.parquet"]
    assert pa.concat_tables(pq.read_table(path) for path in paths).equals(table)
    assert [column.name for column in stream.columns] == table.column_names
    assert QUERIES.keys() == {statement.name for statement in SCRIPT if isinstance(statement, CreateSink)}


@pytest.mark.skipif(not generate.REAL.exists(), reason="the real connections do not lie beside the checkout")
def test_the_real_connections_have_the_same_columns() -> None:
    table = generate.real_connections()
    assert table.schema == generate.SCHEMA and table.num_rows == 105_918
    times = table["ts"].cast(pa.int64()).to_numpy()
    assert (np.diff(times) >= 0).all() and table["bytes"].null_count == 3_826


def test_the_trends_of_all_levels_are_those_of_numpy_and_duckdb(trends, db) -> None:
    db.register("found", trends.append_column("w", trends["window_end"].cast(pa.int64())))
    wanted = """SELECT level, w, count(*) AS n, avg(ln(1 + bytes)) AS mean, regr_slope(ln(1 + bytes), t / 1e6) AS slope
                FROM windows JOIN connections ON t >= w - reach AND t < w WHERE state = 'SF' GROUP BY level, w"""
    joined = db.sql(
        f"""SELECT count(*), count(*) FILTER (w.n = f.connections AND abs(w.mean - f.mean) < 1e-9
              AND (w.n < 3 OR abs(w.slope - f.slope) <= 1e-6 * abs(w.slope) + 1e-9))
            FROM ({wanted}) AS w FULL JOIN found AS f ON w.level = f.level AND w.w = f.w"""
    ).fetchall()
    assert joined[0][0] == joined[0][1] == trends.num_rows > 2_500


def test_hosts_recur_that_were_there_in_every_stretch_of_the_day(connections, db) -> None:
    text = QUERIES["recurring"].replace(" LIMIT 10", "")
    found = windrow.replay(text, connections=connections, batch_rows=1_000)
    stretches = [(0, LEVELS[0][0]), *((LEVELS[i][0], LEVELS[i + 1][0]) for i in range(4))]
    seen = " AND ".join(f"bool_or(t < w - {low} AND t >= w - {high})" for low, high in stretches)
    wanted = db.sql(
        f"""SELECT w, host, count(*) FROM windows JOIN connections ON t >= w - reach AND t < w WHERE level = 4
            GROUP BY w, host HAVING {seen} ORDER BY w, host"""
    ).fetchall()
    rows = zip(
        found["window_end"].cast(pa.int64()).to_pylist(), *(found[n].to_pylist() for n in ("host", "connections"))
    )
    assert sorted(rows) == wanted and len(wanted) > 3


def test_bursts_are_hosts_that_connect_three_times_a_minute(connections, db) -> None:
    text = QUERIES["bursts"].replace(" >= 3 ", " >= 0.3 ")
    assert text != QUERIES["bursts"]
    found = windrow.replay(text, connections=connections, batch_rows=1_000)
    wanted = db.sql(
        """SELECT level, w, count(*) AS n FROM windows JOIN connections ON t >= w - reach AND t < w
           GROUP BY level, w, reach, host HAVING count(*) / (reach / 6e7) >= 0.3
           QUALIFY row_number() OVER (PARTITION BY level, w ORDER BY count(*) DESC) <= 5 ORDER BY ALL"""
    ).fetchall()
    columns = (found["level"], found["window_end"].cast(pa.int64()), found["connections"])
    assert sorted(zip(*(column.to_pylist() for column in columns))) == wanted and len(wanted) > 50


def test_the_picture_shows_a_line_for_each_level(trends, tmp_path: Path) -> None:
    plot.draw(trends, tmp_path / "trends.png")
    assert (tmp_path / "trends.png").stat().st_size > 10_000
    widest = [row for row in trends.to_pylist() if row["level"] == 4][-1]
    lines = plot.lines_at(trends, widest["window_end"].timestamp())
    assert list(lines) == [0, 1, 2, 3, 4]
    assert all(xs[1] == widest["window_end"].timestamp() for xs, _ in lines.values())
