"""Names of tables as a database reads them: what a user calls a table is never read as SQL."""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import SparkSession

from windrow.errors import SettingsError

_CLOSES = {'"': '"', "`": "`", "[": "]"}
"""How a part of a name may have been quoted, whatever the database, and what then ends it."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class TableNames:
    """The name of a table by its parts (`schema.table`), and those of tables beside it.

    Plain parts stay as they are, since databases fold them to upper or lower case each in its own way. All others are
    quoted as the database does it; a part with a dot in it is quoted in the option, as in `shop."new.orders"`.
    """

    def __init__(self, spark: SparkSession, url: str, dbtable: str) -> None:
        jvm: Any = spark._jvm
        self.dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)
        self._parts = split_name(dbtable)

    def table(self, beside: str = "") -> str:
        """The table, or the one whose name has `beside` behind it."""
        *before, (last, plain) = self._parts
        return ".".join(part if bare else self.quoted(part) for part, bare in [*before, (last + beside, plain)])

    def quoted(self, name: str) -> str:
        """The name of a column, or a part of one, that is to be read letter by letter."""
        return str(self.dialect.quoteIdentifier(name))


def split_name(dbtable: str) -> list[tuple[str, bool]]:
    """The parts of a table's name without their quotes, each with whether it is plain.

    >>> split_name('shop."new.orders"')
    [('shop', True), ('new.orders', False)]
    >>> split_name("answer; DROP TABLE users --")
    [('answer; DROP TABLE users --', False)]
    """
    parts: list[tuple[str, bool]] = []
    rest = dbtable.strip()
    while True:
        quoted = _quoted_part(rest)
        if quoted is not None:
            part, rest = quoted
            parts.append((part, False))
        else:
            part, dot, after = rest.partition(".")
            parts.append((part, bool(_PLAIN.fullmatch(part))))
            rest = dot + after
        if not parts[-1][0]:
            raise SettingsError(f"dbtable {dbtable!r} is no name of a table\nhint: dbtable 'table', or 'schema.table'")
        if not rest:
            return parts
        rest = rest[1:]


def _quoted_part(text: str) -> tuple[str, str] | None:
    """The part that is quoted at the beginning of `text`, and what follows; None where there is no such part."""
    closes = _CLOSES.get(text[:1])
    if closes is None:
        return None
    mark = re.escape(closes)
    found = re.match(rf".((?:[^{mark}]|{mark}{mark})*){mark}(?=\.|$)", text, re.DOTALL)
    return None if found is None else (found[1].replace(closes * 2, closes), text[found.end() :])
