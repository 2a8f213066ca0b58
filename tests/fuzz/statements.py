"""Random statements: right ones, taken apart and put together wrong, and expressions of any nesting."""

from __future__ import annotations

import random
from collections.abc import Iterator

from language.clauses_of_sql import EXPRESSIONS, STATEMENTS

SEEDS = [
    "SELECT k, SUM(i) AS s FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] WHERE i > 1 GROUP BY k HAVING COUNT(*) > 0 ORDER BY s DESC LIMIT 3",
    "SELECT MAX(a) AS m FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] AS t(ts, a, x, k, xs) GROUP BY k EMIT CHANGES",
    "SELECT COUNT(*) FILTER (WHERE i > 1) AS n, FIRST(i) IGNORE NULLS AS f, COUNT(DISTINCT k) AS d FROM ev [ROWS 2 SLIDE 1]",
    "WITH q(a, b) AS (SELECT k, i + 1 FROM ev WHERE x > 1) SELECT a, SUM(b) AS s FROM q [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY a",
    "SELECT n * 2 AS m FROM (SELECT k, COUNT(*) AS n FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k) AS q WHERE n > 0 ORDER BY n LIMIT 2",
    "SELECT k, COUNT(*) AS n FROM ev [PARTITION BY k ROWS 9 SLIDE 3 SECONDS OFFSET 1 SECOND]",
    "SELECT AVG(x) AS n FROM ev [RANGE UNBOUNDED SLIDE 3 SECONDS EMIT EVERY 1 SECOND]",
    "SELECT COUNT(*) AS n FROM ev [RANGES 8 SECONDS, 4 SECONDS SLIDES 2 SECONDS, 1 SECOND AGING (1, 0.5)]",
    "SELECT k, RECURRING(k) AS again FROM ev [RANGES 8 SECONDS, 4 SECONDS SLIDES 2 SECONDS, 1 SECOND] GROUP BY k",
    "SELECT LAST(x) AS n FROM ev [PARTITION BY k FROM i > 1 UNTIL i < 3 EMIT EVERY 1 SECOND]",
    "SELECT k, SUM(i) AS n FROM ev [PARTITION BY k SESSION 3 SECONDS] WHERE x > 1 GROUP BY i",
    "SELECT c, CENTER(c) AS m FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x, i AS c USING K_MEANS(2)",
    "SELECT DISTINCT k, i FROM ev [RANGE 9 SECONDS] EMIT INSERTS",
    "SELECT a.k, b.i FROM ev [RANGE 9 SECONDS] AS a JOIN ev [RANGE 2 SECONDS] AS b ON a.k = b.k AND a.i < b.i WHERE a.x > 1",
    "SELECT k, name, x FROM ev [RANGE 9 SECONDS] AS a LEFT JOIN t USING (k)",
    "SELECT k, MEDIAN(x) AS n FROM ev [RANGE 9 SECONDS] GROUP BY k HAVING COUNT(*) > 1",
    "SELECT k FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] UNION ALL SELECT k FROM ev [RANGE 3 SECONDS SLIDE 3 SECONDS]",
    "SELECT k FROM ev MINUS SELECT name FROM ev, t WHERE ev.k = t.k WINDOW 9 SECONDS",
    "SELECT COLLECT_LIST(i) AS l FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k ORDER BY l LIMIT 2",
]
WORDS = [
    *(
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "*",
        "+",
        "-",
        "/",
        "=",
        "<",
        "||",
        "::",
        "->",
        ";",
        "'",
        "`",
        "'a'",
        "1",
        "0",
        "-1",
        "1e400",
    ),
    *(
        "99999999999999999999",
        "0.5",
        "1e",
        "NULL",
        "TRUE",
        "NaN",
        "i",
        "x",
        "k",
        "ts",
        "xs",
        "ev",
        "t",
        "q",
        "window_end",
        "nothing",
    ),
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "HAVING",
        "ORDER BY",
        "LIMIT",
        "WITH",
        "AS",
        "JOIN",
        "ON",
        "USING",
        "UNION",
        "ALL",
        "DISTINCT",
    ),
    *(
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS",
        "BETWEEN",
        "LIKE",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST",
        "INTERVAL",
        "FILTER",
        "OVER",
    ),
    *(
        "RANGE",
        "ROWS",
        "SLIDE",
        "SLIDES",
        "RANGES",
        "ABOUT",
        "OFFSET",
        "EMIT",
        "EVERY",
        "CHANGES",
        "AGING",
        "PARTITION BY",
        "UNBOUNDED",
    ),
    *(
        "WINDOW",
        "CLUSTER BY",
        "SECONDS",
        "MONTHS",
        "SUM",
        "COUNT",
        "MAX",
        "QUANTILE",
        "FIRST",
        "IGNORE NULLS",
        "STRUCT",
        "ARRAY",
        "DATE",
    ),
    *(
        "DECIMAL(40, 2)",
        "TABLESAMPLE",
        "LATERAL VIEW",
        "\ud800",
        "\x00",
        "é",
        "😀",
        "--",
        "/*",
        "*/",
        "@",
        "?",
        "{",
        "}",
        "$",
        "#",
    ),
]
LEAVES = [
    "i",
    "x",
    "k",
    "ts",
    "xs",
    "1",
    "0.5",
    "'a'",
    "NULL",
    "TRUE",
    "DATE '2020-01-01'",
    "INTERVAL 1 DAY",
    "-3",
    "1e3",
    "1000",
]
SHAPES = [
    *(
        "({} + {})",
        "({} - {})",
        "({} * {})",
        "({} / {})",
        "({} % {})",
        "({} || {})",
        "({} = {})",
        "({} < {})",
        "({} <=> {})",
    ),
    *(
        "({} AND {})",
        "({} OR {})",
        "NOT {}",
        "-{}",
        "({} IS NULL)",
        "({} IN ({}, {}))",
        "({} BETWEEN {} AND {})",
        "({} LIKE {})",
    ),
    *(
        "CASE WHEN {} THEN {} ELSE {} END",
        "CAST({} AS INT)",
        "CAST({} AS STRING)",
        "CAST({} AS DECIMAL(12, 3))",
        "{}::DATE",
        "ABS({})",
    ),
    *(
        "COALESCE({}, {})",
        "IF({}, {}, {})",
        "CONCAT({}, {})",
        "SUBSTRING({}, {}, {})",
        "ROUND({}, {})",
        "STRUCT({} AS a, {} AS b)",
    ),
    *(
        "DATE_TRUNC('day', {})",
        "YEAR({})",
        "LPAD({}, {}, {})",
        "TRANSFORM({}, v -> {})",
        "{}[0]",
        "{}.a",
        "NULLIF({}, {})",
        "POWER({}, {})",
    ),
    *(
        "REPEAT({}, {})",
        "GREATEST({}, {})",
        "EXTRACT(HOUR FROM {})",
        "({} RLIKE {})",
        "TRIM({})",
        "SPLIT({}, {})",
        "nothing({})",
    ),
]
CALLS = [
    "SUM({})",
    "AVG({})",
    "MIN({})",
    "COUNT({})",
    "STDDEV({})",
    "MEDIAN({})",
    "QUANTILE({}, 0.5)",
    "FIRST({})",
    "MODE({})",
    "BOOL_OR({})",
]
CALLS += [
    "COLLECT_LIST({})",
    "COUNT(DISTINCT {})",
    "REGR_SLOPE({}, {})",
    "MAX({}) FILTER (WHERE {})",
    "APPROX_QUANTILE({}, 0.9)",
    "MAD({})",
]
WINDOWS = [
    "[RANGE 9 SECONDS SLIDE 3 SECONDS]",
    "[RANGE 3 SECONDS]",
    "[ROWS 3 SLIDE 2]",
    "[RANGE UNBOUNDED SLIDE 5 SECONDS]",
]


