"""Which word was meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

QUERY_WORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WITH", "JOIN", "INNER"),
    *("LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "SEMI", "ANTI", "USING", "UNION", "INTERSECT", "EXCEPT", "MINUS"),
    *("WINDOW", "EMIT", "CLUSTER", "FILTER", "IGNORE", "NULLS", "BETWEEN", "RANGE", "SLIDE"),
)
STATEMENT_WORDS = ("SELECT", "WITH", "CREATE", "INSERT")


def closest(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant, or None.

    >>> closest("SELCT", STATEMENT_WORDS), closest("hello", STATEMENT_WORDS)
    ('SELECT', None)
    """
    candidates = list(words)
    found = get_close_matches(word.upper(), candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, words: Iterable[str]) -> str | None:
    """A hint that names the word that was probably meant, or None.

    >>> did_you_mean("minuts", ["MINUTES", "HOURS"])
    'did you mean MINUTES?'
    """
    found = closest(word, words)
    return f"did you mean {found}?" if found and found != word.upper() else None


def listed(words: Iterable[str]) -> str:
    """Words as a sentence has them.

    >>> listed(["RANGE", "ROWS", "FROM"]), listed(["SLIDE"])
    ('RANGE, ROWS or FROM', 'SLIDE')
    """
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
