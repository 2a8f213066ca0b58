"""The expressions on which replay and Spark must agree, by family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from listed import listed
from more_cases import CALENDAR, CODES, NUMBER_TEXTS, WORDS
from nested_cases import ARRAYS, JSON, LAMBDAS
from pattern_cases import REGEXES, TIME_PATTERNS


def each(names: str, *arguments: str, shape: str = "{}({})") -> Iterator[str]:
    """Every function with every one of the arguments, which are separated by blanks or else given singly."""
    given = arguments[0].split() if len(arguments) == 1 else arguments
    return (shape.format(name, argument) for name in names.split() for argument in given)


def pairs(left: str, operations: str, right: str) -> Iterator[str]:
    return (f"{a} {operation} {b}" for operation in operations.split() for a in left.split() for b in right.split())


def family(*parts: Iterable[str]) -> list[str]:
    return [case for part in parts for case in part]


NUMERIC = "t s i l f d m n o w NULL 3 -2 1.5 2e0 0"
ARITHMETIC = family(
    pairs(NUMERIC, "+ - * / %", "t i l f d m n o w NULL 3 1.5"),
    pairs("i l d t s", "+ - * / %", "j k e t s"),
    pairs("g n", "+ - * / %", "g n o l"),
    pairs("t s i l m n o", "div", "j k 3 -2 1.5 m 0"),
    each("pmod", *(f"{a}, {b}" for a in "tsildfmo" for b in ("t", "j", "k", "e", "m", "3", "-3"))),
    each("abs negative positive", "t s i l f d m n w NULL"),
    listed("""
        -i; - l; -d; +i; -m; mod(i, j); try_add(i, j); try_subtract(l, k); try_multiply(i, j); try_divide(i, j)
        try_mod(i, j); (i + j) * 2 - l / 3; i + j + l; i * 1.5 + 2; 99999999999 + i; -2147483648 + i; 00.5 + i
        9223372036854775808 + i; 1.50 * m; q + 1; q - j % 1000; q + t
    """),
)

LOGIC = family(
    pairs("t i l f d m n w", "= < >= <=>", "j k e m o 3 1.5 '1' NULL w"),
    pairs("t i d m w", "<> > <=", "j e o '1' NULL"),
    pairs("g", "= < >= <=>", "n m l w"),
    pairs("x", "= < >= <=>", "y 'a' NULL"),
    pairs("b", "= < >= <=>", "c true 'true'"),
    pairs("q ts nt", "= < >= <=>", "p us ts nt '2020-02-29' '1970-01-01' NULL"),
    listed("""
        ts = TIMESTAMP '2020-02-29 12:34:56.789012'; q < DATE '1970-01-01'; NULL = NULL; NULL <=> NULL; i != j; i == j
        b = 1; b <=> i; 0 = b; b AND c; b OR c; NOT b; !b; b AND NULL; NULL OR b; NOT NULL; i > 0 AND d < 1 OR x = 'a'
        i BETWEEN -7 AND 3; i NOT BETWEEN j AND 3; d BETWEEN 0 AND 1.5; q BETWEEN '1970-01-01' AND ts
        x BETWEEN 'a' AND y; i IN (1, 3, NULL); i NOT IN (1, 3); i IN ('1', '3'); d IN (0, 1.5, 'NaN')
        x IN ('a', 'abc'); x NOT IN ('a', NULL); m IN (1.5, i); i IS NULL; i IS NOT NULL; isnull(d); isnotnull(x)
        isnan(d); isnan(f); isnan(i); isnan(w); b IS TRUE; b IS NOT TRUE; b IS FALSE; nanvl(d, e); NULL IS NULL
        i IS DISTINCT FROM j; i IS NOT DISTINCT FROM j; equal_null(i, j)
    """),
)

CHOICES = listed("""
    CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' ELSE 'z' END; CASE WHEN b THEN i END; CASE WHEN b THEN NULL END
    CASE WHEN b THEN i WHEN c THEN d ELSE m END; CASE i WHEN 1 THEN 'one' WHEN 3 THEN x END
    CASE x WHEN 'a' THEN 1 ELSE l END; CASE WHEN b THEN q ELSE ts END; CASE WHEN b THEN i ELSE x END
    CASE WHEN b THEN m ELSE n END; CASE WHEN b THEN m ELSE x END; CASE WHEN b THEN q WHEN c THEN x ELSE i END
    if(b, i, l); if(b, f, l); if(b, NULL, x); if(i > j, i, j); if(b, st, NULL)
    coalesce(i, j); coalesce(i, l, 0); coalesce(d, 0); coalesce(m, 0); coalesce(m, i); coalesce(x, i); coalesce(n, 'x')
    coalesce(NULL, i); coalesce(i); coalesce(q, ts); coalesce(f, d); coalesce(d, x); coalesce(ts, x); coalesce(nt, ts)
    nvl(i, 1.5); ifnull(x, 'none'); nullif(i, 1); nullif(i, l); nullif(x, 'a'); nullif(d, 'NaN'); nvl2(i, 'yes', x)
    nvl2(NULL, i, l); greatest(i, j); least(i, j); greatest(d, e); least(d, e); greatest(i, l, d); least(m, n)
    greatest(x, y); least(x, y, 'b'); greatest(q, ts); greatest(NULL, i); least(b, c); greatest(f, i)
    coalesce(n, g); coalesce(g, n, m); least(g, l); g IN (n, m)
    struct(i AS a, x AS b); struct(i, j + 1, i AS c); named_struct('p', m, 'q', x)
    st.num; st.txt; st['num'] + 1; upper(ST.TXT); I + J
