"""Queries: the places where windows, clusterings and modes of emission stand."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from sqlglot import TokenType, exp

from windrow.language.nodes import (
    CLUSTER,
    EMIT,
    EMIT_MODES,
    OTHERS_WINDOW,
    QUERY_WINDOW,
    ClusterClause,
    Emit,
    QueryWindow,
)
from windrow.language.parsing.ksql_clauses import KsqlParser
from windrow.language.parsing.named_windows import NAMED_WINDOWS, replace_named_windows
from windrow.language.spans import remember_span

# They begin or continue a clause, so a name behind a stream or an expression is none of them without AS before it.
CLAUSE_WORDS = frozenset({"EMIT", "AGING", "WINDOW", "RANGE", "RANGES", "ROWS", "SLIDE", "SLIDES"})

METHOD_WORDS = ("USING", "ALGORITHM")
"""The second is that of Badiozamany 2016, Paper III, Listing 4."""

CLUSTER_NAME = "cid"
"""What a cluster is called where a query does not say."""

_PATTERNS = (
    "[PARTITION BY k FROM a > 1 UNTIL a < 1], LAG(a) OVER (...), or a function that remembers (stream functions)"
)

T = TypeVar("T")


class QueryParser(KsqlParser):
    """Reads SELECT with everything that the language adds to it, and nothing but queries where one is expected."""

    STATEMENT_PARSERS: ClassVar[Any] = {}  # sqlglot's table of statements: within a query there are none
    NO_PAREN_IF_COMMANDS = False
    SET_OP_MODIFIERS = (KsqlParser.SET_OP_MODIFIERS - {CLUSTER}) | {QUERY_WINDOW, EMIT}
    QUERY_MODIFIER_PARSERS: ClassVar[Any] = {
        **KsqlParser.QUERY_MODIFIER_PARSERS,
        TokenType.WINDOW: lambda self: self._parse_clause_of_window(),
        TokenType.DISTRIBUTE_BY: lambda self: ("distribute", self._parse_distribute_clause()),
        TokenType.CLUSTER_BY: lambda self: (CLUSTER, self._parse_cluster_clause()),
    }

    def _parse_table(self, *args: Any, **options: Any) -> exp.Expr | None:
        written = self._parse_window_function() or self._parse_stream_function()
        if written is not None:
            return written
        table = super()._parse_table(*args, **options)
        if self._word() == "MATCH_RECOGNIZE":
            self._fail("MATCH_RECOGNIZE is not part of the language", hint=_PATTERNS)
        if isinstance(table, exp.Subquery) and self._match(TokenType.L_BRACKET):
            self._parse_window_of(table)
            if not table.alias:
                table.set("alias", self._parse_table_alias())
        elif isinstance(table, exp.Table) and self._match(TokenType.L_BRACKET, advance=False):
            hint = f"{table.name} [RANGE ...] AS {table.alias}" if table.alias else None
            self._fail("a window follows the name of its stream, and the alias the window", hint=hint)
        return table

    def _parse_csv(self, *args: Any, **options: Any) -> list[Any]:
        """A list; unlike sqlglot, and like Spark, without a comma at its end."""
        index = self._index
        items = super()._parse_csv(*args, **options)
        if self._index > index and self._prev.token_type == TokenType.COMMA:
            self.raise_error("unexpected")
        return items

    def _parse_table_alias(self, *args: Any, **options: Any) -> exp.TableAlias | None:
        if self._word() in CLAUSE_WORDS or self._word() == "MATCH_RECOGNIZE" or self._at_within():
            return None
        return self._spanned(super()._parse_table_alias, *args, **options)

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        return this if self._word() in CLAUSE_WORDS else super()._parse_alias(this, explicit)

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        """GROUP BY ALL before EMIT: sqlglot would read the word as a column to group by."""
        index = self._index
        if self._match(TokenType.GROUP_BY) and self._match(TokenType.ALL) and self._word() == "EMIT":
            return exp.Group(all=True)
        self._retreat(index)
        return super()._parse_group(skip_group_by_token)

    def _parse_query_modifiers(self, this: Any) -> Any:
        read = super()._parse_query_modifiers(this)
        if isinstance(read, exp.Query):
            replace_named_windows(read, self.sql)
        return self._parse_emit_into(read)

    def _parse_set_operations(self, this: exp.Expr | None) -> exp.Expr | None:
        return self._parse_emit_into(super()._parse_set_operations(this))

    def _parse_emit_into(self, query: T) -> T:
        if isinstance(query, exp.Query) and not isinstance(query, exp.Table) and self._word() == "EMIT":
            index = self._index
            if query.args.get(EMIT) is not None:
                self._fail("a query has only one EMIT")
            self._advance()
            query.set(EMIT, remember_span(self._parse_emit_mode(), *self._span_since(index)))
        return query

    def _parse_emit_mode(self) -> Emit:
        mode = self._word()
        if mode == "ON" and self._match_text_seq("ON", "WINDOW", "CLOSE"):  # as RisingWave has it
            return Emit(this="FINAL")
        if mode == "PERIODIC":
            self._fail(
                "EMIT PERIODIC is not part of the language", hint="EMIT LAST EVERY 5 SECONDS; a window with a SLIDE"
            )
        if mode == "AFTER":
            self._fail(
                "EMIT AFTER is not part of the language", hint="leave it out: a window is answered when it has ended"
            )
        if mode not in (*EMIT_MODES, "LAST", "WHEN"):
            self._fail_expecting((*EMIT_MODES, "LAST EVERY", "WHEN"), "EMIT")
        self._advance()
        if mode == "LAST":
            self._expect("EVERY", after="EMIT LAST")
            return Emit(this="CHANGES", every=self._parse_duration("period of EMIT LAST EVERY"))
        if mode == "WHEN":
            condition = self._parse_disjunction()
            if condition is None:
                self._fail("expected a condition after EMIT WHEN", hint="EMIT WHEN COUNT(*) > 100")
            return Emit(this="INSERTS", when=condition)
        if mode == "CHANGES" and self._word() == "WITH":
            self._advance()
            self._expect("EMPTY", after="EMIT CHANGES WITH")
            return Emit(this=mode, empty=True)
        return Emit(this=mode)

    def _parse_clause_of_window(self) -> tuple[str, Any]:
        """`WINDOW 1 MINUTE`, `WINDOW w AS (PARTITION BY ...)`, or `WINDOW TUMBLING (SIZE 1 MINUTE)`."""
        index = self._index
        self._advance()
        behind = self._next.token_type if self._next else None
        if behind == TokenType.ALIAS:
            return NAMED_WINDOWS, self._parse_csv(self._parse_named_window)
        if behind == TokenType.L_PAREN:
            return OTHERS_WINDOW, self._parse_ksql_window()
        length = self._parse_duration("window")
        return QUERY_WINDOW, remember_span(QueryWindow(this=length), *self._span_since(index))

    def _parse_distribute_clause(self) -> exp.Distribute:
        self._advance()
        return self._parse_distribution()

    def _parse_cluster_clause(self) -> exp.Expr:
        index = self._index
        self._advance()
        expressions = self._parse_csv(self._parse_disjunction)
        if not expressions:
            self._fail("expected what to cluster after CLUSTER BY")
        if len(expressions) == 1 and isinstance(expressions[0], exp.Tuple):  # CLUSTER BY (x, y)
            expressions = expressions[0].expressions
        if self._word() not in ("AS", *METHOD_WORDS):
            hint = "CLUSTER BY x, y AS cluster USING C_BIRCH(50)"
            self._fail_since(index, "CLUSTER BY needs USING and a method", hint)
        alias: exp.Expr = exp.to_identifier(CLUSTER_NAME)
        if self._word() == "AS":
            self._advance()
            alias = self._parse_identifier_name("cluster")
        if self._word() in METHOD_WORDS:
            self._advance()
        else:
            self._expect("USING", after="the name of the cluster")
        using = self._parse_method()
        return remember_span(ClusterClause(expressions=expressions, alias=alias, using=using), *self._span_since(index))

    def _parse_identifier_name(self, what: str) -> exp.Identifier:
        token = self._curr
        name, span = self._parse_name(what)
        return remember_span(exp.Identifier(this=name, quoted=token.token_type == TokenType.IDENTIFIER), *span)

    def _parse_method(self) -> exp.Expr:
        index = self._index
        name, _ = self._parse_name("clustering method")
        arguments: list[exp.Expr] = []
        if self._match(TokenType.L_PAREN):
            arguments = self._parse_csv(self._parse_method_parameter)
            self._expect(")", after="the parameters of the method")
        return remember_span(exp.Anonymous(this=name, expressions=arguments), *self._span_since(index))

    def _parse_method_parameter(self) -> exp.Expr | None:
        """A parameter of a method, with its name before an arrow or without."""
        index, following = self._index, self._next
        if not following or following.token_type != TokenType.FARROW:
            return self._parse_disjunction()
        name = self._parse_identifier_name("parameter")
        self._advance()
        value = self._parse_disjunction()
        if value is None:
            self._fail(f"expected a value behind {name.name} =>")
        return remember_span(exp.Kwarg(this=name, expression=value), *self._span_since(index))
