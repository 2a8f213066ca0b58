"""Functions that remember, in FROM, as standard SQL and Flink write them: `hits(TABLE positions PARTITION BY k)`."""

from __future__ import annotations

from sqlglot import TokenType, exp

from windrow.language.nodes import StreamFunction
from windrow.language.parsing.table_functions import TableFunctionParser
from windrow.language.spans import remember_span

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_EXAMPLE = "hits(TABLE positions PARTITION BY player)"


class StreamFunctionParser(TableFunctionParser):
    """Reads a call of a function over a stream, or over a sub-query; the word TABLE may be left out."""

    def _parse_stream_function(self) -> exp.Expr | None:
        """A table whose rows a function gives; None where no such call stands here."""
        if not self._at_stream_function():
            return None
        index = self._index
        function = self._parse_identifier_of("stream function")
        self._advance()
        self._match(TokenType.TABLE)
        query = self._parse_events()
        keys: list[exp.Expr] = []
        if self._match(TokenType.PARTITION_BY):
            keys = self._parse_csv(self._parse_disjunction)
            if not keys:
                self._fail("expected columns after PARTITION BY", hint=_EXAMPLE)
        if self._match(TokenType.DISTRIBUTE_BY):
            if query.args.get("distribute") is not None:
                self._fail("the query says already where its rows go", hint="one DISTRIBUTE BY")
            query.set("distribute", self._parse_distribution())
        if self._word() == "ORDER BY":
            self._fail("events come to a stream function in order of their time", hint="leave ORDER BY out")
        self._expect(")", after=f"what {function.name} reads")
        call = StreamFunction(function=function, query=query, **({"partition_by": keys} if keys else {}))
        table = exp.Table(this=remember_span(call, *self._span_since(index)))
        if self._match(TokenType.L_BRACKET):
            self._parse_window_of(table)
        table.set("alias", self._parse_table_alias() or exp.TableAlias(this=function.copy()))
        return remember_span(table, *self._span_since(index))

    def _at_stream_function(self) -> bool:
        """Whether a name, a bracket, and a stream or a sub-query stand here."""
        ahead = self._tokens[self._index : self._index + 4]
        if len(ahead) < 4 or ahead[0].token_type not in _NAMES or ahead[1].token_type != TokenType.L_PAREN:
            return False
        if ahead[2].token_type in (TokenType.TABLE, TokenType.L_PAREN):
            return True
        ends = (TokenType.PARTITION_BY, TokenType.DISTRIBUTE_BY, TokenType.R_PAREN)
        return ahead[2].token_type in _NAMES and ahead[3].token_type in ends

    def _parse_distribution(self) -> exp.Distribute:
        """What follows DISTRIBUTE BY: a number of a shard, an array of them, or ALL."""
        index = self._index
        if self._match(TokenType.ALL):
            where: exp.Expr | None = exp.var("ALL")
        else:
            where = self._parse_disjunction()
        if where is None:
            self._fail("expected a shard after DISTRIBUTE BY", hint="DISTRIBUTE BY sid % 4, an array of shards, or ALL")
        return remember_span(exp.Distribute(expressions=[where]), *self._span_since(index))

    def _parse_events(self) -> exp.Expr:
        """The query whose rows the function reads: all columns of a stream, or a sub-query."""
        if self._match(TokenType.L_PAREN):
            query = self._parse_select()
            if not isinstance(query, exp.Query):
                self._fail("expected a stream or a query", hint=_EXAMPLE)
            self._expect(")", after="the query")
            return query
        index = self._index
        stream = exp.Table(this=self._parse_identifier_of("stream"))
        if self._curr is not None and self._curr.token_type == TokenType.L_PAREN:
            self._fail("a function reads a stream or a query", hint=f"TABLE (SELECT * FROM {stream.name}(...))")
        return exp.select("*").from_(remember_span(stream, *self._span_since(index)))
