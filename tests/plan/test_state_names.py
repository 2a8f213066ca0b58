"""Names of state, word for word. One that has changed has lost the state of every checkpoint: change VERSIONS instead,
and only where the bytes have changed."""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass, replace

import pyarrow as pa
import pytest

from windrow.kernels.choose import WITHOUT_TYPE
from windrow.plan.change_names import VERSIONS as STEPS
from windrow.plan.change_names import asked_text, node_name, node_text, part_name
from windrow.plan.name_parts import type_text
from windrow.plan.nodes.aggregate_rules import AGGREGATE_RULES, PAIRS
from windrow.plan.nodes.aggregates import (
    FILLED,
    HELD,
    REVERSIBLE,
    ROWS,
    USERS,
    FilledPartial,
    Partial,
    SizedPartial,
    aggregate,
)
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import (
    Apply,
    ClusterGroup,
    Column,
    Computed,
    Distinct,
    Expire,
    Group,
    Intersect,
    Measure,
    Minus,
    Project,
    Ranked,
    Scan,
    Select,
    Single,
    SortKey,
    Stamp,
    Union,
    WindowEdge,
)
from windrow.plan.nodes.clusters import HULL, ClusterPartial, cluster_answer
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Between, Join, TableJoin
from windrow.plan.nodes.kept import FROM_VALUES
from windrow.plan.nodes.ordering import Ordering
from windrow.plan.nodes.query_plan import Output, QueryPlan
from windrow.plan.nodes.regrouped import Regrouped, StageEnd
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import Fold, Key, RowSpace, Space
from windrow.plan.state_names import VERSIONS, answer_text, compared_text, need_text, partial_text
from windrow.plan.window_names import window_text
from windrow.plan.windows.early import early_of
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.parts import nested_window
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import nested_rows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow

S = 1_000_000
MINUTE = TimeWindow(60 * S, 5 * S)
SYMBOL = Key("symbol", pa.string())
PRICE = Partial("float_sum", "price", pa.float64())
MOST = aggregate("MAX", "price", pa.float64(), filter="volume > 0")

TYPES = {
    pa.int32(): "int",
    pa.large_string(): "string",
    pa.decimal128(12, 2): "decimal(12,2)",
    pa.timestamp("us", tz="UTC"): "timestamp",
    pa.timestamp("us"): "timestamp_ntz",
    pa.date32(): "date",
    pa.duration("us"): "interval day to second",
    pa.list_(pa.field("element", pa.float64(), nullable=False)): "array<double>",
    pa.map_(pa.string(), pa.int64()): "map<string, bigint>",
    pa.struct([("a, b", pa.bool_())]): "struct<`a, b`: boolean>",
}
PARTIALS = {
    ROWS.partial: "count/1(*)",
    PRICE: "float_sum/1(price double)",
    MOST.partial: "max/1(price double) where volume > 0",
    Partial("first", "price", pa.float64(), ignore_nulls=True): "first/1(price double) ignoring nulls",
    Partial("user", "price", pa.float64(), user="my mean"): "user/1 `my mean`(price double)",
    SizedPartial("top", "price", pa.float64(), size=3): "top/1(price double) size 3",
    FilledPartial("filled_moments", "p", pa.float64(), step_us=2 * S): "filled_moments/1(p double) each 2 s",
    ClusterPartial("clustering", algorithm="C_BIRCH", parameters=(0.5, 3, "x"), coordinates=("x", "y"), movable=True): (
        "clustering/1 C_BIRCH(0.5, 3, 'x') of (x, y)"
    ),
    ClusterPartial("clustering", algorithm="DBSCAN", coordinates=("x", "y"), attached=(HULL.partial, PRICE)): (
        "clustering/1 DBSCAN() of (x, y) with hull/1(*) with float_sum/1(price double)"
    ),
}
WINDOWS = {
    MINUTE: "[range 60 s slide 5 s]",
    TimeWindow(1500, 7, 3): "[range 1500 us slide 7 us offset 3 us]",
    TimeWindow(None, S): "[range unbounded slide 1 s]",
    TimeWindow(60 * S, 5 * S, every_us=S): "[range 60 s slide 5 s every 1 s]",
    early_of(TimeWindow(60 * S, 5 * S, every_us=S)): "[early range 60 s slide 5 s every 1 s]",
    nested_window(Levels.of([(4 * S, S), (8 * S, 2 * S)]), (0.5, 1.0)): (
        "[levels [range 4 s slide 1 s] [range 8 s slide 2 s] aging 0.5, 1.0]"
    ),
    CountWindow(rows=100, slide_rows=10): "[rows 100 slide 10 rows]",
    CountWindow(range_us=S, slide_rows=10, counted="x > 0"): "[range 1 s slide 10 rows counting x > 0]",
    CountWindow(rows=9, slide_us=S, offset_us=2, partition=("k", "j")): (
        "[rows 9 slide 1 s offset 2 us partition by k, j]"
    ),
    CountWindow(slide_rows=10): "[unbounded slide 10 rows]",
    nested_rows([CountWindow(rows=10, slide_rows=1), CountWindow(rows=100, slide_rows=10)]): (
        "[levels [rows 10 slide 1 rows] [rows 100 slide 10 rows]]"
    ),
    PredicateWindow(opens="a > 0", closes="a < 0", every_us=S, partition=("k",)): (
        "[from a > 0 to a < 0 every 1 s partition by k]"
    ),
    SessionWindow(gap_us=90 * S, counted="x > 0", partition=("k",)): "[session gap 90 s counting x > 0 partition by k]",
}


