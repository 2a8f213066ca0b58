"""The table of choices: every way that there is to run a query, what it costs, where it comes from, and its file.

`windrow choices` prints it. A user asks for one by its name: `Session(choose={"maintenance": "two stacks"})`.
"""

from __future__ import annotations

from dataclasses import dataclass

OWN = "own"
"""The index that a user gives as a class."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way: what it is for, its cost as a formula, its source, and the file below `src/windrow/` that has it."""

    choice: str
    name: str
    use: str
    cost: str
    source: str
    file: str


_SALEHI = "Salehi et al. 2010"
_G2CS = "Badiozamany 2016, Paper IV"
_THS = "Tangwongsan, Hirzel, Schneider"
_HAMMAD = "Hammad et al. 2003"
_MENDES = "Mendes et al. 2013"
_WORKING_SET = "storage/working_set.py"

CHOICES: tuple[Alternative, ...] = tuple(
    Alternative(*row)
    for row in (
        ("schedule", "plain", "tests each query", "q / unit", f"{_SALEHI}, VI-A", "schedule/checks.py"),
        ("schedule", "grouped", "tests each slide once", "G / unit", f"{_SALEHI}, VI-A, VI-C", "schedule/checks.py"),
        (
            *("schedule", "graph", "leaves out what hangs on a slide that is not due"),
            *("1 / unit + Σ 1 / parent", f"{_SALEHI}, Algorithm 1", "schedule/graph_walk.py"),
        ),
        (
            *("schedule", "optimized graph", "the same, with dummy nodes where they save tests"),
            *("at most that of graph", f"{_SALEHI}, Algorithm 3", "schedule/optimize_graph.py"),
        ),
        (
            *("schedule", "calendar", "touches only what is due"),
            *("0.5 + 9 D, or D log G", "Varghese, Lauck 1987; Floyd 1964", "schedule/calendar.py"),
        ),
        ("maintenance", "refold", "any; few panes", "n", "the definition", "windows/refold.py"),
        ("maintenance", "subtract", "what can forget", "2 e + 1", f"{_MENDES}, 3", "windows/running.py"),
        (
            *("maintenance", "tree", "any; in blocks, all windows share it", "2 log2 n + 1"),
            *("Tangwongsan et al. 2015", "windows/tree.py"),
        ),
        (
            *("maintenance", "stairs", "MIN, MAX, FIRST, LAST over windows that nest; in memory", "e + 4"),
            *("Patroumpas, Sellis 2010, III", "windows/stairs.py"),
        ),
        (
            *("maintenance", "progressive", "levels, and windows of queries that nest; in blocks"),
            *("4 to 5", "Patroumpas, Sellis 2010, IV-A", "windows/progressive.py"),
        ),
        (
            "maintenance",
            "repetitive",
            "any, over contexts; the baseline",
            "n",
            f"{_G2CS}, 2",
            "windows/repetitive_merge.py",
        ),
        (
            *("maintenance", "binary", "any, over contexts; several ranges share it"),
            *("log2 n + bits(n) - 1", f"{_G2CS}, 3.2", "windows/binary_merge.py"),
        ),
        (
            *("maintenance", "two stacks", "any, over contexts", "3; n in the slide that flips"),
            *(f"{_THS} 2017, 2", "windows/two_stacks.py"),
        ),
        ("maintenance", "DABA", "any, over contexts", "4; 6 at most", f"{_THS} 2021, 5", "windows/daba.py"),
        ("maintenance", "exclude", "what can forget, over contexts", "2 e", f"{_G2CS}, 3", "windows/exclude.py"),
        ("index", "scan", "few micro-clusters", "m a look-up", "the definition", "clustering/index.py"),
        ("index", "grid", "up to 3 dimensions", "O(1) a look-up", f"{_G2CS}, 3.3", "clustering/grid.py"),
        ("index", "boxes", "any dimensions", "O(log m) a look-up", f"{_G2CS}, 3.3", "clustering/box_tree.py"),
        (
            *("index", OWN, "a class of yours with insert, move and nearest: choose={'index': KdTree}"),
            *("yours", f"{_G2CS}, 3.3", "clustering/index.py"),
        ),
        ("keep", "partials", "many events a group", "N (g (s + n t) + G s) bytes", f"{_MENDES}, 2.1", "windows/log.py"),
        ("keep", "rows", "few events a group", "λ W t + N G s bytes", f"{_MENDES}, 2.2", "kernels/collected.py"),
        (
            *("expiry", "input-triggered", "when the next row comes; late by that"),
            *("steps an event", f"{_HAMMAD}, 3.1", "compile/place_expiry.py"),
        ),
        ("expiry", "time probing", "by the clock", "steps an event", f"{_HAMMAD}, 3.2", "compile/place_expiry.py"),
        ("expiry", "negative tuples", "a - for each row", "steps an event", f"{_HAMMAD}, 3.2", "operators/expire.py"),
        ("expiry", "hybrid", "a - only where it is needed", "steps an event", f"{_HAMMAD}, 3.3", "operators/expire.py"),
        (
            "eviction",
            "distance",
            "what is needed last goes",
            "1 read a block",
            f"{_MENDES}, 4.2",
            "storage/working_set.py",
        ),
        (
            "eviction",
            "LRU",
            "what was used first goes",
            "n reads a slide at worst",
            f"{_MENDES}, 4.2",
            "storage/working_set.py",
        ),
        ("eviction", "MRU", "what was used last goes", "1 read a block", f"{_MENDES}, 4.2", "storage/working_set.py"),
        (
            *("phantoms", "on", "one finer grouping feeds coarser ones", "e p + 3 E p k"),
            *("Zhang et al. 2005", "compile/choose_phantoms.py"),
        ),
        ("phantoms", "off", "each grouping by itself", "e p k", "the definition", "runtime/slice/lift.py"),
        (
            *("classes", "on", "predicates told apart in one fold", "e p + e k / 8 + 3 E p k"),
            *("Krishnamurthy et al. 2006", "runtime/slice/classes.py"),
        ),
        ("classes", "off", "each predicate by itself", "e p k", "the definition", "runtime/slice/lift.py"),
    )
)

LEGEND = (
    "q queries, G slides, D of them due; n panes of a window, e of them in a slide; m micro-clusters; N aggregates, G"
    " groups, g of a pane; of events e, partials p, spaces k, entries E. Schedules: tests an instant. Maintenance:"
    " merges a slide."
)


def choices() -> dict[str, tuple[str, ...]]:
    """What can be chosen, each with the names of its alternatives."""
    found: dict[str, tuple[str, ...]] = {}
    for way in CHOICES:
        found[way.choice] = (*found.get(way.choice, ()), way.name)
    return found
