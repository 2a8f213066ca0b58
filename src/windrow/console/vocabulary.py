"""What an editor completes: words of the language, functions, aggregates, and what the streams have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from windrow.expressions.evaluate import FUNCTIONS
from windrow.plan.catalog import Stream

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "AS", "AND", "OR", "NOT", "NULL", "CASE"),
    *("WHEN", "THEN", "ELSE", "END", "CAST", "DISTINCT", "JOIN", "LEFT JOIN", "ON", "UNION", "MINUS", "INTERSECT"),
    *("RANGE", "SLIDE", "ROWS", "OFFSET", "SECONDS", "MINUTES", "HOURS", "DAYS", "PARTITION BY", "SESSION", "LEVELS"),
    *("EMIT CHANGES", "CLUSTER BY", "CREATE SINK", "USING", "OPTIONS", "INSERT INTO", "WITH", "BETWEEN", "LIKE", "IN"),
)
AGGREGATES = (
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "VARIANCE", "MEDIAN", "PERCENTILE", "FIRST", "LAST", "CORR"),
    *("APPROX_COUNT_DISTINCT", "COLLECT_LIST", "REGR_SLOPE", "REGR_INTERCEPT", "COVAR_POP", "MODE", "BOOL_AND"),
)
WINDOWS = (
    "[RANGE 1 MINUTE SLIDE 10 SECONDS]",
    "[RANGE 10 SECONDS SLIDE 1 SECOND]",
    "[RANGE 1 HOUR SLIDE 1 MINUTE]",
    "[ROWS 100 SLIDE 10]",
)


def vocabulary(streams: Mapping[str, Stream], tables: Mapping[str, pa.Schema]) -> dict[str, Any]:
    """All that a query may name."""
    return {
        "streams": [
            {
                "name": stream.name,
                "time": stream.time,
                "lateness": stream.lateness_us / 1e6,
                "columns": _columns(stream.schema),
            }
            for stream in streams.values()
        ],
        "tables": [{"name": name, "columns": _columns(schema)} for name, schema in tables.items()],
        "words": WORDS,
        "aggregates": AGGREGATES,
        "functions": sorted(name.upper() for name in FUNCTIONS),
        "windows": WINDOWS,
    }


def _columns(schema: pa.Schema) -> list[dict[str, str]]:
    return [{"name": field.name, "type": str(field.type)} for field in schema]