def fold(window: TimeWindow, *ways: str) -> Fold:
    return Fold(window, (ROWS.partial, PRICE), ways or ("subtract", "subtract"))


SPACES = {
    Space("ticks", None, (), (fold(MINUTE),)): ("panes/1 of ticks", "c4ef453fca4c3381"),
    Space("ticks", "volume > 0", (SYMBOL,), (fold(MINUTE),)): (
        "panes/1 of ticks where volume > 0 by symbol string",
        "0e04402d62a323b1",
    ),
    Space("my ticks", None, (SYMBOL,), (fold(TimeWindow(None, S)),)): (
        "totals/1 of `my ticks` by symbol string",
        "9cca6f8685d12ffc",
    ),
    RowSpace("ticks", CountWindow(rows=9, slide_rows=3), None, (SYMBOL,), (ROWS.partial, PRICE), ("tree", "tree")): (
        "rows/1 of [rows 9 slide 3 rows] ticks by symbol string keeping count/1(*); float_sum/1(price double)",
        "1246aec3a9624c7e",
    ),
    RowSpace(
        "ticks",
        CountWindow(rows=9, slide_rows=3, partition=("symbol",)),
        None,
        (SYMBOL,),
        (ROWS.partial, ClusterPartial("clustering", algorithm="DBSCAN", parameters=(2.0, 3), coordinates=("price",))),
        ("tree", "tree"),
    ): (
        "points/1 of [rows 9 slide 3 rows partition by symbol] ticks by symbol string"
        " keeping count/1(*); clustering/1 DBSCAN(2.0, 3) of (price)",
        "a91da1675a126e59",
    ),
    RowPanes(
        "ticks",
        CountWindow(counted="x > 0"),
        None,
        (SYMBOL,),
        (ROWS.partial, PRICE),
        (),
        None,
        (fold(TimeWindow(9, 3)),),
    ): ("row panes/1 of ticks by symbol string counting x > 0", "00d90ad85e82e05d"),
    RowSpace("ticks", PredicateWindow(opens="a", closes="b"), None, (), (ROWS.partial,), ("accumulate",)): (
        "opened windows/1 of [from a to b] ticks keeping count/1(*)",
        "72d26ceb12e0b62c",
    ),
    RowSpace("ticks", SessionWindow(gap_us=S), None, (), (ROWS.partial,), ("accumulate",)): (
        "sessions/1 of [session gap 1 s] ticks keeping count/1(*)",
        "60fab85b036a3295",
    ),
}
SALES = Scan("sales", (Column("k", pa.int64()), Column("x", pa.float64())), 60 * S, ("k", "x"), "x > 0")
RIGHT = Scan("my names", (Column("j", pa.int64()),), None, ("j",))
SCAN = "scan/1 sales (k bigint, x double: k, x) range 60 s where x > 0"
NODES = {
    SALES: SCAN,
    RIGHT: "scan/1 `my names` (j bigint: j) for ever",
    Expire(SALES): f"expire/1({SCAN})",
    Select(SALES, "x > 2"): f"select/1 x > 2({SCAN})",
    EachGrouping(SALES, ("x", "k"), ((0, 1), (1,), ())): f"each grouping/1 x, k: (x, k), (k), ()({SCAN})",
    Project(SALES, (Computed("a b", "x + 1", pa.float64()),)): f"project/1 `a b` double: x + 1({SCAN})",
    Distinct(SALES): f"distinct/1({SCAN})",
    Distinct(SALES, renewing=True): f"distinct/1 renewing({SCAN})",
    Group(SALES, ("k",), (Measure("m", MOST),)): (
        f"group/1 by k; m: MAX double from max/1(price double) where volume > 0({SCAN})"
    ),
    Group(SALES, (), (Measure("n", ROWS),)): f"group/1 by nothing; n: COUNT bigint from count/1(*)({SCAN})",
    ClusterGroup(
        SALES,
        ("k",),
        (Measure("c", cluster_answer("CID")),),
        clusters=ClusterPartial("clustering", algorithm="DBSCAN", parameters=(2.0, 3), coordinates=("price",)),
    ): f"clusters/1 by k; c: CID bigint from cluster/1(*) of clustering/1 DBSCAN(2.0, 3) of (price)({SCAN})",
    Stamp(SALES, 5 * S, 0, (WindowEdge("begin", 60 * S), WindowEdge("end", 0), WindowEdge("none", None))): (
        f"stamp/1 every 5 s offset 0 s with begin: 60 s, end: 0 s, none: null({SCAN})"
    ),
    Union(SALES, SALES, all=True): f"union/1 all({SCAN}; {SCAN})",
    Minus(SALES, SALES): f"minus/1({SCAN}; {SCAN})",
    Intersect(SALES, SALES): f"intersect/1({SCAN}; {SCAN})",
    Join(SALES, RIGHT, (("k", "j"),), "left", "x > 3"): (
        f"join/1 left on k = j where x > 3({SCAN}; scan/1 `my names` (j bigint: j) for ever)"
    ),
    Join(SALES, RIGHT, (), "full", None, (), Between("k", "j", -5 * S, None, 6 * S, None), True): (
        "join/1 full on nothing between k - j from -5 s to any waits 6 s, any final"
        f"({SCAN}; scan/1 `my names` (j bigint: j) for ever)"
    ),
    Apply(SALES, "hits", (("key", "k"), ("x", "x")), ("k",), (Column("far", pa.float64()),), True): (
        f"apply/1 hits (key: k, x: x) by k to (far double)({SCAN})"
    ),
    Single(SALES, "n", "v"): f"single/1 v by n({SCAN})",
    Ranked(SALES, ("k",), (SortKey("x", True, False),), "rank", 3, "r"): (
        f"ranked/1 rank first 3 by k in order of x desc nulls last as r({SCAN})"
    ),
    TableJoin(SALES, "t:names", (Column("t_k", pa.int64()),), (("k", "t_k"),)): (
        f"table join/1 `t:names` (t_k bigint) inner on k = t_k({SCAN})"
    ),
    StageEnd(SALES, "abc"): f"part/1 for abc({SCAN})",
    StageEnd(SALES, "abc", spread_by_all=True): f"part/1 for abc spread by all columns that do({SCAN})",
    Regrouped("abc", (Column("k", pa.int64()),)): "regrouped/1 abc (k bigint)",
}
QUERY = QueryPlan(
    "q 1", "ticks", MINUTE, "volume > 0", (SYMBOL,), (MOST,), (Output("most", "agg_0"),), "agg_0 > 1",
    (Ordering("most", True, False),), 3,
)  # fmt: skip
CHANGES = ChangePlan("pairs", ("sales",), Distinct(SALES), "CHANGES", 5 * S, 1)


