"""Queries over changes that do not run any more: what they held is kept, as in `set_aside`, until it is dropped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from windrow.storage.blocks import Blocks

Entry = dict[str, Any]
"""What a snapshot tells of queries that came together: `roots` run, `away` do not; `uses` are the operators of each."""


def called_back(entry: Entry, wanted: Collection[str], forgets: Collection[str], moves: int) -> Entry:
    """The same queries, those that are wanted again among its roots, if nothing has gone by since they went.

    Others that are wanted again, and those that were dropped, are not in it any more.
    """
    away = entry["away"]
    back = [name for name in away if name in wanted and away[name]["moves"] == moves]
    stay = {name: told for name, told in away.items() if name not in wanted and name not in forgets}
    return entry | {"roots": [*entry["roots"], *back], "away": stay}


def sent_away(entry: Entry, known: Collection[str], forgets: Collection[str], moves: int, clock: int | None) -> Entry:
    """The same queries, of which only those that are `known` run; who was dropped is not in it any more."""
    gone = [name for name in entry["roots"] if name not in known and name not in forgets]
    away = {name: {"held": entry["held"][name], "since": clock, "moves": moves} for name in gone}
    return entry | {"roots": [name for name in entry["roots"] if name in known], "away": entry["away"] | away}


def let_go(before: Entry, entry: Entry, blocks: Blocks) -> Entry:
    """The same without what nobody in it holds any more, whose blocks are deleted."""
    names = {*entry["roots"], *entry["away"]}
    used = {space for name in names for space in entry["uses"][name]}
    for space in sorted(before["pipeline"]["operators"].keys() - used):
        blocks.delete_all(f"{entry['prefix']}{space}")
    for name in sorted(before["uses"].keys() - names):
        blocks.delete_all(f"{entry['prefix']}answer-{name}")
    operators = {space: kept for space, kept in entry["pipeline"]["operators"].items() if space in used}
    return entry | {
        "uses": {name: spaces for name, spaces in entry["uses"].items() if name in names},
        "pipeline": entry["pipeline"] | {"operators": operators},
        "sampled": {name: kept for name, kept in entry["sampled"].items() if name in names},
    }


def beside(saved: Entry | None, carried: Entry) -> Entry:
    """What is saved of the queries that run, and what was carried along of those that do not."""
    if saved is None:
        return carried
    away = carried["away"]
    uses = {name: carried["uses"][name] for name in away}
    used = {space for spaces in uses.values() for space in spaces}
    operators = {space: kept for space, kept in carried["pipeline"]["operators"].items() if space in used}
    return saved | {
        "away": away,
        "told": {name: told for name, told in carried.get("told", {}).items() if name in away} | saved["told"],
        "uses": saved["uses"] | uses,
        "pipeline": saved["pipeline"] | {"operators": operators | saved["pipeline"]["operators"]},
        "sampled": {name: kept for name, kept in carried["sampled"].items() if name in away} | saved["sampled"],
    }


def only_of(name: str, entry: Mapping[str, Any]) -> list[str]:
    """How the blocks begin that are there for the sake of one query that is away."""
    others = {space for other, spaces in entry["uses"].items() if other != name for space in spaces}
    own = [f"{entry['prefix']}{space}" for space in entry["uses"][name] if space not in others]
    return [*own, f"{entry['prefix']}answer-{name}"]
