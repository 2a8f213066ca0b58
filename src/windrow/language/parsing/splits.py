"""CREATE STREAM a, b AS SPLIT: several streams of one, by what each takes of it."""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

from windrow.language.parsing.indexes import IndexParser
from windrow.language.spans import Span, remember_span
from windrow.language.statements import Query, SplitStream

_EXAMPLE = "CREATE STREAM balls, feet AS SPLIT positions (SELECT ts, x WHERE sid < 10), (SELECT * WHERE sid >= 10)"


class SplitParser(IndexParser):
    """Reads the branches of SPLIT, which are queries without FROM: they all read the same stream."""

    def _parse_names(self, name: str, name_span: Span) -> list[tuple[str, Span]]:
        """All names of the streams that are made, the first of which has been read."""
        names = [(name, name_span)]
        while self._match(TokenType.COMMA):
            names.append(self._parse_name("stream"))
        taken = [own for own, _ in names]
        if len({own.lower() for own in taken}) < len(taken):
            self._fail("each stream of a SPLIT has a name of its own")
        return names

    def _parse_split(self, names: list[tuple[str, Span]], index: int) -> SplitStream:
        """What follows AS, from SPLIT on."""
        self._expect("SPLIT", after="AS")
        at = self._index
        stream = exp.Table(this=self._parse_identifier_of("stream"))
        remember_span(stream, *self._span_since(at))
        branches: list[Query] = []
        while not branches or self._match(TokenType.COMMA):
            if not self._curr or not self._match(TokenType.L_PAREN):
                self._fail_since(index, "a SPLIT has a branch for each of its streams", _EXAMPLE)
            branches.append(self._parse_branch(stream))
            self._expect(")", after="a branch of SPLIT")
        if len(branches) != len(names):
            named_are = "1 stream is" if len(names) == 1 else f"{len(names)} streams are"
            there_are = "is 1 branch" if len(branches) == 1 else f"are {len(branches)} branches"
            message = f"{named_are} named, and there {there_are}"
            self._fail_since(index, message, _EXAMPLE)
        spans = tuple(span for _, span in names)
        placed: dict[str, Any] = {"text": self.sql, "span": self._span_since(index), "name_span": spans[0]}
        named = tuple((name, branch) for (name, _), branch in zip(names, branches))
        return SplitStream(stream.name, named, **placed, name_spans=spans)

    def _parse_branch(self, stream: exp.Table) -> Query:
        """A select list and a condition; the stream is put where FROM would be."""
        index = self._index
        branch = self._parse_select()
        if not isinstance(branch, exp.Select) or any(branch.args.get(key) for key in _MORE):
            self._fail_since(index, "a branch of SPLIT has a select list, and perhaps WHERE", _EXAMPLE)
        for shown in branch.expressions:
            if any(node.find_ancestor(exp.Window) is None for node in shown.find_all(exp.AggFunc)):
                message = "a branch of SPLIT chooses events one by one, and an aggregate is of many"
                self._fail_since(index, message, "aggregate where the branch is read: FROM balls [RANGE ... SLIDE ...]")
        branch.set("from_", exp.From(this=stream.copy()))
        return Query(remember_span(branch, *self._span_since(index)), self.sql, self._span_since(index))


_MORE = ("from_", "joins", "group", "having", "qualify", "distinct", "order", "limit", "offset", "with_")
"""What makes of a SELECT more than a choice of rows and columns."""