""")

NUMBER_TYPES = "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(38,18) DECIMAL(5,0) STRING BOOLEAN"
TIME_TYPES = "STRING DATE TIMESTAMP TIMESTAMP_NTZ"
CASTS = family(
    each("t i l f d e m n o b w NULL", NUMBER_TYPES, shape="CAST({} AS {})"),
    each("v q ts nt NULL", TIME_TYPES, shape="CAST({} AS {})"),
    each("ts", "INT BIGINT DOUBLE FLOAT DECIMAL(20,3) DECIMAL(5,0) TINYINT", shape="CAST({} AS {})"),
    listed("""
        CAST(i AS TIMESTAMP); CAST(t AS TIMESTAMP); CAST(m AS TIMESTAMP); TRY_CAST(w AS INT); i::STRING; string(d)
        string(n); double(w); double(l); boolean(i); boolean(w); date(v); float(w); float(d); float(n); timestamp(v)
        1L + i; 1.5D; 2S; CAST(i AS DECIMAL); to_timestamp(v)
        CAST(0.00000012 AS STRING); CAST(CAST(l AS DOUBLE) AS STRING); CAST(CAST(l AS FLOAT) AS STRING);
        CAST(1.2345678901234567e18 AS STRING); to_json(struct(CAST(l AS DOUBLE) AS a)); CAST(e / 3 AS STRING); CAST(CAST(d AS STRING) AS INT)
    """),
)

MATHS = family(
    each("sqrt cbrt exp expm1 ln log log10 log2 log1p sin cos tan cot asin acos atan", "d e i m w"),
    each("sinh cosh tanh degrees radians rint sign signum sec csc", "d e f m"),
    listed("""
        log(2, d); log(e, d); log(10, l); power(d, e); pow(i, 2); power(e, d); atan2(d, e); hypot(d, e); pi(); e()
        sqrt(NULL); floor(i / 2); round(d * 100) / 100
    """),
    each("ceil floor ceiling round bround", "t i l f d e m n o w 2.5 NULL"),
    each("round bround", *(f"{value}, {places}" for value in "tilfdemnow" for places in (-25, -2, -1, 0, 1, 2, 5, 30))),
)

_STARTS = (-9, -2, -1, 0, 1, 2, 3, 9, 2147483647, -2147483648, "t")
_FILLS = ("'-'", "'日x'", "''", "y", "NULL")
_LIKE = r"'a%'|'%x%'|'_'|'a\\_b'|'%\\%'|'___'|''|'%ß%'|'x_y'|'ΑΣ'|y|NULL|'a.c'|'%\\\\%'"
_REGEXES = r"^a ^$ c$ y$ x$ [a-c]+ ^.$ x.y (a|x)b?c* \\s ^\\w+$ \\d x{2} ^[^a]*$ a\\\\b [,_] ^(?:ab|xx) \\S$ [\\d%]+"
TEXTS = family(
    each("upper lower ucase lcase length len char_length trim ltrim rtrim btrim reverse", "x w i b NULL"),
    each("substring", *(f"x, {start}, {count}" for start in _STARTS for count in (-1, 0, 1, 2, 9, 2147483647, "NULL"))),
    each("startswith endswith contains instr", "x,y x,'x' x,'' x,NULL x,1"),
    each("lpad rpad", *(f"x, {size}, {fill}" for size in (-1, 0, 2, 7, "t", "NULL") for fill in _FILLS)),
    (f"x {like} {pattern}" for like in ("LIKE", "NOT LIKE", "ILIKE") for pattern in _LIKE.split("|")),
    (f"x RLIKE '{regex}'" for regex in _REGEXES.split()),
    listed(r"""
        upper(d); length(m); length(n * 0.0000001); reverse(q); trim(BOTH 'xa' FROM x); trim(LEADING 'x' FROM x)
        trim(TRAILING y FROM x); ltrim('a', x); rtrim(y, x); character_length(x)
        btrim(x, y); trim('' FROM x); substring(x, 2); substr(x, -2)
        substring(x FROM 2 FOR 1); substring(x, 0); substr(i, 1, 1); substring(x, j, i); left(x, 2); left(x, -1)
        left(x, t); right(x, 2); right(x, 0); right(x, t); right(x, NULL); left(x, NULL); concat(x, y); concat(x)
        concat(x, i, d, m, n, b, q, ts, nt); concat(x, NULL); x || y; x || i || 'z'; concat_ws(',', x, y, i)
        concat_ws(y, x, NULL); concat_ws(','); concat_ws(',', NULL, NULL); replace(x, 'x', 'yy'); replace(x, y, '-')
        replace(x, 'x'); replace(x, '', 'q'); translate(x, 'abx', 'A'); translate(x, 'aba', 'xyz'); locate('x', x)
        locate(y, x); locate('x', x, 2); locate(y, x, t); locate('', x, 3); position('b' IN x); position('b', x)
        locate('x', x, NULL)
        lpad(x, 5); rpad(x, 5); lpad(i, 5, '0'); repeat(x, 3); repeat(x, 0); repeat(x, -1); repeat(y, t)
        repeat(x, NULL); x LIKE '50!%' ESCAPE '!'; x LIKE '%!!%' ESCAPE '!'; i LIKE '%1%'; x RLIKE r'a\\b'
        regexp_like(x, y); regexp_like(x, NULL); regexp(x, 'a'); 'it''s'; 'a' || 'b'
    """),
)

_DATE_PARTS = "year month day dayofmonth dayofweek weekday dayofyear weekofyear quarter last_day to_date"
_UNITS = "year quarter month MON week day DD hour minute second millisecond microsecond"
_LENGTHS = "1 HOUR|'1' DAY|3 WEEKS|'1.5' SECOND|90 MINUTES|250 MILLISECONDS|7 MICROSECONDS|1 HOUR 30 MINUTES"
_LENGTHS += "|'2 days 1 hour'|-1 HOUR|'-2' DAYS|2 DAYS"
TIMES = family(
    each(f"{_DATE_PARTS} hour minute second", "q ts nt v NULL"),
    each("unix_micros unix_millis unix_seconds unix_timestamp", "ts nt"),
    each(_UNITS, "ts q nt v", shape="date_trunc('{}', {})"),
    each("year yyyy yy quarter month mm week hour", "q ts v", shape="trunc({1}, '{0}')"),
    (
        f"{time} {sign} INTERVAL {length}"
        for time in ("ts", "q", "nt")
        for sign in "+-"
        for length in _LENGTHS.split("|")
    ),
    listed("""
        unix_timestamp(q); unix_date(q); date_from_unix_date(j % 1000); timestamp_millis(j); timestamp_micros(j)
        timestamp_micros(t); timestamp_seconds(t); timestamp_seconds(j % 1000000); timestamp_seconds(e % 100)
        timestamp_seconds(m); timestamp_seconds(f % 100); date_add(q, 1); date_sub(q, 1); date_add(ts, t)
        date_sub(v, t); dateadd(q, 5); datediff(q, p); datediff(ts, q); date_diff(v, q); datediff(p, NULL)
        add_months(q, 1); add_months(q, t); add_months(ts, -12); extract(YEAR FROM ts); extract(HOUR FROM ts)
        extract(WEEK FROM q); extract(DAYOFWEEK FROM q); date_part('month', ts)
        datepart('WEEK', ts); to_unix_timestamp(ts); TIMESTAMP '2020-01-02 03:04:05.6'
        DATE '2020-01-02'; TIMESTAMP_NTZ '2020-01-02 03:04:05.6'; TIMESTAMP '2020-01-02 03:04:05+02:00'
        INTERVAL 1 HOUR + ts
    """),
)

FAMILIES = {
    "arithmetic": ARITHMETIC,
    "logic": LOGIC,
    "choices": CHOICES,
    "casts": CASTS,
    "maths": MATHS,
    "texts": TEXTS,
    "times": TIMES,
    "time patterns": TIME_PATTERNS,
    "regular expressions": REGEXES,
    "arrays": ARRAYS,
    "lambdas": LAMBDAS,
    "json": JSON,
    "codes": CODES,
    "words": WORDS,
    "numbers as texts": NUMBER_TEXTS,
    "calendar": CALENDAR,
}
