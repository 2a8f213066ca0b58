"""The language: text to statements and back.

`parse_script` and `parse_query` read text, `to_sql` writes it, and what the language adds to SQL is read off a query's
tree by `window_of`, `query_window_of`, `clustering_of` and `emit_of`.
"""

from windrow.language.clusterings import Clustering, clustering_of
from windrow.language.depth import deep
from windrow.language.dialect import Windrow
from windrow.language.durations import duration_sql, parse_duration
from windrow.language.identifiers import identifier_sql
from windrow.language.nodes import EMIT_MODES, emit_of
from windrow.language.script import parse_expression, parse_query, parse_script
from windrow.language.spans import as_written, error_at, remember_span, span_of
from windrow.language.statement_text import expression_sql, to_sql
from windrow.language.statements import (
    ColumnDefinition,
    CreateSink,
    CreateStream,
    CreateTable,
    Insert,
    Query,
    Statement,
)
from windrow.language.windows import (
    LevelsWindow,
    PredicateWindow,
    RowRangeTimeSlideWindow,
    RowWindow,
    TimeRangeRowSlideWindow,
    TimeWindow,
    Window,
    query_window_of,
    window_of,
)

__all__ = [
    "EMIT_MODES",
    "Clustering",
    "ColumnDefinition",
    "CreateSink",
    "CreateStream",
    "CreateTable",
    "Insert",
    "LevelsWindow",
    "PredicateWindow",
    "Query",
    "RowRangeTimeSlideWindow",
    "RowWindow",
    "Statement",
    "TimeRangeRowSlideWindow",
    "TimeWindow",
    "Window",
    "Windrow",
    "as_written",
    "clustering_of",
    "deep",
    "duration_sql",
    "emit_of",
    "error_at",
    "expression_sql",
    "identifier_sql",
    "parse_duration",
    "parse_expression",
    "parse_query",
    "parse_script",
    "query_window_of",
    "remember_span",
    "span_of",
    "to_sql",
    "window_of",
]
