"""From text to the tokens of its statements."""

from __future__ import annotations

import re

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from windrow.errors import QueryError
from windrow.language.depth import DEEPEST_BRACKETS
from windrow.language.dialect import Windrow
from windrow.language.long_lists import Lists, without_long_lists

_CLOSING = {TokenType.L_PAREN: TokenType.R_PAREN, TokenType.L_BRACKET: TokenType.R_BRACKET}
_CLOSED_BY = {"(": ")", "[": "]"}
_OPENS = {*_CLOSING, TokenType.CASE}
_CLOSES = {*_CLOSING.values(), TokenType.END}
_SIGNS = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}


def statement_tokens(text: str) -> tuple[list[list[Token]], Lists]:
    """The tokens of each statement in `text`, without empty ones, and the long lists that one token stands for.

    >>> [[token.text for token in tokens] for tokens in statement_tokens("SELECT 1; -- one\\n;SELECT 2")[0]]
    [['SELECT', '1'], ['SELECT', '2']]
    """
    _refuse_half_characters(text)
    shorter, lists = without_long_lists(text)
    tokens = _tokens(shorter, text)
    if lists and not lists.keys() <= {token.start for token in tokens}:  # one was no list after all
        lists, tokens = {}, _tokens(text, text)
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    found = [statement for statement in statements if statement]
    for statement in found:
        _refuse_foreign(statement, text)
        _refuse_unbalanced(statement, text)
    return found, lists


def _tokens(read: str, text: str) -> list[Token]:
    try:
        return Windrow().tokenize(read)
    except TokenError as error:
        raise _unclosed_text(text, error) from None


def refuse_nested(tokens: list[Token], text: str) -> None:
    """Raise where brackets, CASE and signs stand deeper inside of each other than can be read."""
    depth = signs = 0
    for token in tokens:
        signs = signs + 1 if token.token_type in _SIGNS else 0
        depth += (token.token_type in _OPENS) - (token.token_type in _CLOSES)
        if depth + signs > DEEPEST_BRACKETS:
            message = f"this stands in {DEEPEST_BRACKETS} brackets, and no statement may be nested more deeply"
            hint = "compute a part of it in a sub-query of WITH"
            raise QueryError(message, text=text, at=token.start, end=token.end + 1, hint=hint)


def _refuse_half_characters(text: str) -> None:
    """Half of a pair of surrogates is no character: nothing that is written or sent could hold it."""
    half = re.search("[\ud800-\udfff]", text)
    if half is not None:
        message = f"half a character, U+{ord(half[0]):04X}, which no text can hold"
        raise QueryError(message, text=text, at=half.start(), end=half.end(), hint="leave it out")


def _refuse_foreign(tokens: list[Token], text: str) -> None:
    """Raise for hints, for braces, which Spark has not, and for a number that ends as none, which it calls a name."""
    for token in tokens:
        if token.token_type == TokenType.HINT:
            message = "a HINT is not part of the language"
            raise QueryError(message, text=text, at=token.start, end=token.end + 1, hint="leave it out")
        if token.token_type in (TokenType.L_BRACE, TokenType.R_BRACE):
            raise QueryError(f"unexpected {token.text!r}", text=text, at=token.start, end=token.end + 1)
        written = text[token.start : token.end + 1]
        wrong = token.token_type == TokenType.NUMBER and token.text[-1] in "eE"
        if wrong or (token.token_type == TokenType.HEX_STRING and written[0] == "0"):
            hint = f"X'{token.text}' are bytes" if not wrong else f"{token.text}0; a name stands in backticks"
            raise QueryError(f"{written} is not a number", text=text, at=token.start, end=token.end + 1, hint=hint)


def _refuse_unbalanced(tokens: list[Token], text: str) -> None:
    """A bracket that is not closed is told as such, not as the strange words that seem to stand inside it."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type in _CLOSING:
            opened.append(token)
        elif token.token_type in _CLOSING.values():
            if not opened:
                raise QueryError(f"{token.text!r} closes nothing", text=text, at=token.start, end=token.end + 1)
            begin = opened.pop()
            if _CLOSING[begin.token_type] != token.token_type:
                wanted = _CLOSED_BY[begin.text]
                message = f"expected {wanted!r} to close {begin.text!r}, but found {token.text!r}"
                raise QueryError(message, text=text, at=token.start, end=token.end + 1, hint=f"write {wanted}")
    if opened:
        begin, wanted = opened[-1], _CLOSED_BY[opened[-1].text]
        what = "window" if begin.text == "[" else "parenthesis"
        message = f"this {what} is not closed"
        raise QueryError(message, text=text, at=begin.start, end=begin.end + 1, hint=f"add the missing {wanted}")


def _unclosed_text(text: str, error: TokenError) -> QueryError:
    """sqlglot tells the place of an open quote only inside a message, and that of an open comment not at all."""
    place = re.search(r"Missing (.+) from \d+:(\d+)", str(error.__cause__))
    at = min(int(place[2]), len(text)) if place else text.rfind("/*")
    if place and text[at : at + 1] != place[1]:
        at = max(text.rfind(place[1], 0, at), 0)
    if at < 0:
        return QueryError("this text cannot be read", text=text, at=0)
    what = {"'": "string", '"': "string", "`": "name"}.get(text[at], "comment")
    closing = "*/" if what == "comment" else text[at]
    message = f"this {what} is not closed"
    return QueryError(message, text=text, at=at, end=len(text), hint=f"add the missing {closing}")
