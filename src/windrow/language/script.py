"""From the text of a script to its statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sqlglot import Token, exp
from sqlglot.errors import ParseError, TokenError

from windrow.errors import QueryError
from windrow.language.depth import deep
from windrow.language.dialect import Windrow
from windrow.language.long_lists import Lists
from windrow.language.mistakes import explain_mistake
from windrow.language.parsing.statements import StatementParser
from windrow.language.parsing.tokens import SyntaxMistakeError
from windrow.language.statements import ColumnDefinition, CreateStream, Query, Statement
from windrow.language.tokenize import refuse_nested, statement_tokens

T = TypeVar("T")


@lru_cache(maxsize=1)
@deep
def parse_script(text: str) -> tuple[Statement, ...]:
    """The statements of a script, in their order; any mistake is a QueryError.

    A command reads its script to find mistakes, what it needs of Spark, and what it declares: it is parsed once for all
    of them, and none of them changes what it is given.

    >>> [type(statement).__name__ for statement in parse_script("CREATE SINK s USING console; INSERT INTO s SELECT 1")]
    ['CreateSink', 'Insert']
    """
    statements, lists = statement_tokens(text)
    for tokens in statements:
        refuse_nested(tokens, text)
    return tuple(_read(StatementParser.read_statement, tokens, text, lists) for tokens in statements)


def parse_columns(text: str) -> tuple[ColumnDefinition, ...]:
    """Columns as CREATE STREAM has them in parentheses.

    >>> [column.name for column in parse_columns("card STRING, sent TIMESTAMP METADATA FROM 'timestamp'")]
    ['card', 'sent']
    """
    if not text.strip():
        return ()
    (statement,) = parse_script(f"CREATE STREAM columns ({text}) USING columns")
    assert isinstance(statement, CreateStream)
    return statement.columns


@deep
def parse_expression(text: str) -> exp.Expr:
    """The expression that `text` is, as plans keep it and `expression_sql` writes it.

    >>> parse_expression("a + 1").sql()
    'a + 1'
    """
    statements, lists = statement_tokens(text)
    if len(statements) != 1:
        raise QueryError("expected one expression", text=text, at=0)
    return _read(StatementParser.read_expression, statements[0], text, lists)


def parse_query(text: str) -> Query:
    """The one query that `text` is; any mistake is a QueryError.

    >>> parse_query("SELECT 1 FROM ticks [RANG 10 MINUTES]")
    Traceback (most recent call last):
    windrow.errors.QueryError: expected RANGE, ROWS, RANGES, FROM, SESSION or PARTITION BY, but found 'RANG' (line 1, column 22)
      SELECT 1 FROM ticks [RANG 10 MINUTES]
                           ^^^^
    hint: did you mean RANGE?
    """  # noqa: E501 (an error is one line)
    statements = parse_script(text)
    if not statements:
        raise QueryError("there is no query", text=text, at=0, hint="a query begins with SELECT or WITH")
    first, *others = statements
    if not isinstance(first, Query):
        at, end = first.span
        raise QueryError("this is not a query", text=text, at=at, end=end, hint="a query begins with SELECT or WITH")
    if others:
        at, end = others[0].span
        raise QueryError("expected one query, but another statement follows", text=text, at=at, end=end)
    return first


def _read(
    read: Callable[[StatementParser, list[Token], str, Lists], T], tokens: list[Token], text: str, lists: Lists
) -> T:
    parser = Windrow().parser()
    assert isinstance(parser, StatementParser)
    try:
        return read(parser, tokens, text, lists)
    except SyntaxMistakeError as mistake:
        raise explain_mistake(mistake, tokens, text) from None
    except (ParseError, TokenError) as error:  # what stands in a hint is taken apart while it is read
        at, end = tokens[0].start, tokens[-1].end + 1
        raise QueryError(f"this statement cannot be read: {error}", text=text, at=at, end=end) from None
    except RecursionError:
        at, end = tokens[0].start, tokens[-1].end + 1
        raise QueryError("this statement is nested too deeply", text=text, at=at, end=end) from None
