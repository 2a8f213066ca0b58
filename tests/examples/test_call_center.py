"""The call center: its records, its script, and the 144 KPIs."""

from __future__ import annotations

import doctest
import importlib.util
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from windrow.language import CreateSink, CreateStream, Insert, parse_query, parse_script, to_sql
from windrow.local.local_catalog import LocalEngine
from windrow.plan.bind.query import bind_folded
from windrow.plan.catalog import Catalog, Stream

FOLDER = Path(__file__).parents[2] / "examples" / "call_center"
BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)

FIGURE_12 = """
    timestamp long, instance int, start long, sessionId int, serviceId int, agentId int, interactionLegId int,
    alertingTime int, busyTime int, wrapUpTime int, waitTime int, direction int, mediaId int, helpTime int,
    agentReleased bool, mediaOutcome int, finalSegment bool, agentSite int, callSite int, availableTime int,
    availableTimeByService int, held int, help int
"""
COLUMNS = [tuple(column.split()) for column in FIGURE_12.split(",")]
ARROW = {"long": pa.int64(), "int": pa.int32(), "bool": pa.bool_()}
BYTES = {"long": 8, "int": 4, "bool": 1}
SPARK = {"long": "BIGINT", "int": "INT", "bool": "BOOLEAN"}


def loaded(name: str) -> ModuleType:
    """A module of the example, which is no package."""
    spec = importlib.util.spec_from_file_location(f"call_center_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate, kpis = loaded("generate"), loaded("kpis")
SCRIPT = parse_script((FOLDER / "app.sql").read_text())
INSERTS = [statement for statement in SCRIPT if isinstance(statement, Insert)]


def written(folder: Path, files: int, rows: int, rate: int = 50, start: datetime = BEGIN, seed: int = 42) -> pa.Table:
    """The records of a generated folder, file by file."""
    generate.write_calls(folder, files, rows, rate, start, seed)
    paths = sorted(folder.iterdir())
    assert [path.name for path in paths] == [f"{number:05d}.parquet" for number in range(files)]
    return pa.concat_tables(pq.read_table(path) for path in paths)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """400,000 records at 1,000 a second: more than one block, with sessions that reach from one into the next."""
    return written(tmp_path_factory.mktemp("calls"), files=2, rows=200_000, rate=1_000)


@pytest.mark.parametrize("module", [generate, kpis], ids=lambda module: module.__name__)
def test_its_doctests_hold(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried and not failed


def test_a_record_has_the_columns_and_the_94_bytes_of_the_paper(calls: pa.Table) -> None:
    assert [(field.name, field.type) for field in calls.schema] == [(name, ARROW[kind]) for name, kind in COLUMNS]
    assert sum(BYTES[kind] for _, kind in COLUMNS) == 94
    assert all(column.null_count == 0 for column in calls.columns)


def test_the_script_reads_the_columns_that_are_written() -> None:
    (stream,) = (statement for statement in SCRIPT if isinstance(statement, CreateStream))
    assert [(column.name, column.type_sql) for column in stream.columns] == [
        (name, SPARK[kind]) for name, kind in COLUMNS
    ]


def test_the_same_arguments_give_the_same_records_however_they_are_cut_into_files(tmp_path: Path) -> None:
    first = written(tmp_path / "first", files=2, rows=3_000)
    assert written(tmp_path / "again", files=2, rows=3_000).equals(first)
    assert written(tmp_path / "cut", files=4, rows=1_500).equals(first)
    assert not written(tmp_path / "other", files=2, rows=3_000, seed=7).equals(first)


def test_records_come_at_the_rate_and_are_out_of_order_by_less_than_the_lateness(calls: pa.Table) -> None:
    begin_ms = round(BEGIN.timestamp() * 1000)
    moved = [time - number - begin_ms for number, time in enumerate(calls["timestamp"].to_pylist())]
    assert 0 <= min(moved) < 10
    assert 990 < max(moved) < 1000


def test_sessions_and_legs_follow_one_another_step_by_step(calls: pa.Table) -> None:
    db = duckdb.connect(config={"threads": 1})
    db.register("calls", calls)

    def count(keys: str, having: str = "true") -> int:
        groups = db.sql(f"SELECT {keys} FROM calls GROUP BY {keys} HAVING {having}")
        return len(groups.fetchall())

    assert count("sessionId", "count(*) > 30") > 100  # a block has 25 steps of each
    assert count("sessionId", "min(timestamp) <> min(start) OR min(start) <> max(start)") == 0
    assert count("sessionId, callSite, serviceId, mediaId, direction, instance") == count("sessionId")
    assert count("sessionId", "bool_or(finalSegment)") > 10_000
    assert count("sessionId", "count_if(finalSegment) > 1") == 0
    assert count("sessionId", "bool_or(finalSegment) AND NOT arg_max(finalSegment, timestamp)") == 0
    assert count("sessionId", "count(DISTINCT interactionLegId) <> max(interactionLegId)") == 0
    assert count("sessionId, interactionLegId, agentId") == count("sessionId, interactionLegId")
    assert count("agentId, agentSite") == count("agentId") == 4_000  # one shift of the three
    assert count("callSite") == count("agentSite") == 20
    assert db.sql("SELECT max(agentId) FROM calls").fetchall() < [(12_000,)]


def test_the_script_asks_for_the_144_kpis_in_eight_queries_with_a_sink_each() -> None:
    assert len(INSERTS) == 8
    assert {insert.sink for insert in INSERTS} == {sink.name for sink in SCRIPT if isinstance(sink, CreateSink)}
    asked = []
    for insert in INSERTS:
        select, source = to_sql(insert.query).split(" FROM ")
        key, *answers = select.removeprefix("SELECT ").split(", ")
        asked += [f"SELECT {key}, {answer} FROM {source}" for answer in answers]
    assert len(asked) == 144
    assert set(asked) == {to_sql(parse_query(kpi.text)) for kpi in kpis.kpi_queries()}


def test_each_of_the_144_queries_binds_to_one_aggregate_by_one_key(calls: pa.Table) -> None:
    stream = Stream("calls", calls.schema, "timestamp_millis(timestamp)", 1_000_000)
    catalog = Catalog(LocalEngine(), {"calls": stream}, {}, {})
    queries = kpis.kpi_queries()
    assert len({kpi.name for kpi in queries}) == len({kpi.text for kpi in queries}) == 144
    for name, text in queries:
        bound = bind_folded(parse_query(text), catalog)
        assert len(bound.aggregates) == len(bound.keys) == 1, name
        answer, _, key = name.partition("_by_")
        assert [output.name for output in bound.outputs] == [key, answer]


def test_every_window_of_a_query_equals_the_oracle_also_when_the_first_day_has_left_it(tmp_path: Path) -> None:
    days = [written(tmp_path / str(day), 1, 600, start=BEGIN + timedelta(days=day), seed=day) for day in range(2)]
    calls = pa.concat_tables(days)
    calls = calls.append_column("ts", calls["timestamp"].cast(pa.timestamp("ms", tz="UTC")))
    (query,) = (to_sql(insert.query) for insert in INSERTS if insert.sink == "by_direction")
    answers = windrow.replay(query, calls=calls, lateness="1 second", batch_rows=500)

    db = duckdb.connect(config={"threads": 1})
    db.register("records", calls.drop_columns("ts"))
    db.register("given", answers)
    last = db.sql("SELECT max(timestamp) - 1000 FROM records").fetchall()[0][0]
    first = round(BEGIN.timestamp() * 1000) + 10_000
    db.execute(f"CREATE TABLE ends AS SELECT unnest(range({first}, {last + 1}, 10000)) AS w")
    db.execute("CREATE VIEW windows AS FROM ends JOIN records ON timestamp >= w - 86400000 AND timestamp < w")
    select = query.partition(" FROM ")[0].removeprefix("SELECT ")
    db.execute(f"CREATE TABLE wanted AS SELECT w, {select} FROM windows GROUP BY w, direction")
    db.execute("CREATE TABLE found AS SELECT epoch_ms(window_end), * EXCLUDE (window_start, window_end) FROM given")
    assert db.sql("SELECT count(*), count(DISTINCT w) FROM wanted").fetchall() == [(3 * 8_641, 8_641)]
    assert db.sql("(FROM wanted EXCEPT ALL FROM found) UNION ALL (FROM found EXCEPT ALL FROM wanted)").fetchall() == []
