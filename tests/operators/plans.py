"""Random plans over changes, each with the SQL that says the same without windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import strategies as st

from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.changes import (
    Column,
    Computed,
    Distinct,
    Group,
    Intersect,
    Measure,
    Minus,
    Node,
    Project,
    Scan,
    Select,
    Union,
)
from windrow.plan.nodes.joins import Join, TableJoin

COLUMNS = (Column("k", pa.int64()), Column("v", pa.float64()), Column("s", pa.string()))
SCHEMA = pa.schema([(column.name, column.type) for column in COLUMNS])
TABLE = pa.table({"tk": pa.array([1, 1, 2, None]), "tv": [1.0, 2.0, float("nan"), 4.0]})
PREDICATES = ("v > 1", "k = 1 OR s IS NULL", "v <= 2 AND k IS NOT NULL", "s = 'a'")
RANGES = (2, 3, 7)
INT, REAL, TEXT = pa.int64(), pa.float64(), pa.string()


@dataclass(frozen=True)
class Case:
    """A plan with the columns k, v and s, and a query with these and the instant t."""

    plan: Node
    sql: str


def projected(plan: Node, k: str, v: str, s: str) -> Node:
    return Project(plan, (Computed("k", k, INT), Computed("v", v, REAL), Computed("s", s, TEXT)))


def renamed(plan: Node) -> Node:
    return Project(plan, (Computed("k2", "k", INT), Computed("v2", "v", REAL), Computed("s2", "s", TEXT)))


def scan(stream: str, range_us: int) -> Case:
    return Case(
        Scan(stream, COLUMNS, range_us),
        f"SELECT t, k, v, s FROM instants JOIN {stream} ON ts > t - {range_us} AND ts <= t",
    )


def select(case: Case, predicate: str) -> Case:
    return Case(Select(case.plan, predicate), f"SELECT * FROM ({case.sql}) WHERE {predicate}")


def project(case: Case, v: str) -> Case:
    return Case(projected(case.plan, "k", v, "s"), f"SELECT t, k, {v} AS v, s FROM ({case.sql})")


def distinct(case: Case) -> Case:
    return Case(Distinct(case.plan), f"SELECT DISTINCT * FROM ({case.sql})")


def combined(kind: type, word: str, left: Case, right: Case, every: bool) -> Case:
    text = f"({left.sql}) {word}{' ALL' if every else ''} ({right.sql})"
    return Case(kind(left.plan, right.plan, every), f"SELECT * FROM ({text})")


def grouped(case: Case, function: str, keyed: bool) -> Case:
    counted = aggregate(function, "v", REAL) if function != "COUNT" else ROWS
    measures = (Measure("f", counted), Measure("m", aggregate("MIN", "s", TEXT)))
    plan = Group(case.plan, ("k",) if keyed else (), measures)
    key = "k" if keyed else "CAST(NULL AS BIGINT)"
    called = f"{function}(v)" if function != "COUNT" else "COUNT(*)"
    columns = f"t, {key} AS k, CAST({called} AS DOUBLE) AS v, MIN(s) AS s"
    sql = f"SELECT {columns} FROM ({case.sql}) GROUP BY t{', k' if keyed else ''}"
    return Case(projected(plan, key, "CAST(f AS DOUBLE)", "m"), sql)


def join(left: Case, right: Case, kind: str, residual: str | None, by: str = "=") -> Case:
    """A join by k, by k with NULL equal to NULL, or by nothing."""
    on = (("k", "k2"),) if by else ()
    plan = Join(left.plan, renamed(right.plan), on, kind, residual, (0,) if by == "<=>" else ())
    equal = {"=": " AND k = k2", "<=>": " AND k IS NOT DISTINCT FROM k2", "": ""}[by]
    condition = f"t = t2{equal}{f' AND {residual}' if residual else ''}"
    other = f"SELECT t AS t2, k AS k2, v AS v2, s AS s2 FROM ({right.sql})"
    if kind in ("semi", "anti"):
        word = "" if kind == "semi" else "NOT "
        exists = f"{word}EXISTS (SELECT 1 FROM ({other}) WHERE {condition})"
        return Case(plan, f"SELECT t, k, v, s FROM ({left.sql}) WHERE {exists}")
    sql = f"SELECT coalesce(t, t2) AS t, k, v2 AS v, s FROM ({left.sql}) {kind} JOIN ({other}) ON {condition}"
    return Case(projected(plan, "k", "v2", "s"), sql)


def table_join(case: Case, kind: str, residual: str | None) -> Case:
    read = (Column("tk", INT), Column("tv", REAL))
    plan = TableJoin(case.plan, "facts", read, (("k", "tk"),), kind, residual)
    extra = f" AND {residual}" if residual else ""
    if kind in ("semi", "anti"):
        exists = f"{'' if kind == 'semi' else 'NOT '}EXISTS (SELECT 1 FROM facts WHERE k = tk{extra})"
        return Case(plan, f"SELECT t, k, v, s FROM ({case.sql}) WHERE {exists}")
    sql = f"SELECT t, k, tv AS v, s FROM ({case.sql}) {kind} JOIN facts ON k = tk{extra}"
    return Case(projected(plan, "k", "tv", "s"), sql)


FUNCTIONS = ("SUM", "COUNT", "MIN", "MAX", "AVG")
SETS = {"union": Union, "except": Minus, "intersect": Intersect}


JOINS = ("inner", "left", "right", "full", "semi", "anti")
KINDS = ("select", "project", "distinct", "group", "aggregate", "table", "union", "except", "intersect", *JOINS)


@st.composite
def cases(draw, depth: int = 4, kind: str | None = None) -> Case:
    """A plan of at most this depth, whose root is of this kind."""
    kind = kind or (draw(st.sampled_from((*KINDS, "scan"))) if depth else "scan")
    if kind == "scan":
        return scan(draw(st.sampled_from(["a", "b"])), draw(st.sampled_from(RANGES)))
    child = draw(cases(depth - 1))
    match kind:
        case "select":
            return select(child, draw(st.sampled_from(PREDICATES)))
        case "project":
            return project(child, draw(st.sampled_from(["v + 1", "v * 2"])))
        case "distinct":
            return distinct(child)
        case "group" | "aggregate":
            return grouped(child, draw(st.sampled_from(FUNCTIONS)), kind == "group")
        case "table":
            residual = draw(st.sampled_from([None, "v < tv"]))
            return table_join(child, draw(st.sampled_from(["inner", "left", "semi", "anti"])), residual)
    other = draw(cases(draw(st.integers(0, depth - 1))))
    if kind in SETS:
        return combined(SETS[kind], kind, child, other, draw(st.booleans()))
    return join(
        child, other, kind, draw(st.sampled_from([None, "v < v2"])), draw(st.sampled_from(["=", "=", "<=>", ""]))
    )


Event = tuple[int, Any, Any, Any]


def streams(most: int = 12) -> st.SearchStrategy[dict[str, list[Event]]]:
    """Two streams with ties, gaps, duplicates, NULL and NaN."""
    value = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 3.0]), st.sampled_from([None, float("nan")]))
    event = st.tuples(
        st.integers(0, 15), st.sampled_from([1, 1, 2, None]), value, st.sampled_from(["a", "a", "b", None])
    )
    events = st.lists(event, min_size=3, max_size=most).map(lambda rows: sorted(rows, key=lambda row: row[0]))
    return st.fixed_dictionaries({"a": events, "b": events})


def instants_of(events: dict[str, list[Event]]) -> list[int]:
    """Every instant at which anything may change, and the one just before the first."""
    times = {row[0] for rows in events.values() for row in rows}
    return sorted({-1} | times | {time + reach for time in times for reach in RANGES})


def table_of(rows: list[Event]) -> pa.Table:
    names = ("ts", "k", "v", "s")
    types = (INT, INT, REAL, TEXT)
    return pa.table(
        {name: pa.array([row[i] for row in rows], type) for i, (name, type) in enumerate(zip(names, types))}
    )


def shown(row: tuple) -> tuple:
    """A row whose NaN is equal to itself."""
    return tuple("NaN" if value != value else value for value in row)


def expected(case: Case, events: dict[str, list[Event]], instants: list[int] | None = None) -> dict[int, list[tuple]]:
    """What DuckDB answers at `instants`, or at every one at which anything may change."""
    with duckdb.connect() as connection:
        for name, rows in events.items():
            connection.register(name, table_of(rows))
        connection.register("facts", TABLE)
        instants = instants_of(events) if instants is None else instants
        connection.register("instants", pa.table({"t": pa.array(instants, INT)}))
        answers: dict[int, list[tuple]] = {instant: [] for instant in instants}
        for t, *row in connection.execute(f"SELECT t, k, v, s FROM ({case.sql})").fetchall():
            answers[t].append(shown(tuple(row)))
    return answers