def statements(seed: int, count: int) -> Iterator[str]:
    """So many statements, the same for the same seed."""
    chance = random.Random(seed)
    known = [*SEEDS, *SEEDS, *STATEMENTS]
    for _ in range(count):
        kind = chance.random()
        if kind < 0.35:
            yield generated(chance)
        else:
            yield mutated(chance, chance.choice(known), chance.choice(known))


def any_expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(LEAVES)
    if chance.random() < 0.05:
        return f"({chance.choice([item for line in EXPRESSIONS.splitlines() for item in line.split('¦') if item.strip()]).strip()})"
    shape = chance.choice(SHAPES)
    return shape.format(*(any_expression(chance, depth - 1) for _ in range(shape.count("{}"))))


def number(chance: random.Random, depth: int) -> str:
    """An expression that is a number, so that most of what is made of it is answered."""
    if depth == 0:
        return chance.choice(["i", "x", "1", "0.5", "-3", "NULL", "2147483647", "1e300", "LENGTH(k)", "CAST(k AS INT)"])
    shape = chance.choice(
        [*SHAPES[:5], "-{}", "ABS({})", "COALESCE({}, {})", "CAST({} AS BIGINT)", "IF({} > {}, {}, {})"]
    )
    return shape.format(*(number(chance, depth - 1) for _ in range(shape.count("{}"))))


def generated(chance: random.Random) -> str:
    """A query with expressions of any kind in every place."""
    deep = chance.choice([1, 2, 2, 3, 4])
    expression = chance.choice([number, any_expression])
    call = chance.choice(CALLS)
    selected = call.format(*(expression(chance, deep) for _ in range(call.count("{}"))))
    selected = chance.choice(["{}", "{}", "({} + 1)", "ABS({})", "COALESCE({}, 0)"]).format(selected)
    text = f"SELECT {selected} AS a FROM ev {chance.choice(WINDOWS)}"
    for clause in ("WHERE {} > 0", "GROUP BY {}", "HAVING COUNT(*) > {}", "ORDER BY a, {} LIMIT 3"):
        if chance.random() < 0.3:
            text += " " + clause.format(expression(chance, deep))
    return text


def mutated(chance: random.Random, text: str, other: str) -> str:
    """A statement with some of its words cut, doubled, exchanged, replaced, or taken from another one."""
    words = (
        text.replace("(", " ( ").replace(")", " ) ").replace("[", " [ ").replace("]", " ] ").replace(",", " , ").split()
    )
    for _ in range(chance.choice([0, 1, 1, 2, 3, 6])):
        at = chance.randrange(len(words)) if words else 0
        to = min(at + chance.randrange(1, 6), len(words))
        match chance.randrange(6):
            case 0:
                del words[at:to]
            case 1:
                words[at:at] = words[at:to]
            case 2:
                words[at:to] = reversed(words[at:to])
            case 3:
                words[at : at + 1] = [chance.choice(WORDS)]
            case 4:
                words.insert(at, chance.choice(WORDS))
            case _:
                others = other.split()
                begin = chance.randrange(len(others))
                words[at:to] = others[begin : begin + chance.randrange(1, 8)]
    whole = " ".join(words)
    return whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.05 else whole
