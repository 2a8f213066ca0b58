"""From trees to text."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from windrow.language.durations import duration_sql
from windrow.language.nodes import (
    EMIT,
    OTHERS_WINDOW,
    QUERY_WINDOW,
    STREAM_WINDOW,
    WITHIN,
    ClusterClause,
    Constants,
    Duration,
    Emit,
    Months,
    OthersWindow,
    PredicateStreamWindow,
    QueryWindow,
    RowCount,
    SessionStreamWindow,
    StreamFunction,
    StreamWindow,
    Unbounded,
    Within,
)

_SELECT = SparkGenerator.TRANSFORMS[exp.Select]


class WindrowGenerator(SparkGenerator):
    """Spark's text, and the clauses that the language adds."""

    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[Any] = set()  # a WITH stays where it stands, and so do its names

    # sqlglot finds methods by name only for nodes of its own.
    TRANSFORMS: ClassVar[Any] = {
        **SparkGenerator.TRANSFORMS,
        # sqlglot would write a sub-query in place of QUALIFY
        exp.Select: lambda self, node: self.select_sql(node) if node.args.get("qualify") else _SELECT(self, node),
        Duration: lambda self, node: self.duration_sql(node),
        Months: lambda self, node: self.months_sql(node),
        RowCount: lambda self, node: self.rowcount_sql(node),
        Unbounded: lambda self, node: self.unbounded_sql(node),
        StreamWindow: lambda self, node: self.streamwindow_sql(node),
        PredicateStreamWindow: lambda self, node: self.predicatestreamwindow_sql(node),
        SessionStreamWindow: lambda self, node: self.sessionstreamwindow_sql(node),
        StreamFunction: lambda self, node: self.streamfunction_sql(node),
        QueryWindow: lambda self, node: self.querywindow_sql(node),
        OthersWindow: lambda self, node: self.otherswindow_sql(node),
        Within: lambda self, node: f"WITHIN ({self.sql(node, 'this')}, {self.sql(node, 'expression')})",
        Emit: lambda self, node: self.emit_sql(node),
        ClusterClause: lambda self, node: self.clusterclause_sql(node),
        Constants: lambda self, node: ", ".join(node.args["this"]),
    }

    def table_parts(self, expression: exp.Table) -> str:
        """A stream's name with its window, so that the alias follows both."""
        window = self.sql(expression, STREAM_WINDOW)
        name = super().table_parts(expression)
        return f"{name} {window}" if window else name

    def subquery_sql(self, expression: exp.Subquery, sep: str = " AS ") -> str:
        """A sub-query with the window over its answers."""
        window = self.sql(expression, STREAM_WINDOW)
        query = super().subquery_sql(expression, sep)
        return f"{query} {window}" if window else query

    def after_limit_modifiers(self, expression: exp.Expr) -> list[str]:
        """WINDOW and EMIT stand at the end of a query."""
        own = [self.sql(expression, key) for key in (OTHERS_WINDOW, QUERY_WINDOW, EMIT)]
        return [*super().after_limit_modifiers(expression), *(self.seg(clause) for clause in own if clause)]

    def duration_sql(self, expression: Duration) -> str:
        return duration_sql(expression.us)

    def months_sql(self, expression: Months) -> str:
        unit, length = (
            ("YEAR", expression.months // 12) if expression.months % 12 == 0 else ("MONTH", expression.months)
        )
        return f"{length} {unit}{'' if length == 1 else 'S'}"

    def rowcount_sql(self, expression: RowCount) -> str:
        return f"{expression.rows} ROWS"

    def unbounded_sql(self, expression: Unbounded) -> str:
        return "UNBOUNDED"

    def streamwindow_sql(self, expression: StreamWindow) -> str:
        nested, rows = expression.args.get("nested"), expression.args.get("rows")
        keys = self.expressions(expression, key="partition_by", flat=True)
        slides = self._lengths(expression, "slides")
        about = "ABOUT " if expression.args.get("about") else ""
        aging = self.expressions(expression, key="aging", flat=True)
        clauses = [
            f"PARTITION BY {keys}" if keys else "",
            f"{'ROWS' if rows else 'RANGES' if nested else 'RANGE'} {self._lengths(expression, 'ranges')}",
            f"{'SLIDES' if nested else 'SLIDE'} {about}{slides}" if slides else "",
            self._clause("OFFSET", expression, "offset"),
            "CUMULATE" if expression.args.get("cumulate") else "",
            self._clause("IN", expression, "zone"),
            self._clause("EMIT EVERY", expression, "emit_every"),
            f"AGING ({aging})" if aging else "",
        ]
        return f"[{' '.join(clause for clause in clauses if clause)}]"

    def streamfunction_sql(self, expression: StreamFunction) -> str:
        keys = self.expressions(expression, key="partition_by", flat=True)
        by = f" PARTITION BY {keys}" if keys else ""
        return f"{self.sql(expression, 'function')}(TABLE ({self.sql(expression, 'query')}){by})"

    def predicatestreamwindow_sql(self, expression: PredicateStreamWindow) -> str:
        keys = self.expressions(expression, key="partition_by", flat=True)
        clauses = [
            f"PARTITION BY {keys}" if keys else "",
            f"FROM {self.sql(expression, 'this')} UNTIL {self.sql(expression, 'expression')}",
            self._clause("EMIT EVERY", expression, "emit_every"),
        ]
        return f"[{' '.join(clause for clause in clauses if clause)}]"

    def sessionstreamwindow_sql(self, expression: SessionStreamWindow) -> str:
        keys = self.expressions(expression, key="partition_by", flat=True)
        every = self._clause(" EMIT EVERY", expression, "emit_every")
        return f"[{f'PARTITION BY {keys} ' if keys else ''}SESSION {self.sql(expression, 'this')}{every}]"

    def querywindow_sql(self, expression: QueryWindow) -> str:
        return f"WINDOW {self.sql(expression, 'this')}"

    def otherswindow_sql(self, expression: OthersWindow) -> str:
        words = "" if expression.name == "SESSION" else "SIZE "
        step = self._clause(", ADVANCE BY", expression, "step")
        return f"WINDOW {expression.name} ({words}{self.sql(expression, 'size')}{step})"

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        """WITHIN stands before ON."""
        within = self.sql(expression, WITHIN)
        if not within:
            return super().join_sql(expression, join_op)
        bare = expression.copy()
        bare.set(WITHIN, None)
        bare.set("on", None)
        if not (bare.side or bare.kind):
            bare.set("kind", "INNER")
        return f"{super().join_sql(bare, join_op)} {within} ON {self.sql(expression, 'on')}"

    def emit_sql(self, expression: Emit) -> str:
        if expression.args.get("every"):
            return f"EMIT LAST EVERY {self.sql(expression, 'every')}"
        if expression.args.get("when"):
            return f"EMIT WHEN {self.sql(expression, 'when')}"
        return f"EMIT {expression.args['this']}" + (" WITH EMPTY" if expression.args.get("empty") else "")

    def clusterclause_sql(self, expression: ClusterClause) -> str:
        keys = self.expressions(expression, flat=True)
        alias, using = self.sql(expression, "alias"), self.sql(expression, "using")
        return f"{self.seg('CLUSTER BY')} {keys} AS {alias} USING {using}"

    def _lengths(self, window: StreamWindow, key: str) -> str:
        """Lengths with commas; a window of rows counts rows where it says nothing else."""
        rows = window.args.get("rows")
        lengths = window.args.get(key) or []
        return ", ".join(
            str(length.rows) if rows and isinstance(length, RowCount) else self.sql(length) for length in lengths
        )

    def _clause(self, words: str, window: exp.Expr, key: str) -> str:
        length = self.sql(window, key)
        return f"{words} {length}" if length else ""
