"""Names in expressions: each column replaced by what it stands for, at its old place in the text."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import error_at, expression_sql, span_of
from windrow.plan.bind.lambda_variables import renamed_apart


def substituted(node: exp.Expr, columns: Mapping[str, exp.Expr], text: str) -> exp.Expr:
    """`node` with every column replaced by its meaning in `columns`; names may be in any case, as in Spark."""
    spelt = {name.lower(): name for name in columns}

    def replaced(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        names = [piece.name for piece in part.parts]
        found = next((name for name in (names[0], names[-1]) if name.lower() in spelt), None)
        if found is None:  # a.b is column b of stream a, or field b of column a
            raise unknown_name("column", names[-1], spelt.values(), part, text)
        meant = columns[spelt[found.lower()]].copy()
        for field in names[names.index(found) + 1 :]:
            meant = exp.Dot(this=meant, expression=exp.to_identifier(field))
        plain = isinstance(meant, exp.Column | exp.Func | exp.Literal | exp.Dot)
        return placed_as(meant if plain else exp.paren(meant, copy=False), part)

    copied = node.copy()
    if copied.find(exp.Lambda) is not None:
        inside = {part.name for meant in columns.values() for part in meant.find_all(exp.Column)}
        copied = renamed_apart(copied, inside)
    return copied.transform(replaced)


def check_qualifiers(tree: exp.Select, columns: Iterable[str], text: str) -> None:
    """In a.b, a is the stream of FROM, or its alias, or a column with fields."""
    known = {name.lower() for name in columns}
    source = tree.args["from_"].this.alias_or_name
    clauses = [tree.args.get(clause) for clause in ("where", "group", "having", "order", "qualify")]
    for part in [*tree.selects, *filter(None, clauses)]:
        for column in part.find_all(exp.Column):
            if column.table and column.table.lower() not in {*known, source.lower()}:
                raise unknown_name("stream", column.table, [source], column.args["table"], text)


def unaliased(node: exp.Expr, aliases: Mapping[str, exp.Expr], columns: Iterable[str]) -> exp.Expr:
    """`node` with names of the select list replaced by what they stand for, unless a column has that name."""
    taken = {name.lower() for name in columns}

    def replaced(part: exp.Expr) -> exp.Expr:
        name = part.name.lower() if isinstance(part, exp.Column) and not part.table else None
        if name is None or name in taken or name not in aliases:
            return part
        return placed_as(exp.paren(aliases[name].copy(), copy=False), part)

    return node.copy().transform(replaced)


def placed_as(node: exp.Expr, like: exp.Expr) -> exp.Expr:
    """`node`, to be underlined where `like` is written."""
    span = span_of(like)
    if span is not None:
        node.meta["span"] = span
    return node


def has_variables(node: exp.Expr) -> bool:
    """Whether `node` is a part of a lambda that may name its variables: more than a column, which is no variable."""
    return not isinstance(node, exp.Column) and node.find_ancestor(exp.Lambda) is not None


def with_parts(node: exp.Expr, rewrite: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """`node` itself, each of whose parts is what `rewrite` makes of it."""
    for name, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, rewrite(value))
        elif isinstance(value, list):
            node.set(name, [rewrite(item) if isinstance(item, exp.Expr) else item for item in value])
    return node


def both(left: exp.Expr | None, right: exp.Expr) -> exp.Expr:
    """The conjunction of two conditions, of which the first may be missing."""
    return right if left is None else exp.And(this=exp.paren(left, copy=False), expression=exp.paren(right, copy=False))


def output_name(node: exp.Expr) -> str:
    """The name of a column of the select list: its alias, its own name, or its text."""
    return node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else expression_sql(node)


def is_star(node: exp.Expr) -> bool:
    """Whether a part of a select list is * or a.*."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def check_new(name: str, taken: Iterable[str], place: exp.Expr, text: str) -> None:
    """Refuse a second column of one name."""
    if name.lower() in {known.lower() for known in taken}:
        raise error_at(place, f"two columns are named {name!r}", text, "give one of them another name with AS")


_OF_CHANGES = {
    "istream": "EMIT INSERTS, at the end of the query",
    "rstream": "[RANGE ... SLIDE ...] tells all rows at each instant; EMIT DELETES, at the end, those that leave",
    "irstream": "EMIT CHANGES, at the end of the query",
}
"""What other languages write before the select list, where it is read as a column with an alias."""


def unknown_name(kind: str, name: str, known: Iterable[str], place: exp.Expr, text: str) -> QueryError:
    """An error that says what was meant, or what there is."""
    if kind == "column" and name.lower() in _OF_CHANGES:
        return error_at(place, f"{name.upper()} is not part of the language", text, _OF_CHANGES[name.lower()])
    spelt = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), spelt, n=1)
    listed = f"known {kind}s: {', '.join(spelt.values()) or 'none'}"
    if kind == "column" and name.lower() in _OF_ANSWERS:
        listed = f"{_OF_ANSWERS[name.lower()]}; {listed}"
        close = []
    return error_at(place, f"unknown {kind} {name!r}", text, f"did you mean {spelt[close[0]]}?" if close else listed)


_EDGE = (
    "it is of the answer of a window, beside aggregates and in HAVING, not inside of them; changes, of a query without"
    " SLIDE or with EMIT CHANGES, have time instead"
)
_EARLY = (
    "it is of the answers of windows with EMIT EVERY in the brackets, beside aggregates, not inside of them; EMIT"
    " CHANGES has time instead"
)
_OF_ANSWERS = {"window_start": _EDGE, "window_end": _EDGE, "window_row": _EDGE, "as_of": _EARLY, "final": _EARLY}
_OF_ANSWERS["level"] = "it is of the answers of nested levels, [RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
"""What the columns are that only answers of windows have."""