@pytest.mark.parametrize(("type", "text"), TYPES.items())
def test_types(type: pa.DataType, text: str):
    assert type_text(type) == text


@pytest.mark.parametrize(("partial", "text"), PARTIALS.items(), ids=list(PARTIALS.values()))
def test_partials(partial: Partial, text: str):
    assert partial_text(partial) == text


@pytest.mark.parametrize(("window", "text"), WINDOWS.items(), ids=list(WINDOWS.values()))
def test_windows(window: TimeWindow | CountWindow, text: str):
    assert window_text(window) == text


@pytest.mark.parametrize(("space", "golden"), SPACES.items(), ids=[text for text, _ in SPACES.values()])
def test_spaces(space: Space | RowSpace, golden: tuple[str, str]):
    assert (space.held, space.name) == golden


@pytest.mark.parametrize(("node", "text"), NODES.items(), ids=[text.split("(")[0] for text in NODES.values()])
def test_steps_over_changes(node, text: str):
    assert node_text(node) == text


def test_keys_of_the_store():
    rows = [space for space in SPACES if isinstance(space, RowSpace)]
    names = {
        "a partial's columns": PRICE.name,
        "a step": node_name(Distinct(SALES)),
        "a part": part_name(StageEnd(SALES, "abc")),
        "a query over changes": CHANGES.asked,
        "what a query needs": QUERY.need,
        "what is compared": QUERY.compared,
        "an answer": QUERY.answer_name,
        "an answer of changes": CHANGES.answer_name,
        "where rows are": rows[0].place,
    }
    assert names == GOLDEN


