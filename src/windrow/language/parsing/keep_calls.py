"""Calls stay what the user wrote."""

from __future__ import annotations

from typing import Any

from sqlglot import ErrorLevel, Token, TokenType, exp

from windrow.language.clauses import AS_WRITTEN


def kept_as_written(node: exp.Expr, name: Token, args: list[Any], dialect: Any) -> exp.Expr:
    """`node` where it prints as it was written, else the call word for word.

    sqlglot's functions are made to be translated: some leave out an argument or turn into another expression, so that
    Spark would be asked something else than the user did. An aggregate may print under a synonym.

    >>> from windrow.language import parse_query
    >>> query = parse_query("SELECT ABS(a), VAR_SAMP(a), TO_TIMESTAMP(a), SIZE(a, b)")
    >>> [type(call).__name__ for call in query.tree.selects]
    ['Abs', 'Variance', 'Anonymous', 'Anonymous']
    """
    if (isinstance(node, exp.IgnoreNulls) and len(args) == 2) or isinstance(node, exp.Struct):
        return node
    quoted = name.token_type == TokenType.IDENTIFIER
    this: Any = exp.Identifier(this=name.text, quoted=True) if quoted else name.text
    written = exp.Anonymous(this=this, expressions=[arg.copy() for arg in args])
    quiet: Any = {"dialect": dialect, "comments": False, "unsupported_level": ErrorLevel.IGNORE}
    printed_name, _, printed_arguments = node.sql(**quiet).partition("(")
    written_name, _, written_arguments = written.sql(**quiet).partition("(")
    same_name = printed_name.upper() == written_name.upper() or (isinstance(node, exp.AggFunc) and len(args) == 1)
    if same_name and printed_arguments == written_arguments:
        node.meta[AS_WRITTEN] = True
        return node
    return written
