"""Whole statements: CREATE, INSERT and queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import Token, TokenType, exp

from windrow.errors import QueryError
from windrow.language.depth import refuse_deep
from windrow.language.durations import LEAST_BEAT_US, LONGEST_US, short_beat
from windrow.language.long_lists import Lists
from windrow.language.parsing.name_clause_words import name_clause_words
from windrow.language.parsing.others_statements import with_way_out
from windrow.language.parsing.splits import SplitParser
from windrow.language.parsing.standard_comparisons import in_own_words
from windrow.language.refuse_clauses import refuse_clauses
from windrow.language.spans import Span, error_at
from windrow.language.spelling import STATEMENT_WORDS, did_you_mean
from windrow.language.statements import (
    CreateSink,
    CreateStream,
    CreateTable,
    CreateView,
    DeriveStream,
    Insert,
    Query,
    SplitStream,
    Statement,
)

_CREATABLE = ("STREAM", "TABLE", "VIEW", "SINK", "INDEX")

T = TypeVar("T")


class StatementParser(SplitParser):
    """Reads one statement from its tokens."""

    def read_statement(self, tokens: list[Token], text: str, lists: Lists) -> Statement:
        """The statement that `tokens` are; `text` is the whole script that they were taken from."""
        try:
            return self._read_whole(self._parse_any_statement, tokens, text, lists)
        except QueryError as error:
            if tokens[0].token_type not in (TokenType.CREATE, TokenType.INSERT):
                raise
            raise with_way_out(error) from None

    def read_expression(self, tokens: list[Token], text: str, lists: Lists) -> exp.Expr:
        """The expression that `tokens` are."""
        expression = self._read_whole(self._parse_expression, tokens, text, lists)
        assert expression is not None
        return expression

    def _read_whole(self, parse: Callable[[], T], tokens: list[Token], text: str, lists: Lists) -> T:
        self.reset()
        self.sql, self._lists, self._chunks = text, lists, [name_clause_words(tokens)]
        self._advance_chunk()
        found = parse()
        if found is None or self._curr:
            self.raise_error("unexpected")
        return found

    def _parse_any_statement(self) -> Statement:
        if self._match(TokenType.CREATE):
            return self._parse_create_statement()
        if self._match(TokenType.INSERT):
            return self._parse_insert_statement()
        if self._curr.token_type in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
            return self._parse_query()
        hint = (
            did_you_mean(self._curr.text, STATEMENT_WORDS) or "a statement begins with SELECT, WITH, CREATE or INSERT"
        )
        self._fail(f"unknown statement {self._curr.text!r}", hint=hint)

    def _parse_query(self) -> Query:
        index = self._index
        if not self._match_set((TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN), advance=False):
            self._fail_expecting(["SELECT", "WITH"])
        tree = self._parse_statement()
        if tree is None or self._curr:
            self.raise_error("unexpected")
        assert tree is not None
        if not isinstance(tree, (exp.Select, exp.SetOperation, exp.Subquery)):
            raise error_at(tree, "this is not a query", self.sql, "a query begins with SELECT or WITH")
        refuse_deep(tree, self.sql)
        tree = in_own_words(tree, self.sql)
        refuse_clauses(tree, self.sql)
        return Query(tree, self.sql, self._span_since(index))

    def _parse_insert_statement(self) -> Insert:
        index = self._index - 1
        self._expect("INTO", after="INSERT")
        sink, sink_span = self._parse_name("sink")
        name, name_span = self._parse_name("query") if self._match(TokenType.ALIAS) else (None, sink_span)
        query = self._parse_query()
        return Insert(sink, query, name, sink_span, **self._placed(index, name_span))

    def _parse_create_statement(self) -> Statement:
        index = self._index - 1
        kind = self._word()
        if kind not in _CREATABLE:
            self._fail_expecting(_CREATABLE, "CREATE")
        self._advance()
        name, name_span = self._parse_name(kind.lower())
        if kind == "STREAM" and self._match(TokenType.COMMA, advance=False):
            names = self._parse_names(name, name_span)
            self._expect("AS", after="the names of the streams")
            return self._refused(self._parse_split(names, index))
        if kind == "STREAM" and self._match(TokenType.ALIAS):
            if self._word() == "SPLIT":
                return self._refused(self._parse_split([(name, name_span)], index))
            return DeriveStream(name, self._parse_query(), **self._placed(index, name_span))
        if kind == "VIEW":
            columns_of_view = self._parse_columns_of_view()
            self._expect("AS", after="the name of the view")
            query = self._parse_query()
            if columns_of_view:  # as behind a sub-query: FROM (...) AS v (a, b)
                alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=columns_of_view)
                query = replace(query, tree=exp.select("*").from_(exp.Subquery(this=query.tree, alias=alias)))
            return CreateView(name, query, **self._placed(index, name_span))
        if kind == "INDEX":
            return self._parse_window_index(name, index, name_span)
        columns = () if kind == "SINK" else self._parse_columns()
        source = self._parse_format(name)
        options = self._parse_options()
        message = {} if kind == "TABLE" else self._parse_message()
        if kind == "STREAM":
            about = self._parse_timing() | message
            return CreateStream(name, columns, source, options, **about, **self._placed(index, name_span))
        if kind == "TABLE":
            refresh = self._parse_table_refresh()
            return CreateTable(name, columns, source, options, *refresh, **self._placed(index, name_span))
        rejected, streams, spans = self._parse_rejected()
        placed = message | self._placed(index, name_span)
        return CreateSink(name, source, options, rejected, streams, **placed, stream_spans=spans)

    def _parse_columns_of_view(self) -> list[exp.Identifier]:
        """The names of the columns of a view, if it gives them others than its query."""
        found: list[exp.Identifier] = []
        if self._match(TokenType.L_PAREN):
            while not found or self._match(TokenType.COMMA):
                found.append(self._parse_identifier_of("column"))
            self._expect(")", after="the names of the columns")
        return found

    def _refused(self, split: SplitStream) -> SplitStream:
        """The same, unless a branch has what the language does not know."""
        for _, branch in split.branches:
            refuse_deep(branch.tree, self.sql)
            in_own_words(branch.tree, self.sql)
            refuse_clauses(branch.tree, self.sql)
        return split

    def _placed(self, index: int, name_span: Span) -> dict[str, Any]:
        return {"text": self.sql, "span": self._span_since(index), "name_span": name_span}

    def _parse_timing(self) -> dict[str, Any]:
        """TIMESTAMP BY, LATENESS, CORRECT FOR, AHEAD, IDLE CLOCK, DEDUPLICATE BY, SHED ABOVE and AFTER, in any order.

        A comma may stand before CORRECT: `LATENESS 2 SECONDS, CORRECT FOR 1 MINUTE`.
        """
        timing: dict[str, Any] = {}
        words: list[Token] = []
        while self._curr:
            if words and self._next and self._next.text.upper() == "CORRECT":
                self._match(TokenType.COMMA)
            word, name = self._word(), self._timing_name()
            if name in timing:
                self._fail(f"a stream has only one {word}")
            words.append(self._curr)
            self._advance()
            if name == "timestamp_by":
                self._expect("BY", after="TIMESTAMP")
                timing[name] = self._parse_disjunction()
                if timing[name] is None:
                    self._fail("expected a column or an expression after TIMESTAMP BY")
            elif name == "lateness_us":
                timing[name] = self._parse_duration("lateness", least_us=0).us
            elif name == "correct_us":
                self._expect("FOR", after="CORRECT")
                timing[name] = self._parse_duration("time of corrections").us
            elif name == "ahead_us":
                unbounded = self._match_text_seq("UNBOUNDED")
                timing[name] = LONGEST_US if unbounded else self._parse_duration("time ahead", least_us=0).us
            elif name == "unique_by":
                self._expect("BY", after="DEDUPLICATE")
                timing[name] = tuple(self._parse_csv(self._parse_disjunction))
                if not timing[name]:
                    self._fail("expected what tells events apart", hint="DEDUPLICATE BY id WITHIN 1 HOUR")
                self._expect("WITHIN", after="the columns of DEDUPLICATE BY")
                timing["unique_us"] = self._parse_duration("time WITHIN").us
            elif name == "after":
                timing[name] = self._parse_history()
            elif name == "shed_us":
                timing[name] = self._parse_shedding()
            else:
                self._expect("CLOCK", after="IDLE")
                timing |= {name: True, **self._parse_idle_clock()}
        words = [word for word in words if word.text.upper() != "SHED"]  # the delay is one of the wall clock
        if words and "timestamp_by" not in timing:
            what = words[0].text.upper().replace("IDLE", "IDLE CLOCK").replace("DEDUPLICATE", "DEDUPLICATE BY")
            what = what.replace("CORRECT", "CORRECT FOR")
            message = f"{what} needs TIMESTAMP BY: without it a stream goes by the wall clock alone"
            self._fail(message, words[0], f"add TIMESTAMP BY and a column, or leave {what} out")
        return timing

    def _timing_name(self) -> str:
        names = {"TIMESTAMP": "timestamp_by", "LATENESS": "lateness_us", "AHEAD": "ahead_us", "IDLE": "idle_clock"}
        names |= {"DEDUPLICATE": "unique_by", "CORRECT": "correct_us", "AFTER": "after", "SHED": "shed_us"}
        if self._word() not in names:
            known = ("TIMESTAMP BY", "LATENESS", "CORRECT FOR", "AHEAD", "IDLE CLOCK", "DEDUPLICATE BY")
            self._fail_expecting((*known, "SHED ABOVE", "AFTER"))
        return names[self._word()]

    def _parse_idle_clock(self) -> dict[str, Any]:
        """`IDLE CLOCK ALPHA 0.8 BEAT 2 SECONDS`: how it learns the delay of events, and how often it is looked at."""
        said: dict[str, Any] = {}
        while self._word() in ("ALPHA", "BEAT"):
            word = self._word()
            if word in said:
                self._fail(f"an idle clock has only one {word}")
            self._advance()
            if word == "BEAT":
                index, said[word] = self._index, self._parse_duration("beat").us
                if said[word] < LEAST_BEAT_US:
                    self._fail_since(index, short_beat(said[word]), "BEAT 1 SECOND")
            elif not self._match(TokenType.NUMBER) or not 0 <= float(self._prev.text) < 1:
                self._fail("expected a weight from 0 to below 1 after ALPHA", hint="ALPHA 0.9")
            else:
                said[word] = float(self._prev.text)
        return {"alpha": said.get("ALPHA"), "beat_us": said.get("BEAT")}

    def _parse_shedding(self) -> int:
        """`SHED ABOVE 10 SECONDS DELAY`: the delay above which rows are left out."""
        hint = "SHED ABOVE 10 SECONDS DELAY"
        if not self._match_text_seq("ABOVE") or self._word() in ("", "DELAY"):
            self._fail("SHED needs the delay above which rows are left out", hint=hint)
        shed_us: int = self._parse_duration("delay").us
        if not self._match_text_seq("DELAY"):
            self._fail("expected DELAY after the time of SHED ABOVE", hint=hint)
        return shed_us

    def _parse_table_refresh(self) -> tuple[int | None, str | None]:
        """`REFRESH 10 MINUTES AS read_at`: how often a table is read again, and the column that says when it was."""
        if not self._curr:
            return None, None
        self._expect("REFRESH", after="the options of a table")
        every = self._parse_duration("time between two refreshes").us
        return every, self._parse_name("column")[0] if self._match(TokenType.ALIAS) else None

    def _parse_rejected(self) -> tuple[bool, tuple[str, ...], tuple[Span, ...]]:
        if not self._curr:
            return False, (), ()
        self._expect("FOR", after="the options of a sink")
        self._expect("REJECTED", after="FOR")
        named: list[tuple[str, Span]] = []
        if self._match_text_seq("OF"):
            named.append(self._parse_name("stream"))
            while self._match(TokenType.COMMA):
                named.append(self._parse_name("stream"))
        return True, tuple(name for name, _ in named), tuple(span for _, span in named)
