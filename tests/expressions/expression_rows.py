"""The rows that expressions are tried on: NULL, NaN, infinities, the ends of every type, texts beyond ASCII."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

INF, NAN = float("inf"), float("nan")
COUNT = 160


def _decimals(text: str) -> list[Decimal]:
    return [Decimal(number) for number in text.split()]


def _dates(text: str) -> list[dt.date]:
    return [dt.date.fromisoformat(day) for day in text.split()]


def _moments(text: str) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(line.strip()).replace(tzinfo=dt.UTC) for line in text.strip().split("\n")]


# Texts of numbers and truths, of which most are none to some cast.
NUMBERS = """0|1| 12 |-7|+3|1.5|-.5|.|1e3|1d|abc|NaN|inf|-Infinity|true|NO|t|99999999999|2147483648|1e400
|0x1p3|+|+.5|0.1f|12345678901234567890|000000000000000000000000005|1e-9|2.675|99999999999999999999999999999999999999.5|3.4e39|\t4"""

# Texts of dates and times, in the forms that Spark reads and in some that it does not.
TIMES = """2020|2020-02|2020-2-3|2020-02-30|2021-02-29|2020-02-29 10|2020-02-29T10:11|2020-02-29 10:11:12| 1969-12-31
|2020-02-29 1:2:3.4567891|2020-02-29 10:11:12+01:30|2020-02-29 10:11:12Z|2020-02-29 10:11:12 UTC|2020-02-29 24:00:00
|2020-02-29 10:60:00|20200229|2020-13-01|2020-00-10|2020-02-29 10:11:12.|0001-01-01|9999-12-31 23:59:59.999999|2020-1-1x
|2020-02-29 10:11Z|2020-02-29T|x|2020-02-29 10:11:12-08|2020-02-29 10:|2020-02-29 10:11:12GMT+2|2020-02-29 10:11:12 +1:5
|-2020-01-01|2020-1|+2020-01-01"""

# Texts of times in the forms that patterns describe, and others that are close to them.
CLOCKED = """2020-02-29|2020-2-29|2021-02-29|29/02/2020 10:11:12|29/02/2020 24:00:00|Feb 29, 2020|feb 9, 2020|20200229101112
|20200229101112345|2020-02-29T10:11:12.5Z|2020-02-29T10:11:12+01:30|2020-02-29T10:11:12.123456789-08:00|2020-02-29t10:11:12z
|10:11 PM|12:00 am|0:30 PM|13:00 PM|2/29/20|2020-060|2020-366|2021-366|+12020-01-01|-0001-01-01|12020-01-01|2020-02-29 10:11:12
|2020-02-29 10:11:12.|2020-02-29 10:11|2020|99|at 5 o'clock| 2020-02-29|2020-02-29 |2020-13-01|2020-00-01|February 29, 2020
|00000000000000000002020-01-01|2020-02-29T10:11:12+19:00|29.2.2020|1.1.-5|24:00|0020-02-29 23:59:59|-2020-02-29|2020-02-29 10:11:12.1234"""

JSON = r"""{"a":1,"b":"x","c":[1,2,{"d":null}],"e":1.50}|{"a":null,"b":2}|{ "a" : {"b":"q\"\u00e9\n/", "c": [ ] } , "e":1e3}|[1,"x",{"a":2}]
|{'a':'single'}|{"a":1,"a":2}|{"a":1} trailing|{"a":1,|{a:1}|"text"|12|null||{"a":01}|{"a":NaN}|{"b":true,"a":false,"e":-0.0}|{"a":"😀日","b":"\ud83d\ude00"}
|{"a.b":5,"c":[[1,2],[3]]}|{"a":12345678901234567890,"e":1e400,"b":"1"}|{"a":2147483648,"b":"","e":0.1,"c":"no"}|{"a":"7","e":"NaN"}|[]|[null,[1],{"a":[null]}]|{}| {"a":3}
|{"a":1.0,"b":1.10,"e":100}|{"a":-0,"b":"a\tb\u0001","e":12345678.9}"""

URLS = """http://user:pw@example.com:8080/path/to/page.html?a=1&b=two%20words#frag|https://example.org|ftp://host/x?q=|mailto:a@b.c
|http://[::1]:80/?x=y|example.com/path|http://ex ample.com/|a+b%20c|100%|%zz|ä ö|http://h/p?a=1&a=2&ab=3|//host/path|http://h?"""

MOMENTS = """
1970-01-01 00:00:00
1969-12-31 23:59:59.5
1969-12-31 23:59:58.999999
2020-02-29 12:34:56.789012
2024-12-30 23:59:59.999999
1900-05-17 05:06:07
2021-01-01 00:00:00
1583-01-01 01:00:00.1
"""

POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "t": (pa.int8(), [-128, -1, 0, 1, 7, 127]),
    "s": (pa.int16(), [-32768, -3, 0, 2, 32767]),
    "i": (pa.int32(), [-(2**31), -25, -7, -1, 0, 1, 3, 4, 15, 2**31 - 1]),
    "j": (pa.int32(), [-(2**31), -3, -1, 0, 1, 2, 5, 2**31 - 1]),
    "l": (pa.int64(), [-(2**63), -(2**40), -10, -1, 0, 1, 12, 2**53 + 1, 2**63 - 1]),
    "k": (pa.int64(), [-(2**63), -3, -1, 0, 1, 2**32, 2**63 - 1]),
    "f": (pa.float32(), [NAN, INF, -INF, -0.0, 0.0, 0.1, 2.5, -1.25, 16777216.0, 3.4e38, 1e-5]),
    "d": (
        pa.float64(),
        [NAN, INF, -INF, -0.0, 0.0, 0.5, 1.5, 2.5, -2.5, 2.675, 1.005, 1e-5, 1e7, 123456.789, 1e17, -1e300, 0.1],
    ),
    "e": (pa.float64(), [NAN, INF, -INF, -0.0, 0.0, 1.0, -1.0, 2.0, 3.0, 0.3, -7.5, 1e308, 5e-324]),
    "m": (pa.decimal128(10, 2), _decimals("0.00 1.50 -1.50 2.25 2.35 -0.05 99999999.99 -12345.67")),
    "n": (
        pa.decimal128(38, 18),
        _decimals("0 1 -3 0.000000000000000001 0.00000015 99999999999999999999.5 -1234567.890123456789"),
    ),
    "g": (
        pa.decimal128(38, 3),
        _decimals("0 1.5 -3.125 0.001 12345678901234567890123.456 -99999999999999999999999999999999999.999"),
    ),
    "o": (pa.decimal128(5, 0), _decimals("0 1 -1 7 99999 -15")),
    "b": (pa.bool_(), [True, False]),
    "c": (pa.bool_(), [True, False]),
    "x": (
        pa.string(),
        [
            "",
            " ",
            "a",
            "abc",
            "  Abc ",
            "straße",
            "ΑΣ",
            "日本語",
            "a,b,,c",
            "😀x😀",
            "50%",
            "a_b",
            "a\\b",
            "x\ny",
            "y\n",
            "xxyxx",
        ],
    ),
    "y": (pa.string(), ["", "a", "b", "ß", "本", "x", "😀", ",", "xy"]),
    "w": (pa.string(), ["", *NUMBERS.replace("\n", "").split("|")]),
    "v": (pa.string(), ["", *TIMES.replace("\n", "").split("|")]),
    "q": (pa.date32(), _dates("1970-01-01 1969-12-31 2020-02-29 2024-12-31 0001-01-01 1999-05-31 2021-01-03")),
    "p": (pa.date32(), _dates("1970-01-01 2000-01-01 2019-11-30")),
    "ts": (pa.timestamp("us", "UTC"), _moments(MOMENTS)),
    "us": (pa.timestamp("us", "UTC"), _moments("1970-01-01\n2020-02-29 12:00:00")),
    "nt": (pa.timestamp("us"), [moment.replace(tzinfo=None) for moment in _moments(MOMENTS)]),
}

