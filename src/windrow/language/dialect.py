"""The dialect: Spark's SQL with windows."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark

from windrow.language.generator import WindrowGenerator
from windrow.language.parsing.statements import StatementParser


class Windrow(Spark):
    """Spark's SQL with windows in brackets behind the names of streams."""

    NORMALIZE_FUNCTIONS: Any = False  # a user's function is looked up as it was written

    class Tokenizer(Spark.Tokenizer):
        """Spark's words; none of them swallows the rest of a statement unread."""

        COMMANDS: ClassVar[set[TokenType]] = set()
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']  # 'it''s' is one string, as in Spark since 4.0

    Parser = StatementParser

    Generator = WindrowGenerator
