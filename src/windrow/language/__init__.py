"""The language: text to statements and back.

`parse_script` and `parse_query` read text, `to_sql` writes it, and what the language adds to SQL is read off a query's
tree by `window_of`, `query_window_of`, `clustering_of` and `emit_of`.

parsing/        From tokens to statements, one layer of the grammar a file; each class adds its layer to the one before
balance         Conditions joined by AND or OR, as a tree that is as flat as it can be
clauses         Which parts of a statement the language knows, and who makes something of each
clusterings     The clustering clause as a plain value
depth           How deep a statement may be nested, and room on Python's stack to read and work on one that deep
dialect         The dialect: Spark's SQL with windows
durations       Lengths of time as text: `10 MINUTES`, `0.5 seconds`, `1 HOUR 30 MINUTES`
generator       From trees to text
identifiers     Names as they are written in a statement
long_lists      Long lists of constants behind IN: read at once, and kept as one node, since a list may have 100,000 of
                them
mistakes        What sqlglot finds wrong, told as a user needs it
nodes           What the language adds to a sqlglot tree: windows, the mode of emission and the clustering clause
refuse_clauses  What sqlglot's grammar reads and the language has no meaning for: refused where it stands, never dropped
script          From the text of a script to its statements
spans           Where in the text a node was written, so that an error can underline it
spelling        Which word was meant
statement_text  From statements to their canonical text
statements      The statements of a script
tokenize        From text to the tokens of its statements
variables       Variables of a script: `SET minutes = 10;` and then `RANGE ${minutes} MINUTES`
windows         The windows of streams as plain values, in microseconds and rows
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
    CreateIndex,
    CreateSink,
    CreateStream,
    CreateTable,
    CreateView,
    DeriveStream,
    IndexedColumn,
    Insert,
    Query,
    SplitStream,
    Statement,
)
from windrow.language.windows import (
    CalendarWindow,
    CumulateWindow,
    LevelsWindow,
    PredicateWindow,
    RowRangeTimeSlideWindow,
    RowWindow,
    SessionWindow,
    TimeRangeRowSlideWindow,
    TimeWindow,
    Window,
    query_window_of,
    window_of,
)

__all__ = [
    "EMIT_MODES",
    "CalendarWindow",
    "Clustering",
    "ColumnDefinition",
    "CreateIndex",
    "CreateSink",
    "CreateStream",
    "CreateTable",
    "CreateView",
    "CumulateWindow",
    "DeriveStream",
    "IndexedColumn",
    "Insert",
    "LevelsWindow",
    "PredicateWindow",
    "Query",
    "RowRangeTimeSlideWindow",
    "RowWindow",
    "SessionWindow",
    "SplitStream",
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
