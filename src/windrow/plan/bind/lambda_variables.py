"""Variables of lambdas that would catch a column of the same name are called something else."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp


def renamed_apart(tree: exp.Expr, taken: Collection[str]) -> exp.Expr:
    """`tree`, in which no variable of a lambda is called as one of `taken`, in whatever case; changed in place.

    A column that is replaced by what it stands for may bring the name of another column into a lambda.

    >>> from windrow.language import expression_sql, parse_expression
    >>> tree = parse_expression("TRANSFORM(xs, x -> x.x + y + AGGREGATE(x, 0, (x, z) -> x + z))")
    >>> expression_sql(renamed_apart(tree, {"x"}))
    'TRANSFORM(xs, x_ -> x_.x + y + AGGREGATE(x_, 0, (x_, z) -> x_ + z))'
    """
    names = {name.lower() for name in taken}
    for function in tree.find_all(exp.Lambda):
        for variable in function.expressions:
            if variable.name.lower() in names:
                _rename(function, variable.name, _apart(function, variable.name, names))
    return tree


def _rename(function: exp.Lambda, old: str, new: str) -> None:
    for name in list(function.find_all(exp.Identifier)):
        if name.name == old and _is_variable(name):
            name.set("this", new)


def _is_variable(name: exp.Identifier) -> bool:
    """Whether a name in a lambda is a variable: no column, no field of a struct, nothing that AS gives."""
    parent = name.parent
    if isinstance(parent, exp.Dot | exp.PropertyEQ | exp.Alias):
        return name.arg_key == ("expression" if isinstance(parent, exp.PropertyEQ) else "this")
    return not isinstance(parent, exp.Column)


def _apart(function: exp.Lambda, name: str, taken: Collection[str]) -> str:
    used = {known.name.lower() for known in function.find_all(exp.Identifier)}
    while name.lower() in taken or name.lower() in used:
        name += "_"
    return name
