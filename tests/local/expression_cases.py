"""The expressions that replay and Spark must agree on, by family, and the rows that they are tried on."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from decimal import Decimal

import pyarrow as pa

INF, NAN = float("inf"), float("nan")
UTC = dt.timezone.utc

POOLS: dict[str, tuple[pa.DataType, list]] = {
    "t": (pa.int8(), [None, -128, -1, 0, 1, 7, 127]),
    "s": (pa.int16(), [None, -32768, -3, 0, 2, 32767]),
    "i": (pa.int32(), [None, -(2**31), -25, -7, -1, 0, 1, 3, 4, 15, 2**31 - 1]),
    "j": (pa.int32(), [None, -(2**31), -3, -1, 0, 1, 2, 5, 2**31 - 1]),
    "l": (pa.int64(), [None, -(2**63), -(2**40), -10, -1, 0, 1, 12, 2**53 + 1, 2**63 - 1]),
    "k": (pa.int64(), [None, -(2**63), -3, -1, 0, 1, 2**32, 2**63 - 1]),
    "f": (pa.float32(), [None, NAN, INF, -INF, -0.0, 0.0, 0.1, 2.5, -1.25, 16777216.0, 3.4e38, 1e-5]),
    "d": (
        pa.float64(),
        [None, NAN, INF, -INF, -0.0, 0.0, 0.5, 1.5, 2.5, -2.5, 2.675, 1.005, 1e-5, 1e7, 123456.789, 1e17, -1e300, 0.1],
    ),
    "e": (pa.float64(), [None, NAN, INF, -INF, -0.0, 0.0, 1.0, -1.0, 2.0, 3.0, 0.3, -7.5, 1e308, 5e-324]),
    "m": (pa.decimal128(10, 2), [None, *map(Decimal, "0.00 1.50 -1.50 2.25 2.35 -0.05 99999999.99 -12345.67".split())]),
    "n": (
        pa.decimal128(38, 18),
        [None, *map(Decimal, "0 1 -3 0.000000000000000001 0.00000015 99999999999999999999.5 -1234567.890123456789".split())],
    ),
    "o": (pa.decimal128(5, 0), [None, *map(Decimal, "0 1 -1 7 99999 -15".split())]),
    "b": (pa.bool_(), [None, True, False]),
    "c": (pa.bool_(), [None, True, False]),
    "x": (
        pa.string(),
        [None, "", " ", "a", "abc", "  Abc ", "straße", "ΑΣ", "日本語", "a,b,,c", "😀x😀", "50%", "a_b", "a\\b", "x\ny", "xxyxx"],
    ),
    "y": (pa.string(), [None, "", "a", "b", "ß", "本", "x", "😀", ",", "xy"]),
    "w": (
        pa.string(),
        [None, "", "0", "1", " 12 ", "-7", "+3", "1.5", "-.5", ".", "1e3", "1d", "abc", "NaN", "inf", "-Infinity", "true"]
        + ["NO", "t", "99999999999", "2147483648", "1e400", "0x1p3", "12345678901234567890", "000000000000000000000000005"]
        + ["1e-9", "2.675", "99999999999999999999999999999999999999.5", "+", "+.5", "3.4e39", "0.1f", "\t4\n"],
    ),
    "v": (
        pa.string(),
        [None, "", "2020", "2020-02", "2020-2-3", "2020-02-30", "2021-02-29", "2020-02-29 10", "2020-02-29T10:11"]
        + ["2020-02-29 10:11:12", "2020-02-29 1:2:3.4567891", "2020-02-29 10:11:12+01:30", "2020-02-29 10:11:12Z", " 1969-12-31 "]
        + ["2020-02-29 10:11:12 UTC", "2020-02-29 24:00:00", "2020-02-29 10:60:00", "20200229", "2020-13-01", "2020-00-10"]
        + ["2020-02-29 10:11:12.", "0001-01-01", "9999-12-31 23:59:59.999999", "2020-02-29 10:11Z", "2020-02-29T", "x", "2020-02-29 10:11:12-08"]
        + ["2020-02-29 10:", "2020-02-29 10:11:12GMT+2", "2020-02-29 10:11:12 +1:5", "-2020-01-01", "2020-1", "2020-1-1x", "+2020-01-01"],
    ),
    "q": (pa.date32(), [None, *(dt.date.fromisoformat(day) for day in "1970-01-01 1969-12-31 2020-02-29 2024-12-31 0001-01-01 1999-05-31 2021-01-03".split())]),
    "p": (pa.date32(), [None, *(dt.date.fromisoformat(day) for day in "1970-01-01 2000-01-01 2019-11-30".split())]),
    "ts": (
        pa.timestamp("us", "UTC"),
        [
            None,
            *(
                dt.datetime.fromisoformat(moment).replace(tzinfo=UTC)
                for moment in (
                    "1970-01-01 00:00:00",
                    "1969-12-31 23:59:59.5",
                    "1969-12-31 23:59:58.999999",
                    "2020-02-29 12:34:56.789012",
                    "2024-12-30 23:59:59.999999",
                    "1900-05-17 05:06:07",
                    "2021-01-01 00:00:00",
                    "1583-01-01 01:00:00.1",
                )
            ),
        ],
    ),
    "us": (pa.timestamp("us", "UTC"), [None, dt.datetime(1970, 1, 1, tzinfo=UTC), dt.datetime(2020, 2, 29, 12, tzinfo=UTC)]),
    "nt": (pa.timestamp("us"), [None, dt.datetime(1970, 1, 1), dt.datetime(1969, 12, 31, 23, 0, 0, 1), dt.datetime(2020, 2, 29, 12, 34, 56)]),
}  # fmt: skip
ROWS = 160


def rows() -> pa.Table:
    """Every value of every pool, in combinations that a fixed seed shuffles."""
    chance = random.Random(7)
    columns = {}
    for name, (kind, pool) in POOLS.items():
        cells = list(itertools.islice(itertools.cycle(pool), ROWS))
        chance.shuffle(cells)
        columns[name] = pa.array(cells, kind)
    columns["st"] = pa.StructArray.from_arrays([columns["i"], columns["x"]], names=["num", "txt"])
    return pa.table(columns)


NUMERIC = ("t", "s", "i", "l", "f", "d", "m", "n", "o", "w", "NULL", "3", "-2", "1.5", "2e0", "0")
ARITHMETIC = [
    f"{left} {operation} {right}"
    for operation in ("+", "-", "*", "/", "%")
    for left, right in [*itertools.product(NUMERIC, NUMERIC), ("i", "j"), ("l", "k"), ("d", "e"), ("t", "t"), ("s", "s")]
] + [
    *(f"{left} div {right}" for left, right in itertools.product("tsilmno", ("j", "k", "3", "-2", "1.5", "m", "0"))),
    *(f"pmod({left}, {right})" for left, right in itertools.product(("t", "s", "i", "l", "d", "f", "m", "o"), ("t", "j", "k", "e", "m", "3", "-3"))),
    *(f"{name}({value})" for name in ("abs", "negative", "positive") for value in ("t", "s", "i", "l", "f", "d", "m", "n", "w", "NULL")),
    "-i", "- l", "-d", "+i", "-m", "mod(i, j)", "try_add(i, j)", "try_subtract(l, k)", "try_multiply(i, j)", "try_divide(i, j)", "try_mod(i, j)",
    "(i + j) * 2 - l / 3", "i * 1.5 + 2", "99999999999 + i", "-2147483648 + i", "9223372036854775808 + i", "00.5 + i", "1.50 * m",
    "q + 1", "q - j % 1000", "q + t",
]  # fmt: skip

PAIRS = [
    *itertools.product(("t", "i", "l", "f", "d", "m", "n", "w"), ("j", "k", "e", "m", "o", "3", "1.5", "'1'", "NULL", "w")),
    ("x", "y"), ("x", "'a'"), ("b", "c"), ("b", "true"), ("b", "'true'"), ("q", "p"), ("q", "ts"), ("ts", "us"), ("nt", "ts"), ("q", "'2020-02-29'"),
    ("ts", "'1970-01-01'"), ("ts", "TIMESTAMP '2020-02-29 12:34:56.789012'"), ("q", "DATE '1970-01-01'"), ("NULL", "NULL"), ("q", "nt"),
]  # fmt: skip
LOGIC = [
    *(f"{left} {operation} {right}" for operation in ("=", "<", ">=", "<=>") for left, right in PAIRS),
    *(f"{left} {operation} {right}" for operation in ("<>", "!=", "==", ">", "<=") for left, right in PAIRS[::7]),
    "b = 1", "b <=> i", "0 = b", "b AND c", "b OR c", "NOT b", "!b", "b AND NULL", "NULL OR b", "NOT NULL", "i > 0 AND d < 1 OR x = 'a'",
    "i BETWEEN -7 AND 3", "i NOT BETWEEN j AND 3", "d BETWEEN 0 AND 1.5", "q BETWEEN '1970-01-01' AND ts", "x BETWEEN 'a' AND y",
    "i IN (1, 3, NULL)", "i NOT IN (1, 3)", "i IN ('1', '3')", "d IN (0, 1.5, 'NaN')", "x IN ('a', 'abc')", "x NOT IN ('a', NULL)", "m IN (1.5, i)",
    "i IS NULL", "i IS NOT NULL", "isnull(d)", "isnotnull(x)", "isnan(d)", "isnan(f)", "isnan(i)", "isnan(w)", "b IS TRUE", "b IS NOT TRUE", "b IS FALSE",
    "nanvl(d, e)", "i IS DISTINCT FROM j", "i IS NOT DISTINCT FROM j", "equal_null(i, j)", "NULL IS NULL",
]  # fmt: skip

CHOICES = [
    "CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' ELSE 'z' END", "CASE WHEN b THEN i END", "CASE WHEN b THEN i WHEN c THEN d ELSE m END",
    "CASE i WHEN 1 THEN 'one' WHEN 3 THEN x END", "CASE x WHEN 'a' THEN 1 ELSE l END", "CASE WHEN b THEN NULL END",
    "CASE WHEN b THEN q ELSE ts END", "CASE WHEN b THEN i ELSE x END", "CASE WHEN b THEN m ELSE n END", "CASE WHEN b THEN m ELSE x END",
    "if(b, i, l)", "if(b, f, l)", "if(b, NULL, x)", "if(i > j, i, j)", "if(b, st, NULL)",
    "coalesce(i, j)", "coalesce(i, l, 0)", "coalesce(d, 0)", "coalesce(m, 0)", "coalesce(m, i)", "coalesce(x, i)", "coalesce(n, 'x')", "coalesce(NULL, i)", "coalesce(i)",
    "coalesce(q, ts)", "coalesce(f, d)", "coalesce(d, x)", "coalesce(ts, x)", "coalesce(nt, ts)", "nvl(i, 1.5)", "ifnull(x, 'none')", "nullif(i, 1)", "nullif(i, l)",
    "nullif(x, 'a')", "nullif(d, 'NaN')", "nvl2(i, 'yes', x)", "nvl2(NULL, i, l)",
    "greatest(i, j)", "least(i, j)", "greatest(d, e)", "least(d, e)", "greatest(i, l, d)", "least(m, n)", "greatest(x, y)", "least(x, y, 'b')", "greatest(q, ts)",
    "greatest(NULL, i)", "least(b, c)", "greatest(f, i)", "st.num", "st.txt", "st['num'] + 1", "upper(ST.TXT)",
]  # fmt: skip

TARGETS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 18)", "DECIMAL(5, 0)", "STRING", "BOOLEAN")
CASTS = [
    *(f"CAST({value} AS {target})" for value in ("t", "i", "l", "f", "d", "e", "m", "n", "o", "b", "w", "NULL") for target in TARGETS),
    *(f"CAST({value} AS {target})" for value in ("v", "q", "ts", "nt", "NULL") for target in ("STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ")),
    *(f"CAST(ts AS {target})" for target in ("INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL(20, 3)", "DECIMAL(5, 0)", "TINYINT")),
    "CAST(i AS TIMESTAMP)", "CAST(t AS TIMESTAMP)", "CAST(m AS TIMESTAMP)", "TRY_CAST(w AS INT)", "i::STRING", "int(d)", "string(d)", "double(w)",
    "boolean(i)", "date(v)", "float(w)", "1L + i", "1.5D", "2S", "CAST(i AS DECIMAL)", "CAST(0.00000012 AS STRING)", "CAST(e / 3 AS STRING)", "to_timestamp(v)",
]  # fmt: skip

MATHS = [
    *(f"{name}({value})" for name in ("sqrt", "cbrt", "exp", "expm1", "ln", "log", "log10", "log2", "log1p", "sin", "cos", "tan", "cot", "asin", "acos", "atan")
      for value in ("d", "e", "i", "m", "w")),
    *(f"{name}({value})" for name in ("sinh", "cosh", "tanh", "degrees", "radians", "rint", "sign", "signum", "sec", "csc") for value in ("d", "e", "f", "m")),
    "log(2, d)", "log(e, d)", "log(10, l)", "power(d, e)", "pow(i, 2)", "power(e, d)", "atan2(d, e)", "hypot(d, e)", "pi()", "e()", "sqrt(NULL)",
    *(f"{name}({value})" for name in ("ceil", "floor", "ceiling", "round", "bround") for value in ("t", "i", "l", "f", "d", "e", "m", "n", "o", "w", "2.5", "NULL")),
    *(f"{name}({value}, {places})" for name in ("round", "bround") for value in ("t", "i", "l", "f", "d", "e", "m", "n", "o", "w") for places in (-25, -2, -1, 0, 1, 2, 5, 30)),
    "floor(i / 2)", "round(d * 100) / 100",
]  # fmt: skip

TEXTS = [
    *(f"{name}({value})" for name in ("upper", "lower", "ucase", "lcase", "length", "len", "char_length", "trim", "ltrim", "rtrim", "btrim", "reverse") for value in ("x", "w", "i", "b", "NULL")),
    "upper(d)", "length(m)", "length(n * 0.0000001)", "reverse(q)", "trim(BOTH 'xa' FROM x)", "trim(LEADING 'x' FROM x)", "trim(TRAILING y FROM x)", "ltrim('a', x)", "btrim(x, y)", "trim('' FROM x)",
    *(f"substring(x, {start}, {count})" for start in (-9, -2, -1, 0, 1, 2, 3, 9, 2147483647, -2147483648, "t") for count in (-1, 0, 1, 2, 9, 2147483647, "NULL")),
    "substring(x, 2)", "substr(x, -2)", "substring(x FROM 2 FOR 1)", "substring(x, 0)", "substr(i, 1, 1)", "substring(x, j, i)",
    "left(x, 2)", "left(x, -1)", "left(x, t)", "right(x, 2)", "right(x, 0)", "right(x, t)", "right(x, NULL)", "left(x, NULL)",
    "concat(x, y)", "concat(x, i, d, m, n, b, q, ts, nt)", "concat(x)", "concat(x, NULL)", "x || y", "x || i || 'z'", "concat_ws(',', x, y, i)", "concat_ws(y, x, NULL)", "concat_ws(',')", "concat_ws(',', NULL, NULL)",
    "replace(x, 'x', 'yy')", "replace(x, y, '-')", "replace(x, 'x')", "replace(x, '', 'q')", "translate(x, 'abx', 'A')", "translate(x, 'aba', 'xyz')",
    *(f"{name}(x, {part})" for name in ("startswith", "endswith", "contains", "instr") for part in ("y", "'x'", "''", "NULL", "1")),
    "locate('x', x)", "locate(y, x)", "locate('x', x, 2)", "locate(y, x, t)", "locate('', x, 3)", "position('b' IN x)", "locate('x', x, NULL)",
    *(f"{name}(x, {size}, {fill})" for name in ("lpad", "rpad") for size in (-1, 0, 2, 7, "t", "NULL") for fill in ("'-'", "'日x'", "''", "y", "NULL")),
    "lpad(x, 5)", "rpad(x, 5)", "lpad(i, 5, '0')", "repeat(x, 3)", "repeat(x, 0)", "repeat(x, -1)", "repeat(y, t)", "repeat(x, NULL)",
    *(f"x {like} {pattern}" for like in ("LIKE", "NOT LIKE", "ILIKE") for pattern in ("'a%'", "'%x%'", "'_'", "'a\\\\_b'", "'%\\\\%'", "'___'", "''", "'%ß%'", "'x_y'", "'ΑΣ'", "y", "NULL", "'a.c'", "'%\\\\\\\\%'")),
    "x LIKE '50!%' ESCAPE '!'", "x LIKE '%!!%' ESCAPE '!'", "i LIKE '%1%'",
    *(f"x RLIKE '{pattern}'" for pattern in ("^a", "c$", "y$", "x$", "[a-c]+", "^.$", "x.y", "(a|x)b?c*", "\\\\s", "^\\\\w+$", "\\\\d", "^$", "x{2}", "^[^a]*$", "a\\\\\\\\b", "[,_]", "^(?:ab|xx)", "\\\\S$", "[\\\\d%]+")),
    "x RLIKE r'a\\\\b'", "'a' 'b'", "regexp_like(x, y)", "regexp_like(x, NULL)",
]  # fmt: skip

TIMES = [
    *(f"{name}({value})" for name in ("year", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear", "quarter", "last_day", "to_date", "hour", "minute", "second")
      for value in ("q", "ts", "nt", "v", "NULL")),
    *(f"{name}({value})" for name in ("unix_micros", "unix_millis", "unix_seconds", "unix_timestamp") for value in ("ts", "nt")),
    "unix_timestamp(q)", "unix_date(q)", "date_from_unix_date(j % 1000)", "timestamp_millis(j)", "timestamp_micros(j)", "timestamp_micros(t)", "timestamp_seconds(t)",
    "timestamp_seconds(j % 1000000)", "timestamp_seconds(e % 100)", "timestamp_seconds(m)", "timestamp_seconds(f % 100)",
    *(f"date_trunc('{unit}', {value})" for unit in ("year", "quarter", "month", "MON", "week", "day", "DD", "hour", "minute", "second", "millisecond", "microsecond") for value in ("ts", "q", "nt", "v")),
    *(f"trunc({value}, '{unit}')" for unit in ("year", "yyyy", "quarter", "month", "mm", "week", "hour") for value in ("q", "ts", "v")),
    "date_add(q, 1)", "date_sub(q, 1)", "date_add(ts, t)", "date_sub(v, t)", "dateadd(q, 5)", "datediff(q, p)", "datediff(ts, q)", "date_diff(v, q)", "datediff(p, NULL)",
    "add_months(q, 1)", "add_months(q, t)", "add_months(ts, -12)",
    "extract(YEAR FROM ts)", "extract(HOUR FROM ts)", "extract(WEEK FROM q)", "extract(DAYOFWEEK FROM q)", "date_part('month', ts)",
    "TIMESTAMP '2020-01-02 03:04:05.6'", "DATE '2020-01-02'", "TIMESTAMP_NTZ '2020-01-02 03:04:05.6'", "TIMESTAMP '2020-01-02 03:04:05+02:00'",
    *(f"{value} {sign} INTERVAL {length}" for value in ("ts", "q", "nt") for sign in "+-" for length in
      ("1 HOUR", "'1' DAY", "3 WEEKS", "'1.5' SECOND", "90 MINUTES", "250 MILLISECONDS", "7 MICROSECONDS", "1 HOUR 30 MINUTES", "'2 days 1 hour'", "-1 HOUR", "'-2' DAYS", "2 DAYS")),
    "INTERVAL 1 HOUR + ts",
]  # fmt: skip

FAMILIES = {"arithmetic": ARITHMETIC, "logic": LOGIC, "choices": CHOICES, "casts": CASTS, "maths": MATHS, "texts": TEXTS, "times": TIMES}
