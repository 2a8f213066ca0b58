"""What sqlglot finds wrong, told as a user needs it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from sqlglot import Token, TokenType

from windrow.errors import QueryError
from windrow.language.durations import UNIT_WORDS
from windrow.language.parsing.expressions import WrongArgumentsError
from windrow.language.parsing.queries import CLAUSE_WORDS
from windrow.language.parsing.tokens import SyntaxMistakeError
from windrow.language.spelling import QUERY_WORDS, closest

_HINTS = {
    "AGING": "AGING stands inside the brackets of a window with RANGES",
    "EMIT": "EMIT stands at the end of the whole query; as a name it needs AS or backticks",
    "->": "a lambda is an argument of a function, such as TRANSFORM(xs, x -> x + 1)",
    "CREATE": "end the statement before it with ;",
    "INSERT": "end the statement before it with ;",
    "SELECT": "end the statement before it with ;, or put a query within another in brackets",
    "#": "[RANGE 5 SECONDS] behind the stream's name is time(5 sec), [ROWS 5] is length(5)",
}
_BEHIND = {
    "OUTPUT": "EMIT LAST EVERY 5 SECONDS, at the end of the query",
    "ISTREAM": "EMIT INSERTS, at the end of the query",
    "RSTREAM": "[RANGE ... SLIDE ...] tells all rows at each instant; EMIT DELETES, at the end, those that leave",
    "DSTREAM": "EMIT DELETES, at the end of the query",
    "TOP": "ORDER BY ... LIMIT 10, at the end of the query",
    "IRSTREAM": "EMIT CHANGES, at the end of the query",
}
"""Words of other languages that are read as a name, so that what follows them does not fit."""

_ELSEWHERE = (
    (
        re.compile(r"\w\.((?:win|std|ext):\w+)\s*\("),
        "[RANGE 5 SECONDS] behind the stream's name is win:time(5 sec), [ROWS 5] is win:length(5)",
    ),
    (
        re.compile(r"\b(MATCH_CONDITION)\s*\(", re.IGNORECASE),
        "a join by time: JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL 1 MINUTE AND a.ts",
    ),
)
"""Windows of Esper and joins of Snowflake, which go wrong in the middle of them."""


def explain_mistake(mistake: SyntaxMistakeError, tokens: list[Token], text: str) -> QueryError:
    """The error that a user sees for a mistake that sqlglot's grammar found among `tokens`."""
    token = mistake.token
    if isinstance(mistake, WrongArgumentsError) and token:
        return QueryError(mistake.message, text=text, at=token.start, end=token.end + 1)
    for words, hint in _ELSEWHERE:
        if token and (found := words.search(text, tokens[0].start, token.end + 1)):
            message = f"{found[1]} is not part of the language"
            return QueryError(message, text=text, at=found.start(1), end=found.end(1), hint=hint)
    before = mistake.before or (tokens[-1] if tokens else None)
    if before and before.text.upper() in _BEHIND:
        message = f"{before.text.upper()} is not part of the language"
        return QueryError(message, text=text, at=before.start, end=before.end + 1, hint=_BEHIND[before.text.upper()])
    misspelt, meant = _misspelt(token, before, tokens)
    if misspelt:
        message, hint = f"unexpected {misspelt.text!r}", f"did you mean {meant}?"
        return QueryError(message, text=text, at=misspelt.start, end=misspelt.end + 1, hint=hint)
    if not token:
        behind = tokens[-1].end + 1
        message = f"the statement ends too early, after {tokens[-1].text!r}"
        return QueryError(message, text=text, at=behind, end=behind + 1)
    return QueryError(f"unexpected {token.text!r}", text=text, at=token.start, end=token.end + 1, hint=_hint(token))


def _is_named(token: Token | None, tokens: list[Token]) -> bool:
    """Whether a word is the name of a stream, as behind FROM."""
    index = next((number for number, one in enumerate(tokens) if one is token), 0)
    return index > 0 and tokens[index - 1].token_type in (TokenType.FROM, TokenType.JOIN, TokenType.TABLE)


def _misspelt(token: Token | None, before: Token | None, tokens: list[Token]) -> tuple[Token | None, str | None]:
    """A keyword with a slip is read as an alias, so that the word behind it is the one that does not fit."""
    found: list[tuple[float, Token, str]] = []
    for suspect in (token, None if _is_named(before, tokens) else before):
        if suspect and suspect.token_type == TokenType.VAR and _may_be_misspelt(suspect.text.upper()):
            meant = closest(suspect.text, QUERY_WORDS)
            if meant:
                found.append((SequenceMatcher(None, suspect.text.upper(), meant).ratio(), suspect, meant))
    if not found:
        return None, None
    _, suspect, meant = max(found, key=lambda candidate: candidate[0])
    return suspect, meant


def _may_be_misspelt(word: str) -> bool:
    return len(word) > 3 and word not in (*QUERY_WORDS, *CLAUSE_WORDS, *UNIT_WORDS)


def _hint(token: Token) -> str | None:
    word = token.text.upper()
    if word in _HINTS:
        return _HINTS[word]
    if word in CLAUSE_WORDS:
        return f"a window stands in brackets behind its stream: [RANGE ... SLIDE ...]; as a name {word} needs AS"
    return None
