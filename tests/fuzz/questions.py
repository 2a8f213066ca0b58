"""What is asked of windows: aggregates by groups, rows, DISTINCT and first rows, for Windrow and for DuckDB."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .plans import OPEN, Plans, Source, for_duckdb

ORDER = "SET default_null_order = 'nulls_first_on_asc_last_on_desc'"
E = Source("e", "e", dict(OPEN))
IN_ORDER = "ORDER BY e.ts, e.seq"

BY_ORDER = {
    "FIRST(e.x)": f"first(e.x {IN_ORDER})",
    "LAST(e.k)": f"last(e.k {IN_ORDER})",
    "FIRST(e.n) IGNORE NULLS": f"first(e.n {IN_ORDER}) FILTER (WHERE e.n IS NOT NULL)",
    "LAST(e.x) IGNORE NULLS": f"last(e.x {IN_ORDER}) FILTER (WHERE e.x IS NOT NULL)",
    "ANY_VALUE(e.k)": f"first(e.k {IN_ORDER}) FILTER (WHERE e.k IS NOT NULL)",
    "MIN_BY(e.k, e.n)": "first(e.k ORDER BY e.n, e.ts DESC, e.seq DESC) FILTER (WHERE e.n IS NOT NULL)",
    "MAX_BY(e.n, e.x)": "first(e.n ORDER BY e.x DESC, e.ts DESC, e.seq DESC) FILTER (WHERE e.x IS NOT NULL)",
    "COLLECT_LIST(e.n)": f"coalesce(list(e.n {IN_ORDER}) FILTER (WHERE e.n IS NOT NULL), [])",
    "STRING_AGG(e.k, '-')": f"string_agg(e.k, '-' {IN_ORDER})",
}
OF_VALUES = {
    "TOPK(e.n, 2)": "coalesce((list(e.n ORDER BY e.n DESC) FILTER (WHERE e.n IS NOT NULL))[1:2], [])",
    "BIT_AND(e.n)": "bit_and(e.n)",
    "BIT_OR(e.n)": "bit_or(e.n)",
    "BIT_XOR(e.n)": "bit_xor(e.n)",
    "BOOL_AND(e.n > 1)": "bool_and(e.n > 1)",
    "BOOL_OR(e.x > 1)": "bool_or(e.x > 1)",
    "COUNT_IF(e.n > 2)": "count(*) FILTER (WHERE e.n > 2)",
    "VAR_POP(e.x)": "var_pop(e.x)",
    "VAR_SAMP(e.n)": "var_samp(e.n)",
    "STDDEV_SAMP(e.x)": "stddev_samp(e.x)",
    "COVAR_POP(e.x, e.n)": "covar_pop(e.x, e.n)",
    "REGR_COUNT(e.x, e.n)": "regr_count(e.x, e.n)",
    "REGR_AVGX(e.x, e.n)": "regr_avgx(e.x, e.n)",
    "QUANTILE(e.n, 0.25)": "quantile_cont(e.n, 0.25)",
    "APPROX_COUNT_DISTINCT(e.n)": "count(DISTINCT e.n)",
}


@dataclass(frozen=True)
class Question:
    """What is asked of each window. `listed` are pairs of expressions, ours and DuckDB's."""

    listed: list[tuple[str, str]]
    names: list[str]
    where: str = ""
    group: str | None = None
    having: str = ""
    distinct: bool = False
    first: tuple[str, int] | None = None
    """The order of a ranking or of all rows, and how many there may be."""

    rank: str = ""
    by: str = ""

    def text(self, source: str) -> str:
        shown = [f"{mine} AS {name}" for (mine, _), name in zip(self.listed, self.names)]
        group = f" GROUP BY {self.group}" if self.group else ""
        tail = ""
        if self.first is not None and self.rank:
            by = f"PARTITION BY {self.by} " if self.by else ""
            tail = f" QUALIFY {self.rank} OVER ({by}ORDER BY {self.first[0]}) <= {self.first[1]}"
        elif self.first is not None:
            tail = f" ORDER BY {self.first[0]} LIMIT {self.first[1]}"
        distinct = "DISTINCT " if self.distinct else ""
        return f"SELECT {distinct}{', '.join(shown)} FROM {source}{self.where}{group}{self.having}{tail}"

    def for_duckdb(self) -> str:
        shown = [f"{theirs} AS {name}" for (_, theirs), name in zip(self.listed, self.names)]
        group = "" if self.group is None else f" GROUP BY w{', ' if self.group else ''}{self.group}"
        distinct, tail = "DISTINCT " if self.distinct else "", ""
        if self.first is not None:
            by = f"w, {self.by}" if self.by else "w"
            tail = f" QUALIFY {self.rank or 'ROW_NUMBER()'} OVER (PARTITION BY {by} ORDER BY {self.first[0]})"
            tail += f" <= {self.first[1]}"
        text = f"SELECT {distinct}w, {', '.join(shown)} FROM e{self.where}{group}{self.having}{tail}"
        return for_duckdb(text)

    @staticmethod
    def folded(chance: random.Random, plans: Plans, by_key: bool) -> Question:
        """Groups with the columns of a stream: k, n and x."""
        n = chance.choice(["COUNT(*)", "SUM(e.n)", "MAX(e.n)", "COUNT(DISTINCT e.x)"])
        x = chance.choice(["SUM(e.x)", "MIN(e.x)", "AVG(e.n)"])
        k = "k" if by_key or chance.random() < 0.6 else chance.choice(["MAX(e.k)", "MIN(e.k)"])
        where = f" WHERE {plans._predicate(E).replace('<=>', '=')}" if chance.random() < 0.3 else ""
        group = "k" if k == "k" and not by_key else ""
        cast = f"CAST({n} AS BIGINT)"
        mine = [(k, k), (n, cast), (x, x)]
        if by_key:
            return Question(mine, ["k", "n", "x"], where, "k" if k == "k" else "")
        return Question(mine, ["k", "n", "x"], where, group)