GOLDEN = {
    "a partial's columns": "91205364",
    "a step": "changes.9af13614cc409758",
    "a part": "24b3fb5aaac55331",
    "a query over changes": "20f57f2a0f282c6b",
    "what a query needs": "f5408287e45c48a4",
    "what is compared": "62e2c6ce56f0c7d1",
    "an answer": "7eaf1b620ebce92f",
    "an answer of changes": "de81a7c22abf61be",
    "where rows are": "0451d7b628abc7c1",
}


def test_texts_of_queries():
    rows = "ticks where volume > 0 by symbol string"
    drawn = "MAX double from max/1(price double) where volume > 0"
    assert need_text(QUERY) == "[range 60 s slide 5 s] of count/1(*); max/1(price double) where volume > 0"
    assert compared_text(QUERY) == f"last answer/1 of [range 60 s slide 5 s] {rows}: {drawn}"
    assert answer_text(QUERY) == (
        f"`q 1`: {compared_text(QUERY)}; SNAPSHOT agg_0 as most having agg_0 > 1 order most desc nulls last limit 3"
    )
    assert asked_text(CHANGES) == f"answer/1 CHANGES every 5 s offset 1 us of distinct/1({SCAN})"


NUMBERS = pa.struct([("y", pa.int64()), ("x", pa.int64())])
OF = (
    dict.fromkeys(AGGREGATE_RULES, pa.int64())
    | dict.fromkeys(PAIRS, NUMBERS)
    | {"BOOL_AND": pa.bool_(), "BOOL_OR": pa.bool_()}
)
OF |= {"STRING_AGG": pa.string()} | dict.fromkeys(FILLED, pa.struct([("y", pa.int64()), ("x", pa.timestamp("us"))]))
"""A type that each aggregate takes."""


def test_every_kind_of_partial_and_step_has_a_version():
    kinds = {*WITHOUT_TYPE, *HELD, *REVERSIBLE, *USERS, *FROM_VALUES, "pair_moments", "filled_moments", "clustering"}
    kinds |= {AGGREGATE_RULES[name](OF[name])[0] for name in AGGREGATE_RULES}
    assert kinds | {partial.kind for partial in PARTIALS} <= VERSIONS.keys()
    assert {text.split("/")[0] for text in NODES.values()} | {"answer"} == STEPS.keys()
    with pytest.raises(KeyError):
        partial_text(Partial("unheard of"))


