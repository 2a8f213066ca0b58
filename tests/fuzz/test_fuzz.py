"""Whatever is written, only errors of ours come out; `make fuzz` tries many more."""

from __future__ import annotations

from collections import Counter

import pytest

from .fuzz import tried
from .statements import statements


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore")
def test_random_statements_are_answered_or_refused_in_our_words(seed):
    ends = Counter(tried(text) for text in statements(seed, 150))
    assert min(ends["not read"], ends["refused"], ends["answered"]) > 0


# statements that were broken once
FOUND = [
    "SELECT /*+ REPARTITION ( 3 3 ' */ a FROM s",
    f"SELECT a FROM s WHERE a IN ({', '.join(map(str, range(120)))}, /* and */ 7)",
    "SELECT /*+ */ FROM s a",
    "SELECT INTERVAL '3' DAYS '3' INTERVAL AS z FROM s",
    "SELECT INTERVAL 1 DAY 2 HOURS 3 MINUTES 4 SECONDS + 1e3 AS z FROM s",
    "SELECT -INTERVAL 1 DAY 1 DAY AS z FROM s",
    "SELECT TRIM(BOTH FROM a) AS z FROM s",
    "SELECT REPEAT('ab', 2147483647) AS z FROM ev [RANGE 3 SECONDS]",
    "SELECT a GROUP BY ts WINDOW 1 SECONDS",
    "SELECT SUM(1) AS a FROM ev [RANGE 3 SECONDS]",
    "SELECT COUNT(*) AS n FROM ev [RANGE 3 SECONDS] GROUP BY 'a'",
    "SELECT MODE(GREATEST(xs, NULL)) AS m FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS]",
    "SELECT INTERVAL INTERVAL '3 days 2 hours' AS z FROM s",
    "SELECT a FROM s GROUP BY a WITH ROLLUP WITH ROLLUP",
    "SELECT x AS c FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x, x, i AS c USING K_MEANS(2)",
    "SELECT c, CENTER(c) AS m FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x, x, i AS c USING K_MEANS(2)",
    "SELECT DISTINCT ON ",
    "SELECT a = OR ( SELECT 1 ) AS z FROM s",
    "SELECT s FROM z AS X'1F'",
    "SELECT a NOT RLIKE 'x' > 1",
    "SELECT NOT a LIKE 'x' AND b NOT IN (1) OR NOT c AS z FROM s",
]


@pytest.mark.parametrize("text", FOUND)
def test_what_was_broken_once_is_not(text):
    assert tried(text) in ("not read", "refused", "answered")
