"""No clause that is read is left out: each is refused where it stands, or someone makes something of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

import windrow
from windrow.errors import QueryError, WindrowError
from windrow.language import Query, Windrow, parse_query, parse_script, to_sql
from windrow.language.clauses import CONSUMERS, EXPRESSION, REFUSED_WHOLE, consumers_of
from windrow.language.nodes import StreamWindow
from windrow.local.local_catalog import local_catalog
from windrow.plan.bind.bind import bind

from .clauses_of_sql import STATEMENTS

ROOT = Path(__file__).parents[2]


def texts_of_the_house() -> list[str]:
    """Every statement that stands as one text in a document, an example, or a test."""
    found = []
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        found += re.findall(r"^```sql\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
    found += [path.read_text() for place in ("examples", "src", "tests") for path in ROOT.glob(f"{place}/**/*.sql")]
    for path in [*ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/**/*.py"), *ROOT.glob("benchmarks/*.py")]:
        nodes = ast.walk(ast.parse(path.read_text()))
        constants = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        found += [text for text in constants if re.match(r"\s*(SELECT|WITH|CREATE|INSERT)\b", text)]
    return found


def trees() -> list[exp.Expr]:
    """The trees of all statements that are read, among those of the house and those that SQL has beside."""
    found = []
    for text in [*texts_of_the_house(), *STATEMENTS]:
        try:
            statements = parse_script(text)
        except QueryError:
            continue
        queries = [getattr(statement, "query", statement) for statement in statements]
        found += [query.tree for query in queries if isinstance(query, Query)]
    return found


def test_every_part_of_every_statement_that_is_read_has_someone_who_makes_something_of_it():
    seen = set()
    for tree in trees():
        for node in tree.walk(prune=lambda node: isinstance(node, REFUSED_WHOLE)):
            if isinstance(node, REFUSED_WHOLE):
                continue
            known = consumers_of(node)
            assert known is not None, repr(node)
            for key, value in node.args.items():
                assert not value or key in known, (key, repr(node))
                seen |= {(type(node), key)} if value else set()
    structural = {(kind, key) for kind, keys in CONSUMERS.items() for key, by in keys.items() if by != EXPRESSION}
    mro = {(above, key) for kind, key in seen for above in kind.__mro__}
    read_but_never_seen = {(kind.__name__, key) for kind, key in structural - mro}
    assert not read_but_never_seen


@pytest.mark.parametrize("consumer", sorted({by for keys in CONSUMERS.values() for by in keys.values()}))
def test_who_makes_something_of_a_clause_is_there(consumer):
    code = (ROOT / "src" / "windrow" / consumer).read_text()
    for kind, keys in CONSUMERS.items():
        for key in (key for key, by in keys.items() if by == consumer and by != EXPRESSION):
            ways = {key, key.rstrip("_"), f".{key}", "selects", "parts", "alias_or_name", "unnest", kind.__name__}
            assert any(name in code for name in ways), (kind, key)


# words that mean the same without them, or under another name
NOISE = {
    *("+", "==", "!=", "<=>", "::", "(", ")", "[", "]", ",", "ALL", "AS", "ASC", "ROWS", "INNER", "OUTER"),
    *(
        "ISNULL",
        "NOTNULL",
        "REGEXP",
        "SOME",
        "SAFE_CAST",
        "CONVERT",
        "VARCHAR",
        "L",
        "BD",
        "D",
        "S",
        "MINUS",
        "DISTINCT",
    ),
    *("TRIM", "TRAILING", "FROM", "FOR", "IN", "POSITION", "NAMED_STRUCT", "TRUE", "APPROX_PERCENTILE", "CHAR"),
    *("NULLS", "FIRST", "LAST"),  # where they are the default
}
LITERALS = {word: "FETCH FIRST 3 ROWS ONLY" for word in ("FETCH", "ONLY")}  # LIMIT 3
LITERALS |= {word: "a = ANY(SELECT 1)" for word in ("=", "ANY")}  # a IN (SELECT 1)
LITERALS |= {"3": "CAST(a AS VARCHAR(3))", "A": "'a' 'b'", "B": "'a' 'b'"}  # Spark has no length there; one string


def words(text: str) -> Counter[str]:
    return Counter(token.text.upper() for token in Windrow().tokenize(text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_clause_is_refused_with_its_place_or_written_again_as_it_was_read(text):
    try:
        query = parse_query(text)
    except QueryError as error:
        assert error.at is not None
        assert len(error.message) < 120 and "\n" not in error.message
        return
    again = to_sql(query)
    assert parse_query(again) == query
    for word in words(text) - words(again):
        assert word in NOISE or LITERALS.get(word, "?") in text, f"{word} is lost in {again}"


EVENTS = pa.table(
    {
        "ts": pa.array([1], pa.timestamp("s", tz="UTC")),
        "i": pa.array([1], pa.int32()),
        "x": [1.0],
        "y": [1.0],
        "k": ["a"],
    }
)
TABLE = pa.table({"k": ["a"], "name": ["b"]})
SLIDING, HELD = "[RANGE 9 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND]", "[RANGE 9 SECONDS]"
BOUND = [
    f"SELECT k, SUM(i) AS s FROM ev {SLIDING} AS t WHERE i > 1 GROUP BY k HAVING COUNT(*) > 2 ORDER BY s DESC NULLS FIRST, k LIMIT 3",
    f"SELECT b, MAX(a) AS m FROM ev {SLIDING} AS t(ts, b, a, y, k) GROUP BY b EMIT CHANGES",
    f"SELECT COUNT(*) FILTER (WHERE i > 1) AS n, FIRST(i) IGNORE NULLS AS f, COUNT(DISTINCT k) AS d FROM ev {SLIDING}",
    f"WITH q(a, b) AS (SELECT k, i + 1 FROM ev WHERE x > 1) SELECT a, SUM(b) AS s FROM q {SLIDING} GROUP BY a",
    f"SELECT n * 2 AS m FROM (SELECT k, COUNT(*) FROM ev {SLIDING} GROUP BY k) AS q(c, n) WHERE c = 'a' ORDER BY n LIMIT 2",
    "SELECT k, COUNT(*) AS n FROM ev [PARTITION BY k ROWS 9 SLIDE 3]",
    "SELECT COUNT(*) AS n FROM ev [ROWS 9 SLIDE 3 SECONDS OFFSET 1 SECOND]",
    "SELECT COUNT(*) AS n FROM ev [RANGE 9 SECONDS SLIDE 3 ROWS]",
    "SELECT COUNT(*) AS n FROM ev [RANGE UNBOUNDED SLIDE 3 SECONDS EMIT EVERY 1 SECOND]",
    "SELECT COUNT(*) AS n FROM ev [RANGE 9 SECONDS SLIDE ABOUT 3 SECONDS]",
    "SELECT COUNT(*) AS n FROM ev [RANGES 9 SECONDS, 4 SECONDS SLIDES 3 SECONDS, 1 SECOND AGING (1, 0.5)]",
    "SELECT COUNT(*) AS n FROM ev [PARTITION BY k FROM i > 1 UNTIL i < 0 EMIT EVERY 1 SECOND]",
    "SELECT COUNT(*) AS n FROM ev [PARTITION BY k SESSION 9 SECONDS EMIT EVERY 3 SECONDS]",
    f"SELECT CENTER(c) AS m FROM ev {SLIDING} CLUSTER BY x, y AS c USING K_MEANS(2)",
    f"SELECT DISTINCT k, i FROM ev {HELD} EMIT INSERTS",
    f"SELECT k, COUNT(*) AS n FROM ev {HELD} GROUP BY k EMIT LAST EVERY 2 SECONDS",
    f"SELECT k, COUNT(*) AS n FROM ev {HELD} GROUP BY k EMIT WHEN n > 1",
    f"SELECT COUNT(*) AS n FROM ev {HELD} EMIT CHANGES WITH EMPTY",
    f"SELECT a.k, b.i FROM ev {HELD} AS a JOIN ev [RANGE 2 SECONDS] AS b ON a.k = b.k AND a.i < b.i WHERE a.x > 1",
    f"SELECT k, name, x FROM ev {HELD} AS a LEFT JOIN t USING (k)",
    f"SELECT k, COUNT(*) AS n FROM ev {HELD} GROUP BY k HAVING COUNT(*) > 1",
    f"SELECT k FROM ev {HELD} UNION ALL SELECT k FROM ev [RANGE 2 SECONDS]",
    f"SELECT k FROM ev {HELD} EXCEPT SELECT k FROM ev [RANGE 2 SECONDS]",
    f"WITH q(a) AS (SELECT k FROM ev {HELD}) SELECT COUNT(a) AS n FROM q",
    "SELECT k FROM ev WINDOW 9 SECONDS",
]
UNSEEN = {
    (exp.TableAlias, "this"),
    (exp.Table, "alias"),
    (exp.Subquery, "alias"),
    (exp.Identifier, "quoted"),
    (StreamWindow, "rows"),  # so do the lengths in rows
    (exp.Ordered, "nulls_first"),  # deleted, it is false; both ways are tried below
}


def plan_of(tree: exp.Expr, text: str) -> object:
    """What is bound, or what is wrong."""
    plugged = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog({"ev": EVENTS}, {"t": TABLE}, **plugged)
    query = Query(tree, text)
    try:
        return bind(query, catalog)
    except (WindrowError, AttributeError, LookupError, TypeError, ValueError, ArithmeticError, AssertionError) as error:
        return type(error)  # without a part that has to be there


@pytest.mark.parametrize("text", BOUND)
def test_what_is_bound_changes_with_every_part_of_a_statement_that_is_taken_away(text):
    tree = parse_query(text).tree
    whole = plan_of(tree, text)
    assert not isinstance(whole, type), whole
    assert plan_of(tree.copy(), text) == whole
    for number, node in enumerate(tree.walk()):
        for key, value in node.args.items():
            unused = isinstance(node.parent, exp.TableAlias)  # a name that nobody uses changes nothing
            if not value or (type(node), key) in UNSEEN or unused or key == "big_int":  # sqlglot's, of every COUNT
                continue
            less = tree.copy()
            part = list(less.walk())[number]
            part.set(key, None if not isinstance(value, list) or len(value) == 1 else part.args[key][:-1])
            assert plan_of(less, text) != whole, f"{type(node).__name__}.{key} changes nothing in {text}"


@pytest.mark.parametrize("first", ["FIRST", "LAST"])
@pytest.mark.parametrize("way", ["ASC", "DESC"])
def test_where_nulls_stand_is_bound(way, first):
    text = f"SELECT k FROM ev {SLIDING} GROUP BY k ORDER BY k {way} NULLS {first}"
    assert plan_of(parse_query(text).tree, text).order[0].nulls_first == (first == "FIRST")


# text, what is underlined, a part of the message
REFUSED = [
    ("SELECT a FROM x.s", "x", "a name with dots is not part"),
    ("SELECT a FROM s TABLESAMPLE (10 PERCENT)", "10", "TABLESAMPLE"),
    ("SELECT COLLECT_LIST(a ORDER BY b) FROM s", "a", "ORDER BY in an aggregate"),
    (
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM s",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)",
        "WITHIN GROUP",
    ),
    ("SELECT a FROM s ORDER BY a FETCH FIRST 3 ROWS WITH TIES", "3", "FETCH ... WITH TIES"),
    ("SELECT a FROM s ORDER BY a FETCH FIRST 3 PERCENT ROWS ONLY", "3", "FETCH ... PERCENT"),
    ("SELECT DISTINCT ON (a) b FROM s", "a", "DISTINCT ON"),
    ("SELECT a AT TIME ZONE 'x' FROM s", "a AT TIME ZONE 'x'", "AT TIME ZONE"),
    ("WITH RECURSIVE q AS (SELECT a FROM s) SELECT a FROM q", "q AS (SELECT a FROM s", "RECURSIVE"),
    ("SELECT CAST(a AS UUID) FROM s", "CAST(a AS UUID)", "the type UUID"),
    ("SELECT explode(xs) FROM s", "explode(xs)", "EXPLODE makes several rows of one"),
    ("SELECT a FROM s UNION ALL BY NAME SELECT a FROM r", "a FROM s UNION ALL BY NAME SELECT a FROM r", "BY NAME"),
    ("SELECT a FROM (s JOIN r ON s.a = r.a)", "r ON s.a = r.a", "a join in brackets"),
]


@pytest.mark.parametrize(("text", "underlined", "message"), REFUSED)
def test_what_is_refused_is_named_and_underlined(text, underlined, message):
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert message in caught.value.message
    assert text[caught.value.at : caught.value.end] == underlined


@pytest.mark.parametrize("call", ["SUM(i) IGNORE NULLS", "COUNT(i) RESPECT NULLS", "MEDIAN(i) IGNORE NULLS"])
def test_ignore_nulls_is_for_those_that_have_it(call):
    text = f"SELECT {call} AS a FROM ev {SLIDING}"
    with pytest.raises(QueryError, match=r"cannot be told to (IGNORE|RESPECT) NULLS") as caught:
        windrow.replay(text, ev=EVENTS)
    assert text[caught.value.at : caught.value.end] == call


def test_a_query_in_brackets_keeps_its_names_and_gives_up_nothing():
    inner = f"SELECT k FROM ev {HELD}"
    text = f"WITH q AS ({inner}) (SELECT a FROM (WITH q AS ({inner} WHERE i > 1) SELECT k AS a FROM q) AS t)"
    query = parse_query(text)
    assert parse_query(to_sql(query)) == query
    plain = f"SELECT k AS a FROM ev {HELD} WHERE i > 1"
    events = pa.concat_tables([EVENTS, EVENTS.set_column(1, "i", pa.array([2], pa.int32()))])
    assert windrow.replay(text, ev=events).equals(windrow.replay(plain, ev=events))
    for clause in ("ORDER BY n", "ORDER BY n LIMIT 1"):
        with pytest.raises(QueryError, match="behind a query in brackets"):
            windrow.replay(f"(SELECT COUNT(*) AS n FROM ev {SLIDING}) {clause}", ev=EVENTS)
