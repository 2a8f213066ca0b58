"""Random plans as texts: joins, set operators, groups, rankings and sub-queries, up to five deep.

`a {5}` stands for stream a through a window of 5 microseconds. A text is read by Windrow and, with the events of the
windows in place of the streams, by DuckDB; where they write something in two ways, `both` has the pairs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

TEXT, WHOLE, DOUBLE = "text", "whole", "double"
OPEN = {"k": TEXT, "n": WHOLE, "x": DOUBLE}
STREAMS = ("a", "b")
TABLE = "t"
"""Its rows are always there, so that it has no window; its columns are those of the streams."""

TOTAL = "/*total*/"
"""Behind an aggregate without GROUP BY: an empty window has no row, and SQL has one."""

SOME = " HAVING COUNT(*) > 0"
"""Behind several groupings: that of all rows has no row where there are none, and SQL has one."""

AND_SOME = " /*and some*/"
"""The same behind a HAVING that nothing may fulfil, too."""

ASKED_IN_ON = "/*asked in on*/"
"""Before a condition with a sub-query in the ON of an inner join, which has the same rows if it stands in WHERE."""

both = {"LEFT SEMI JOIN": "SEMI JOIN", "LEFT ANTI JOIN": "ANTI JOIN", "<=>": "IS NOT DISTINCT FROM", "MINUS": "EXCEPT"}


@dataclass(frozen=True)
class Source:
    """What stands in FROM, and its columns by type."""

    text: str
    name: str
    columns: dict[str, str]

    def column(self, column: str) -> str:
        return f"{self.name}.{column}"


@dataclass(frozen=True)
class Relation:
    """A query, and its columns by type."""

    text: str
    columns: dict[str, str]


class Plans:
    """Draws plans; the same seed gives the same ones."""

    def __init__(self, seed: int | str, most: int = 5) -> None:
        self.chance = random.Random(seed)
        self._names = 0
        self._most = most

    def drawn(self) -> Relation:
        """A plan, of any depth up to the greatest."""
        return self.relation(self.chance.randint(1, self._most))

    def relation(self, depth: int) -> Relation:
        kinds = [self._projected, self._grouped, self._grouped, self._total, self._distinct]
        if depth > 1:
            kinds += [self._joined, self._joined, self._outer, self._half, self._set, self._set, self._ranked]
            kinds += [self._where_in, self._scalar, self._first, self._named, self._near]
        return self.chance.choice(kinds)(depth)

    # what stands in FROM

    def source(self, depth: int) -> Source:
        """A stream through its window, or a sub-query."""
        name = self._fresh("q")
        if depth <= 1 or self.chance.random() < 0.3:
            stream = self.chance.choice(STREAMS)
            return Source(f"{stream} {{{self.chance.randint(1, 12)}}} AS {name}", name, dict(OPEN))
        inner = self.relation(depth - 1)
        return Source(f"({inner.text}) AS {name}", name, inner.columns)

    def other_side(self, depth: int) -> Source:
        """What stands on the right of a join: a source, or the table."""
        part = self.chance.random()
        if part < 0.06:
            return self.of_table()
        return self.source(depth) if part > 0.1 else self.over_tables()

    def of_table(self) -> Source:
        name = self._fresh("q")
        return Source(f"{TABLE} AS {name}", name, dict(OPEN))

    def over_tables(self) -> Source:
        """The answer of a query over the table alone."""
        source, name = self.of_table(), self._fresh("q")
        listed = self._some(source)
        inner = self._select(source, listed, self._where(source))
        match self.chance.randint(0, 3):
            case 0:
                inner = Relation(inner.text.replace("SELECT", "SELECT DISTINCT", 1), inner.columns)
            case 1:
                keys = list(dict.fromkeys(listed))
                grouped = self._select(source, [*keys, *self._aggregates(source)], self._where(source))
                inner = Relation(f"{grouped.text} GROUP BY {', '.join(text for text, _ in keys)}", grouped.columns)
            case 2:
                other = self.of_table()
                if condition := self._condition(source, other):
                    inner = self._listed(listed, f"{source.text} JOIN {other.text} ON {condition}")
        return Source(f"({inner.text}) AS {name}", name, inner.columns)

    def asked_of(self) -> Source:
        """What a sub-query of one value or of a condition reads: a stream, the table, or a query over it."""
        part = self.chance.random()
        return self.source(1) if part < 0.7 else self.of_table() if part < 0.85 else self.over_tables()

    # kinds of queries

    def _projected(self, depth: int) -> Relation:
        source = self.source(depth)
        return self._select(source, self._some(source), self._where(source))

    def _distinct(self, depth: int) -> Relation:
        source = self.source(depth)
        found = self._select(source, self._some(source, most=2), self._where(source))
        return Relation(found.text.replace("SELECT", "SELECT DISTINCT", 1), found.columns)

    def _grouped(self, depth: int) -> Relation:
        source = self.source(depth)
        keys = [self._expression(source) for _ in range(self.chance.randint(1, 2))]
        keys = list(dict.fromkeys(keys))
        listed = [*keys, *self._aggregates(source)]
        found = self._select(source, listed, self._where(source))
        having = self.chance.choice(["", "", " HAVING COUNT(*) > 1", self._having(source)])
        by = ", ".join(text for text, _ in keys)
        if self.chance.random() < 0.2:
            by = self.chance.choice([f"ROLLUP ({by})", f"CUBE ({by})", f"GROUPING SETS (({by}), ({keys[0][0]}), ())"])
            having = f"{having}{AND_SOME}" if having else SOME
        return Relation(f"{found.text} GROUP BY {by}{having}", found.columns)

    def _total(self, depth: int) -> Relation:
        source = self.source(depth)
        found = self._select(source, self._aggregates(source), self._where(source))
        return Relation(f"{found.text} {TOTAL}", found.columns)

    def _joined(self, depth: int, kinds: tuple[str, ...] = ("JOIN", "JOIN", ",", "CROSS JOIN")) -> Relation:
        left, right = self.source(depth - 1), self.other_side(depth - 1)
        kind, condition = self.chance.choice(kinds), self._condition(left, right)
        listed = [*self._some(left, most=2), *self._some(right, most=2)]
        if kind == "," and condition:
            text = f"{left.text}, {right.text} WHERE {condition}"
        elif kind in (",", "CROSS JOIN"):
            text = f"{left.text} CROSS JOIN {right.text}"
        else:
            text = f"{left.text} {kind} {right.text} ON {condition or '1 = 1'}"
            side = left if kind in ("RIGHT JOIN", "FULL JOIN") else self.chance.choice([left, right])
            if kind in ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN") and self.chance.random() < 0.2:
                text += f" AND {self._asked(side)}"
        if kind == "JOIN" and self.chance.random() < 0.25:
            text += f" {ASKED_IN_ON} {self._asked(self.chance.choice([left, right]))}"
        return self._listed(listed, text)

    def _asked(self, source: Source) -> str:
        """A condition on a side of a join that asks a sub-query: IN, EXISTS, or a value."""
        inner = self.asked_of()
        type = self.chance.choice(list(source.columns.values()))
        negated = self.chance.choice(["", "NOT "])
        match self.chance.randint(0, 2):
            case 0:
                listed = f"SELECT {self._of_type(inner, type)} AS {self._fresh('c')} FROM {inner.text}"
                return f"{self._of_type(source, type)} {negated}IN ({listed}{self._where(inner)})"
            case 1:
                correlated = self._condition(source, inner)
                where = f" WHERE {correlated}" if correlated else ""
                return f"{negated}EXISTS (SELECT 1 AS {self._fresh('c')} FROM {inner.text}{where})"
        value = self.chance.choice(["COUNT(*)", "MAX({})", "MIN({})"]).format(self._of_type(inner, WHOLE))
        compared = self.chance.choice(["<", ">=", "="])
        return f"{self._of_type(source, WHOLE)} {compared} (SELECT {value} FROM {inner.text})"

    def _outer(self, depth: int) -> Relation:
        return self._joined(depth, ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))

    def _half(self, depth: int) -> Relation:
        left, right = self.source(depth - 1), self.other_side(depth - 1)
        kind = self.chance.choice(["LEFT SEMI JOIN", "LEFT ANTI JOIN"])
        condition = self._condition(left, right)
        if not condition:
            return self._projected(depth)
        if self.chance.random() < 0.2:
            condition += f" AND {self._asked(self.chance.choice([left, right]))}"
        return self._listed(self._some(left), f"{left.text} {kind} {right.text} ON {condition}")

    def _set(self, depth: int) -> Relation:
        word = self.chance.choice(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "MINUS", "MINUS ALL", "EXCEPT"])
        left, right = self.source(depth - 1), self.source(depth - 1)
        types = [
            self.chance.choice(list(left.columns.values()))
            for _ in range(self.chance.randint(1, min(2, len(left.columns))))
        ]
        one = self._select(left, [(self._of_type(left, type), type) for type in types], self._where(left))
        other = self._select(right, [(self._of_type(right, type), type) for type in types], self._where(right))
        return Relation(f"{one.text} {word} {other.text}", one.columns)

    def _ranked(self, depth: int) -> Relation:
        source = self.source(depth - 1)
        inner = self._fresh("q")
        order = list(source.columns)
        self.chance.shuffle(order)
        keys = self.chance.sample(order, self.chance.randint(0, min(1, len(order) - 1)))
        ordered = [f"{source.column(name)}{self.chance.choice(['', ' DESC'])}" for name in order]
        function = self.chance.choice(["ROW_NUMBER()", "RANK()", "DENSE_RANK()"])
        if function != "ROW_NUMBER()":
            ordered = ordered[:1]
        by = f"PARTITION BY {', '.join(map(source.column, keys))} " if keys else ""
        place, count = self._fresh("c"), self.chance.randint(1, 3)
        over = f"{function} OVER ({by}ORDER BY {', '.join(ordered)}) AS {place}"
        listed = [(source.column(name), type) for name, type in source.columns.items()]
        found = self._select(source, listed, self._where(source))
        ranked = (
            found.text.replace(" FROM ", f", {over} FROM ", 1) if "(" not in found.text.split(" FROM ")[0] else None
        )
        columns = found.columns | {place: WHOLE}
        if ranked is None:
            return found
        match self.chance.randint(0, 2):
            case 0:
                return Relation(f"{ranked} QUALIFY {place} <= {count}", columns)
            case 1:
                return Relation(
                    f"SELECT {', '.join(columns)} FROM ({ranked}) AS {inner} WHERE {place} <= {count}", columns
                )
        return Relation(ranked, columns)

    def _first(self, depth: int) -> Relation:
        """The first rows in an order without ties that matter."""
        source = self.source(depth - 1)
        found = self._select(source, [(source.column(name), type) for name, type in source.columns.items()], "")
        order = ", ".join(f"{name}{self.chance.choice(['', ' DESC'])}" for name in found.columns)
        name = self._fresh("q")
        inner = f"{found.text} ORDER BY {order} LIMIT {self.chance.randint(1, 4)}"
        return Relation(f"SELECT * FROM ({inner}) AS {name}", found.columns)

    def _near(self, depth: int) -> Relation:
        """A join by how far apart two events are, through windows."""
        return self.near([f" {{{self.chance.randint(1, 12)}}}" for _ in range(2)])

    def near(self, windows: list[str], kinds: tuple[str, ...] = ("JOIN", "LEFT JOIN", "FULL JOIN", "half")) -> Relation:
        """A join of two streams, through `windows` or none, by how far apart two events are."""
        names = [self._fresh("q"), self._fresh("q")]
        left, right = (
            Source(f"{self.chance.choice(STREAMS)}{window} AS {name}", name, dict(OPEN))
            for name, window in zip(names, windows)
        )
        one, other = names if self.chance.random() < 0.5 else names[::-1]
        low, high = self.chance.randint(0, 6), self.chance.randint(0, 4)
        near = f"{one}.ts BETWEEN {other}.ts - INTERVAL {low} MICROSECONDS AND {other}.ts"
        near += f" + INTERVAL {high} MICROSECONDS" if high else ""
        more = self._condition(left, right) if self.chance.random() < 0.7 else ""
        condition = f"{more} AND {near}" if more else near
        kind = self.chance.choice(kinds)
        if kind != "half":
            listed = [*self._some(left, most=2), *self._some(right, most=2)]
            return self._listed(listed, f"{left.text} {kind} {right.text} ON {condition}")
        if self.chance.random() < 0.5:
            kind = self.chance.choice(["LEFT SEMI JOIN", "LEFT ANTI JOIN"])
            return self._listed(self._some(left), f"{left.text} {kind} {right.text} ON {condition}")
        inner = f"SELECT 1 AS {self._fresh('c')} FROM {right.text} WHERE {condition}"
        return self._listed(self._some(left), f"{left.text} WHERE {self.chance.choice(['', 'NOT '])}EXISTS ({inner})")

    def _where_in(self, depth: int) -> Relation:
        left, right = self.source(depth - 1), self.other_side(depth - 1)
        type = self.chance.choice(list(left.columns.values()))
        negated = self.chance.choice(["", "NOT "])
        part = self.chance.random()
        if part < 0.4:
            inner = f"SELECT {self._of_type(right, type)} AS {self._fresh('c')} FROM {right.text}"
            asked = self.chance.choice([f"{negated}IN", f"{negated}IN", "= ANY", "<> ALL", "> ANY", "<= SOME"])
            condition = f"{self._of_type(left, type)} {asked} ({inner})"
        elif part < 0.5:  # of several columns
            asked, listed = (f"{self._of_type(side, type)}, {self._of_type(side, WHOLE)}" for side in (left, right))
            condition = f"({asked}) {negated}IN (SELECT {listed} FROM {right.text})"
        elif part < 0.55:
            values = ", ".join(f"({self.chance.randint(1, 3)}, 'gear')" for _ in range(self.chance.randint(1, 2)))
            condition = f"({self._of_type(left, WHOLE)}, {self._of_type(left, TEXT)}) {negated}IN ({values})"
        else:
            correlated = self._condition(left, right)
            inner = f"SELECT 1 AS {self._fresh('c')} FROM {right.text}" + (f" WHERE {correlated}" if correlated else "")
            condition = f"{negated}EXISTS ({inner})"
        more = self._where(left).removeprefix(" WHERE ")
        word = "AND"
        if more and (" IN (" in condition or " = " in condition.partition(" ON ")[0].rpartition(" WHERE ")[2]):
            word = self.chance.choice(["AND", "OR", "OR NOT"])
        where = f" WHERE {condition}" + (f" {word} ({more})" if more else "")
        return self._select(left, self._some(left), where)

    def _scalar(self, depth: int) -> Relation:
        left, right = self.source(depth - 1), self.asked_of()
        pairs = self._same_types(left, right)
        asked = self.chance.choice(["COUNT(*)", "MAX({})", "MIN({})"]).format(self._of_type(right, WHOLE))
        where = f" WHERE {right.column(pairs[0][1])} = {left.column(pairs[0][0])}" if pairs else ""
        value = f"(SELECT {asked} FROM {right.text}{where})"
        if self.chance.random() < 0.5:
            return self._listed([*self._some(left, most=2), (value, WHOLE)], left.text)
        whole = self._of_type(left, WHOLE)
        return self._select(left, self._some(left), f" WHERE {whole} {self.chance.choice(['<', '>=', '='])} {value}")

    def _named(self, depth: int) -> Relation:
        """WITH: a name that is read once or twice."""
        inner, name = self.relation(depth - 1), self._fresh("w")
        left, right = (Source(f"{name} AS {own}", own, inner.columns) for own in (self._fresh("q"), self._fresh("q")))
        if self.chance.random() < 0.5 or not (condition := self._condition(left, right)):
            found = self._select(left, self._some(left), self._where(left))
        else:
            found = self._listed(
                [*self._some(left, 2), *self._some(right, 1)], f"{left.text} JOIN {right.text} ON {condition}"
            )
        if inner.text.startswith("WITH") or found.text.startswith("WITH"):
            return found if name not in found.text else inner
        return Relation(f"WITH {name} AS ({inner.text}) {found.text}", found.columns)

    # parts of queries

    def _select(self, source: Source, listed: list[tuple[str, str]], where: str) -> Relation:
        return self._listed(listed, source.text + where)

    def _listed(self, listed: list[tuple[str, str]], rest: str) -> Relation:
        names = [self._fresh("c") for _ in listed]
        text = ", ".join(f"{text} AS {name}" for (text, _), name in zip(listed, names))
        return Relation(f"SELECT {text} FROM {rest}", {name: type for (_, type), name in zip(listed, names)})

    def _some(self, source: Source, most: int = 3) -> list[tuple[str, str]]:
        return [self._expression(source) for _ in range(self.chance.randint(1, most))]

    def _expression(self, source: Source) -> tuple[str, str]:
        name, type = self.chance.choice(list(source.columns.items()))
        column = source.column(name)
        if self.chance.random() < 0.6:
            return column, type
        whole = self.chance.randint(1, 3)
        if type == TEXT:
            texts = [f"UPPER({column})", f"COALESCE({column}, 'none')", f"{column} || 'z'"]
            return self.chance.choice(texts), TEXT
        if type == WHOLE:
            found = [f"{column} + {whole}", f"{column} * {whole}", f"ABS({column} - {whole})", f"-{column}"]
            found += [f"CASE WHEN {column} > {whole} THEN {column} ELSE 0 END", f"NULLIF({column}, {whole})"]
            return self.chance.choice(found), WHOLE
        found = [f"{column} * {whole}", f"COALESCE({column}, 0.25E0)", f"{column} - 1", f"GREATEST({column}, 1.0E0)"]
        return self.chance.choice(found[:3]), DOUBLE

    def _of_type(self, source: Source, type: str) -> str:
        """An expression of a type: a column, or a constant where there is none."""
        found = [name for name, own in source.columns.items() if own == type]
        if found:
            return source.column(self.chance.choice(found))
        return {TEXT: "'nut'", WHOLE: "CAST(2 AS BIGINT)", DOUBLE: "1.0E0"}[type]

    def _aggregates(self, source: Source) -> list[tuple[str, str]]:
        return [self._aggregate(source) for _ in range(self.chance.randint(1, 2))]

    def _aggregate(self, source: Source) -> tuple[str, str]:
        text, type = self._expression(source)
        found = [("COUNT(*)", WHOLE), (f"COUNT({text})", WHOLE), (f"COUNT(DISTINCT {text})", WHOLE)]
        found += [(f"MIN({text})", type), (f"MAX({text})", type)]
        if type != TEXT:
            found += [(f"SUM({text})", type), (f"AVG({text})", DOUBLE), (f"MEDIAN({text})", DOUBLE)]
        asked, type = self.chance.choice(found)
        if self.chance.random() < 0.15:
            asked += f" FILTER (WHERE {self._predicate(source)})"
        return asked, type

    def _having(self, source: Source) -> str:
        asked, type = self._aggregate(source)
        constant = {TEXT: "'gear'", WHOLE: "2", DOUBLE: "1.5E0"}[type]
        return f" HAVING {asked} {self.chance.choice(['>', '<=', '<>'])} {constant}"

    def _where(self, source: Source) -> str:
        if self.chance.random() < 0.6:
            return ""
        condition = self._predicate(source)
        if self.chance.random() < 0.3:
            condition += f" {self.chance.choice(['AND', 'OR'])} {self._predicate(source)}"
        return f" WHERE {condition}"

    def _predicate(self, source: Source) -> str:
        text, type = self._expression(source)
        match self.chance.randint(0, 5):
            case 0:
                return f"{text} IS {self.chance.choice(['', 'NOT '])}NULL"
            case 1 if type == TEXT:
                return f"{text} IN ('nut', 'gear')"
            case 1:
                return f"{text} BETWEEN 1 AND 3"
        constant = {TEXT: "'gear'", WHOLE: "2", DOUBLE: "1.5E0"}[type]
        return f"{text} {self.chance.choice(['=', '<>', '<', '>=', '<=>'])} {constant}"

    def _same_types(self, left: Source, right: Source) -> list[tuple[str, str]]:
        pairs = [
            (one, other) for one in left.columns for other in right.columns if left.columns[one] == right.columns[other]
        ]
        self.chance.shuffle(pairs)
        return pairs

    def _condition(self, left: Source, right: Source) -> str:
        """What joins two sides: an equality, with or without more, or none."""
        pairs = self._same_types(left, right)
        if not pairs:
            return ""
        one, other = (left.column(pairs[0][0]), right.column(pairs[0][1]))
        kind = self.chance.choice(["=", "=", "=", "=", "<=>", "<", ">="])
        found = [f"{one} {kind} {other}"]
        if len(pairs) > 1 and self.chance.random() < 0.35:
            more = self.chance.choice(["=", "<", "<>", "<=>"])
            found.append(f"{left.column(pairs[1][0])} {more} {right.column(pairs[1][1])}")
        if self.chance.random() < 0.15:
            found.append(self._predicate(self.chance.choice([left, right])))
        return " AND ".join(found)

    def _fresh(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"


def for_duckdb(text: str) -> str:
    """A plan's text in DuckDB's words."""
    for mine, theirs in both.items():
        text = text.replace(mine, theirs)
    for mark, words in ((TOTAL, "HAVING COUNT(*) > 0"), (AND_SOME, " AND COUNT(*) > 0"), (ASKED_IN_ON, "WHERE")):
        text = text.replace(mark, words)
    return text


def for_windrow(text: str) -> str:
    return text.replace(TOTAL, "").replace(AND_SOME, "").replace(ASKED_IN_ON, "AND")
