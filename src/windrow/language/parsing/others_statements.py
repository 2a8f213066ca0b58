"""Words of others' CREATE and INSERT statements, and what is written here in their place."""

from __future__ import annotations

from windrow.errors import QueryError

_ONCE = "leave it out: a script declares each name once, whenever it runs"
_KEYS = "leave it out: a stream has no keys, and DEDUPLICATE BY id WITHIN 1 HOUR tells what came before"
_INSTEAD = {
    "MATERIALIZED": "CREATE STREAM name AS SELECT ... for other queries, INSERT INTO sink SELECT ... for readers",
    "SOURCE": "CREATE STREAM name (ts TIMESTAMP, id INT) USING kafka OPTIONS (...) TIMESTAMP BY ts",
    "TEMPORARY": "CREATE TABLE, CREATE VIEW: a script's names are its own",
    "OR": _ONCE,
    "NOT": _ONCE,
    "WITH": "USING kafka OPTIONS (...) FORMAT json behind the columns, and TIMESTAMP BY ts",
    "WATERMARK": "TIMESTAMP BY ts LATENESS 5 SECONDS behind the options",
    "KEY": _KEYS,
    "PRIMARY": _KEYS,
    "VALUES": "a sink takes the answers of a query: INSERT INTO sink SELECT ...",
}
"""Hints, by the word that is not known here."""


def with_way_out(error: QueryError) -> QueryError:
    """The same mistake with a hint, where it has none and the word is one of another language."""
    if error.hint or error.text is None or error.at is None:
        return error
    word = error.text[error.at : error.end].upper()
    before = error.text[: error.at].rstrip().upper()
    hint = _INSTEAD.get(word)
    if word == "AS" and " TABLE " in before[-80:]:
        hint = "CREATE STREAM name AS SELECT ...: the answers of a query are a stream"
    elif word == "(" and before.endswith(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")):
        hint = "TIMESTAMP, without a number of digits: it has microseconds"
    return error if hint is None else type(error)(error.message, text=error.text, at=error.at, end=error.end, hint=hint)
