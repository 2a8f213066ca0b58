"""Clauses of ksqlDB: `WINDOW TUMBLING (SIZE 1 MINUTE)` behind FROM, and `WITHIN 1 HOUR` in a join."""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

from windrow.language.nodes import OthersWindow, Within
from windrow.language.parsing.stream_functions import StreamFunctionParser
from windrow.language.spans import remember_span, span_of

_PARTS = {"TUMBLING": ("SIZE",), "HOPPING": ("SIZE", "ADVANCE"), "SESSION": ("GAP",)}
_EXAMPLES = {
    "TUMBLING": "WINDOW TUMBLING (SIZE 1 MINUTE)",
    "HOPPING": "WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 10 SECONDS)",
    "SESSION": "WINDOW SESSION (30 MINUTES)",
}
_KEPT = {
    "RETENTION": "leave RETENTION out: how many answers are kept to be asked for is said where a job is served",
    "GRACE": "leave GRACE PERIOD out, and say LATENESS 1 MINUTE behind TIMESTAMP BY in CREATE STREAM",
}


class KsqlParser(StreamFunctionParser):
    """Reads the windows and the joins of ksqlDB."""

    def _parse_ksql_window(self) -> OthersWindow:
        """What stands behind WINDOW, from its kind on."""
        index, kind = self._index, self._word()
        self._advance()
        self._expect("(", after=kind)
        given: dict[str, Any] = {}
        while not given or self._match(TokenType.COMMA):
            word = self._word()
            if word in _KEPT:
                self._fail(f"{word} is not part of a window", hint=_KEPT[word])
            if kind == "SESSION" and not given:
                word = "GAP"
            elif word not in _PARTS[kind] or word in given:
                left = [part for part in _PARTS[kind] if part not in given]
                self._fail_expecting(left or [")"], f"WINDOW {kind} (")
            else:
                self._advance()
            if word == "ADVANCE":
                self._expect("BY", after="ADVANCE")
            given[word] = self._parse_duration("window")
        lacking = [part for part in _PARTS[kind] if part not in given]
        if lacking:
            self._fail(f"WINDOW {kind} lacks {' and '.join(lacking)}", hint=_EXAMPLES[kind])
        self._expect(")", after=f"WINDOW {kind} (")
        if kind == "HOPPING" and given["ADVANCE"].us > given["SIZE"].us:
            self._fail_since(index, "ADVANCE BY is no longer than SIZE", _EXAMPLES[kind])
        size, step = given.get("SIZE") or given["GAP"], given.get("ADVANCE")
        return remember_span(OthersWindow(this=kind, size=size, step=step), *self._span_since(index))

    def _at_within(self) -> bool:
        """Whether `WITHIN 1 HOUR` stands here, or `WITHIN (1 HOUR, 2 HOURS)`, and no name."""
        ahead = self._tokens[self._index + 1 : self._index + 3]
        ahead = ahead[1:] if ahead and ahead[0].token_type == TokenType.L_PAREN else ahead[:1]
        lengths = (TokenType.NUMBER, TokenType.STRING, TokenType.INTERVAL)
        return self._word() == "WITHIN" and bool(ahead) and ahead[0].token_type in lengths

    def _parse_join(self, *args: Any, **options: Any) -> exp.Join | None:
        """A join; WITHIN stands before its ON, which sqlglot's reader of joins would not find behind it."""
        join = super()._parse_join(*args, **options)
        if join is None or self._word() != "WITHIN" or join.args.get("using"):
            return join
        if join.args.get("on") is not None and span_of(join.args["on"]) is not None:  # sqlglot's own ON TRUE has none
            self._fail("WITHIN stands before ON", hint="a JOIN b WITHIN 1 HOUR ON a.k = b.k")
        index = self._index
        self._advance()
        if self._match(TokenType.L_PAREN):
            before = self._parse_duration("time before", least_us=0)
            self._expect(",", after="the time before")
            after = self._parse_duration("time after", least_us=0)
            self._expect(")", after="the time after")
        else:
            before = self._parse_duration("time between two rows", least_us=0)
            after = before.copy()
        if self._word() == "GRACE":
            self._fail("GRACE is not part of a join", hint=_KEPT["GRACE"])
        within = remember_span(Within(this=before, expression=after), *self._span_since(index))
        if not self._match(TokenType.ON):
            self._fail_expecting(["ON"], "WITHIN")
        join.set("on", self._parse_disjunction())
        join.set("within", within)
        return join