POOLS |= {
    "z": (pa.string(), ["", *CLOCKED.replace("\n", "").split("|")]),
    "js": (pa.string(), JSON.replace("\n", "").split("|")),
    "url": (pa.string(), ["", *URLS.replace("\n", "").split("|")]),
    "bi": (pa.binary(), [b"", b"a", b"\x00\xff", "straße".encode(), bytes(range(40)), b"abcdefgh" * 9]),
    "ai": (pa.list_(pa.int32()), [[], [1], [3, None, 1], [None], [2, 2, -5, 2], [2**31 - 1, 0], [7, 8, 9, 10, 11]]),
    "ax": (pa.list_(pa.string()), [[], ["a"], ["b", None, "a"], ["", "日", "😀", "a"], [None, None], ["x", "x"]]),
    "ad": (pa.list_(pa.float64()), [[], [NAN, 1.0], [0.0, -0.0, None], [INF, -INF, NAN, 2.5], [1.5, 1.5]]),
    "mp": (pa.map_(pa.string(), pa.int32()), [[], [("a", 1)], [("b", None), ("a", 3)], [("", 0), ("x", 5), ("日", 6)]]),
}


def rows() -> pa.Table:
    """Every value of every pool, in combinations that a fixed seed shuffles."""
    chance = random.Random(7)
    columns = {}
    for name, (kind, pool) in POOLS.items():
        cells = list(itertools.islice(itertools.cycle([None, *pool]), COUNT))
        chance.shuffle(cells)
        columns[name] = pa.array(cells, kind)
    columns["st"] = pa.StructArray.from_arrays([columns["i"], columns["x"]], names=["num", "txt"])
    return pa.table(columns)
