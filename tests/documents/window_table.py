"""What works in which kind of window, tried: `python tests/documents/window_table.py` writes the table into its page.

A cell is a query that is run over a small stream, and says whether it was answered or refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import windrow

PAGE = Path(__file__).parents[2] / "docs" / "language" / "windows.md"
BEGIN, END = "<!-- windows: begin -->\n", "<!-- windows: end -->\n"

WINDOWS = {
    "`RANGE SLIDE`": "[RANGE 10 SECONDS SLIDE 5 SECONDS]",
    "`IN` a zone": "[RANGE 2 DAYS SLIDE 1 DAY IN 'Europe/Berlin']",
    "`CUMULATE`": "[RANGE 10 SECONDS SLIDE 5 SECONDS CUMULATE]",
    "`EMIT EVERY`": "[RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 3 SECONDS]",
    "`UNBOUNDED`": "[RANGE UNBOUNDED SLIDE 5 SECONDS]",
    "levels": "[RANGES 10 SECONDS, 5 SECONDS SLIDES 5 SECONDS, 5 SECONDS]",
    "`ROWS SLIDE`": "[ROWS 3 SLIDE 2]",
    "by key": "[PARTITION BY k ROWS 2 SLIDE 1]",
    "levels of rows": "[ROWS 4, 2 SLIDES 2, 2]",
    "`SESSION`": "[PARTITION BY k SESSION 5 SECONDS]",
    "`FROM UNTIL`": "[FROM x > 1 UNTIL x > 3]",
    "no slide": "[RANGE 10 SECONDS]",
    "`ROWS` alone": "[ROWS 3]",
    "no window": "",
}
NEAR = "a.ts BETWEEN b.ts - INTERVAL 5 SECONDS AND b.ts"
EARLY = " EMIT EVERY 3 SECONDS]"
ASKED = {
    "aggregates, WHERE, HAVING": "SELECT SUM(x) AS s FROM e {} WHERE x > 0 HAVING COUNT(*) > 0",
    "`window_end` in WHERE": "SELECT SUM(x) AS s FROM e {} WHERE x > 0 AND window_end > TIMESTAMP '1970-01-01 00:00:05'",
    "GROUP BY": "SELECT g, COUNT(*) AS n, MEDIAN(x) AS m FROM e {} GROUP BY g",
    "ROLLUP, CUBE, GROUPING SETS": "SELECT g, x, COUNT(*) AS n FROM e {} GROUP BY ROLLUP (g, x)",
    "ORDER BY ... LIMIT": "SELECT g, COUNT(*) AS n FROM e {} GROUP BY g ORDER BY n LIMIT 2",
    "the rows of the window": "SELECT g, x + 1 AS y FROM e {}",
    "choosing among its answers": "SELECT n FROM (SELECT COUNT(*) AS n FROM e {}) AS q WHERE n > 0",
    "windows over its answers": "SELECT MAX(n) AS n FROM (SELECT COUNT(*) AS n FROM e {}) AS q [RANGE 60 SECONDS SLIDE 20 SECONDS]",
    "a join with a table": "SELECT COUNT(*) AS n FROM e {} JOIN t ON e.g = t.g",
    "a join with a stream": "SELECT a.x FROM e {0} AS a JOIN e {0} AS b ON a.g = b.g",
    "a join of its answers": (
        "SELECT a.n FROM (SELECT g, COUNT(*) AS n FROM e {0} GROUP BY g) AS a"
        " JOIN (SELECT g, COUNT(*) AS n FROM e {0} GROUP BY g) AS b ON a.g = b.g AND a.window_end = b.window_end"
    ),
    "an aggregate of an aggregate": "SELECT MAX(n) AS n FROM (SELECT g, COUNT(*) AS n FROM e {} GROUP BY g) AS q",
    "DISTINCT": "SELECT DISTINCT g FROM e {}",
    "UNION, MINUS": "SELECT g FROM e {0} UNION SELECT g FROM e {0} WHERE x > 1",
    "IN, EXISTS, sub-queries": "SELECT x FROM e {0} AS a WHERE g IN (SELECT g FROM e {0} WHERE x > 1)",
    "ROW_NUMBER() OVER": "SELECT g, x FROM e {} QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY x) <= 1",
    "CLUSTER BY": "SELECT c, COUNT(*) AS n FROM e {} CLUSTER BY x AS c USING C_BIRCH(2)",
    "answers while it fills": "SELECT g, COUNT(*) AS n FROM e {early} GROUP BY g",
    "levels beside each other": "SELECT SUM(x) FILTER (WHERE level = 0) / SUM(x) AS share FROM e {}",
    "EMIT CHANGES": "SELECT g, COUNT(*) AS n FROM e {} GROUP BY g EMIT CHANGES",
    "EMIT WHEN": "SELECT g, COUNT(*) AS n FROM e {} GROUP BY g EMIT WHEN n > 1",
    "EMIT LAST EVERY": "SELECT g, x FROM e {} EMIT LAST EVERY 5 SECONDS",
    "EMIT FINAL": "SELECT g, x FROM e {} EMIT FINAL",
    "EMIT FINAL of groups": "SELECT g, COUNT(*) AS n FROM e {} GROUP BY g EMIT FINAL",
    "LAG, LEAD": "SELECT g, LAG(x) OVER (PARTITION BY g ORDER BY ts) AS last FROM e {}",
    "`SUM(...) OVER` a frame": "SELECT g, SUM(x) OVER (PARTITION BY g ORDER BY ts ROWS 2 PRECEDING) AS s FROM e {}",
    "interval joins": f"SELECT a.x FROM e {{0}} AS a JOIN e {{0}} AS b ON a.g = b.g AND {NEAR}",
    "`DEDUPLICATE`": "{rows}",
    "`CORRECT FOR`": "SELECT g, COUNT(*) AS n FROM e {} GROUP BY g",
    "streams timed by arrival": "{rows}",
    "idle clocks": "{rows}",
}
SECOND = 1_000_000
SETTINGS: dict[str, dict[str, Any]] = {
    "`DEDUPLICATE`": {"deduplicate": {"e": ("x", "1 hour")}},
    "`CORRECT FOR`": {"correct_for": "1 minute"},
    "streams timed by arrival": {"time": None, "batch_rows": 1, "arrivals": lambda batch: 3 * SECOND * batch},
    "idle clocks": {
        "idle_clock": True,
        "batch_rows": 5,
        "arrivals": [8 * SECOND, 26 * SECOND],
        "heartbeats": [60 * SECOND, 3 * 86_400 * SECOND],
        "flush": False,  # time alone ends windows
    },
}
"""How the stream is declared, where a row of the table is about that."""


def events() -> pa.Table:
    times = pa.array([1, 2, 3, 7, 8, 12, 14, 15, 21, 26], pa.timestamp("s", tz="UTC"))
    columns = {
        "k": list("ababaababb"),
        "g": list("xyxxyyxxyx"),
        "x": [1.0, 2.0, 4.0, 1.0, 3.0, 4.0, 2.0, 5.0, 1.0, 2.0],
    }
    return pa.table({"ts": times, **columns})


def answered(name: str, window: str) -> bool:
    """Whether a query is answered; nothing but a refusal in our words may stop it, and an answer has rows."""
    early = window if window.endswith(EARLY) else f"{window[:-1]}{EARLY}"
    rows = ASKED["the rows of the window" if window else "LAG, LEAD"].format(window)
    text = ASKED[name].format(window, early=early, rows=rows)
    try:
        given = {"e": events(), "tables": {"t": pa.table({"g": ["x"]})}, "flush": True} | SETTINGS.get(name, {})
        found = windrow.replay(text, **given)
    except windrow.QueryError as error:
        assert error.message and error.at is not None, f"{text}: refused without a place"
        return False
    assert found.num_rows, f"no rows: {text}"
    return True


def column(window: str) -> list[bool]:
    """What works in one kind of window."""
    return [answered(name, window) for name in ASKED]


def table(columns: dict[str, list[bool]]) -> str:
    """The table of the document."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{':-:|' * len(columns)}"]
    for number, name in enumerate(ASKED):
        lines.append(f"| {name} | {' | '.join('yes' if works[number] else '-' for works in columns.values())} |")
    return "\n".join(lines) + "\n"


def written() -> str:
    """The table as the document has it."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    made = table({name: column(window) for name, window in WINDOWS.items()})
    PAGE.write_text(before + BEGIN + made + END + rest.partition(END)[2])