def renamed(value):
    """The same value, of a class with another name, which prints otherwise and has one more field with a default."""
    cls = type(value)
    more = make_dataclass(
        f"Renamed{cls.__name__}", [("novelty", int, 7)], bases=(cls,), frozen=True, kw_only=True
    )  # fmt: skip
    other = more(**{field.name: getattr(value, field.name) for field in fields(value)})
    assert repr(other) != repr(value) and "novelty" in repr(other)
    return other


@pytest.mark.parametrize(
    "value", [*PARTIALS, *WINDOWS, *SPACES, *NODES, QUERY, CHANGES], ids=lambda v: type(v).__name__
)
def test_another_name_of_a_class_and_one_more_field_change_no_name(value):
    def names(of) -> list[str]:
        if isinstance(of, Partial):
            return [of.name, Space("t", None, (), (Fold(MINUTE, (of,), ("refold",)),)).partials[0].name]
        if isinstance(of, TimeWindow | CountWindow):
            return [window_text(of)]
        if isinstance(of, Space | RowSpace):
            return [of.name, of.place, replace(of, stream="t").name]
        if isinstance(of, QueryPlan):
            return [of.need, of.compared, of.answer_name]
        if isinstance(of, ChangePlan):
            return [of.asked, of.answer_name]
        return [node_name(of), node_name(Distinct(of)), part_name(StageEnd(of, "q"))]

    assert names(renamed(value)) == names(value)


def test_deep_inside_too():
    @dataclass(frozen=True, slots=True)
    class Grouping(Key):
        novelty: int = 1

    keys = (Grouping("symbol", pa.string()),)
    window, partials = renamed(MINUTE), (renamed(ROWS.partial), renamed(PRICE))
    space = Space("ticks", "volume > 0", keys, (Fold(window, partials, ("tree", "tree")),))
    assert space.name == Space("ticks", "volume > 0", (SYMBOL,), (fold(MINUTE),)).name
    scan = renamed(SALES)
    assert node_name(Distinct(Expire(scan))) == node_name(Distinct(Expire(SALES)))


def test_no_choice_of_the_optimizer_is_in_a_name():
    space = next(space for space in SPACES if isinstance(space, Space) and space.keys)
    others = [
        replace(space, folds=(fold(MINUTE, "tree", "refold"),)),
        replace(space, folds=(fold(MINUTE), fold(TimeWindow(9, 3)))),
        replace(space, folds=(fold(replace(MINUTE, about=True)),)),
        replace(space, keeps="rows"),
    ]
    assert {other.name for other in others} == {space.name}
    rows = next(space for space in SPACES if isinstance(space, RowSpace))
    other = replace(rows, maintenance=("subtract", "refold"))
    assert (other.name, other.place) == (rows.name, rows.place)
    assert node_name(Expire(SALES, "scan")) == node_name(Expire(SALES, "operator"))
    rounded = replace(QUERY, window=replace(MINUTE, about=True), about_us=5_100_000)
    assert (rounded.need, rounded.compared, rounded.answer_name) == (QUERY.need, QUERY.compared, QUERY.answer_name)


def test_what_differs_has_another_name():
    everything = [*PARTIALS.values(), *WINDOWS.values(), *(text for text, _ in SPACES.values()), *NODES.values()]
    assert len({*everything}) == len(everything)
    odd = [("t where x", None), ("t", "x"), ("t", "`x` by y"), ("`t`", None)]
    names = {Space(stream, where, (), (fold(MINUTE),)).name for stream, where in odd}
    assert len(names) == len(odd)


def test_a_change_of_bytes_changes_the_name_on_purpose(monkeypatch: pytest.MonkeyPatch):
    before = Space("ticks", None, (), (fold(MINUTE),)).name
    monkeypatch.setitem(VERSIONS, "panes", 2)
    assert Space("ticks", None, (), (fold(MINUTE),)).name != before
    monkeypatch.setitem(VERSIONS, "float_sum", 2)
    assert partial_text(PRICE) == "float_sum/2(price double)"
