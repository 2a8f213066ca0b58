"""Names as they are written in a statement."""

from __future__ import annotations

import re

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser


def identifier_sql(name: str) -> str:
    """A name, in backticks where it would not be read as a name without.

    >>> identifier_sql("price"), identifier_sql("unit price"), identifier_sql("select")
    ('price', '`unit price`', '`select`')
    """
    token = Spark.Tokenizer.KEYWORDS.get(name.upper(), TokenType.VAR)
    if re.fullmatch(r"[A-Za-z_]\w*", name) and token in SparkParser.ID_VAR_TOKENS:
        return name
    escaped = name.replace("`", "``")
    return f"`{escaped}`"