def drawn_question(chance: random.Random, plans: Plans, by_key: bool, levels: int, unordered: bool = False) -> Question:
    where = f" WHERE {plans._predicate(E).replace('<=>', '=')}" if chance.random() < 0.4 else ""
    form = chance.random()
    if form < 0.1:
        listed = [plans._expression(E)[0] for _ in range(chance.randint(1, 3))]
        names = [f"c{i}" for i in range(len(listed))]
        return Question([(one, one) for one in listed], names, where, distinct=chance.random() < 0.5)
    if form < 0.25:
        listed = ["e.k", "e.n", "e.x"]
        rank = chance.choice(["", "ROW_NUMBER()", "RANK()", "DENSE_RANK()"])
        order = chance.sample(listed, 3 if rank in ("", "ROW_NUMBER()") else chance.randint(1, 2))
        words = ", ".join(f"{name}{chance.choice(['', ' DESC'])}" for name in order)
        by = chance.choice(["", "e.k", "e.n"]) if rank else ""
        pairs = [(one, one) for one in listed]
        return Question(pairs, ["k", "n", "x"], where, first=(words, chance.randint(1, 3)), rank=rank, by=by)
    keys = ["k"] if by_key else chance.choice([[], ["k"], ["n"], ["k", "n"]])
    several = "" if by_key or not keys or chance.random() < 0.7 else chance.choice(["ROLLUP", "CUBE", "GROUPING SETS"])
    asked = [_both(plans._aggregate(E)[0]) for _ in range(chance.randint(1, 3))]
    more = list(OF_VALUES.items()) if unordered else [*BY_ORDER.items(), *OF_VALUES.items()]
    asked += chance.sample(more, chance.choice([0, 0, 1, 2]))
    if levels and chance.random() < 0.6:
        asked.append(_both(_of_level(chance, plans, levels)))
    having = chance.choice(["", "", " HAVING COUNT(*) > 1"])
    names = [*keys, *(f"a{i}" for i in range(len(asked)))]
    group = f"{several} ({', '.join(keys)})" if several else ", ".join(keys)
    if several == "GROUPING SETS":
        group = f"GROUPING SETS (({', '.join(keys)}), ({keys[0]}), ())"
    first = None
    if chance.random() < 0.15 and not several:
        order = [*names[len(keys) :][:1], *keys]
        first = (", ".join(f"{name}{chance.choice(['', ' DESC'])}" for name in order), chance.randint(1, 3))
        if not keys:
            first = None
    listed = [*((key, key) for key in keys), *asked]
    found = Question(listed, names, where, group, having, first=first)
    return found


def _both(text: str) -> tuple[str, str]:
    return text, text


def _of_level(chance: random.Random, plans: Plans, levels: int) -> str:
    """An aggregate of the rows that a level holds, in the answers of coarser ones too."""
    asked = plans._aggregate(E)[0]
    level = chance.randint(0, levels - 1)
    wanted = "level = 0" if level == 0 else f"level <= {level}"
    if " FILTER (WHERE " in asked:
        return asked.replace(" FILTER (WHERE ", f" FILTER (WHERE {wanted} AND ")
    return f"{asked} FILTER (WHERE {wanted})"


def rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 9) + 0.0
    return tuple(map(rounded, value)) if isinstance(value, list) else value
