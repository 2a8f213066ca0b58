"""Sub-queries in the ON of inner joins, asked in WHERE: there they become joins of their own."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.catalog import Catalog

_OUTER = ("LEFT", "RIGHT", "FULL")
_KEEPS_OTHERS = ("RIGHT", "FULL")


def ask_in_where(query: Query, catalog: Catalog) -> Query:
    """The query with such conditions in WHERE: which pairs an inner join has may as well be said afterwards.

    Not where a RIGHT or FULL JOIN follows, which adds rows that the condition is not meant for; and the ON of an outer
    join says which rows have a partner, which is something else than which rows there are.

    >>> from windrow.language import parse_query
    >>> text = "SELECT a.x FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c)"
    >>> print(ask_in_where(parse_query(text), None).tree.args["where"])
    WHERE a.x IN (SELECT x FROM c)
    """
    if not any(join.find(exp.Query) for join in query.tree.find_all(exp.Join)):
        return query
    tree = query.tree.copy()
    for select in list(tree.find_all(exp.Select)):
        joins = select.args.get("joins") or []
        for number, join in enumerate(joins):
            later = any(other.side in _KEEPS_OTHERS for other in joins[number + 1 :])
            if join.side not in _OUTER and join.kind not in ("SEMI", "ANTI") and not later:
                _move(join, select)
    return replace(query, tree=tree)


def _move(join: exp.Join, select: exp.Select) -> None:
    condition = join.args.get("on")
    if condition is None or condition.find(exp.Query) is None:
        return
    parts = conjuncts_of(condition)
    staying = [part for part in parts if part.find(exp.Query) is None]
    where = select.args.get("where")
    asked = [
        *(conjuncts_of(where.this) if where else []),
        *(part for part in parts if part.find(exp.Query) is not None),
    ]
    join.set("on", all_of(staying) if staying else None)
    if not staying:
        join.set("kind", "CROSS")
    select.set("where", exp.Where(this=all_of(asked)))
