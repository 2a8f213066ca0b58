"""State that the running queries do not know: kept as it is, unread, until it is asked for again or dropped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from windrow.storage.blocks import Blocks, Snapshot


class SetAside:
    """The parts of a shard's state that no query of the plan asks for, by name; the blocks of each begin with it.

    They stay in the store, nothing of them is in memory, and every snapshot tells of them. `moves` counts the batches
    that brought an event or moved the clock, and is the same in all shards. A part that comes back before the next one
    goes on as if it had never been away. Later it lacks what has gone by: it is deleted, and its query begins anew.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> aside = SetAside(MemoryBlocks())
    >>> aside.sorted_out({"a": {"n": 1}, "b": {"n": 2}}, {"a"}, {"b": "panes of b"}, None)
    {'a': {'n': 1}}
    >>> aside.sorted_out({"a": {"n": 1}}, {"a", "b"}, {}, None)
    {'a': {'n': 1}, 'b': {'n': 2}}
    """

    def __init__(self, blocks: Blocks, kept: Mapping[str, Any] | None = None, forgets: Collection[str] = ()) -> None:
        """As `kept` has it; what is in `forgets` was dropped, and is deleted where it is not known."""
        self._blocks, self._forgets = blocks, frozenset(forgets)
        self.moves: int = kept["moves"] if kept else 0
        self._parts: dict[str, dict[str, Any]] = dict(kept["parts"]) if kept else {}
        self.deleted = False
        """Whether anything was deleted: what a worker still has in memory of it is of no use any more."""

    def sorted_out(
        self, live: Mapping[str, Snapshot], known: Collection[str], texts: Mapping[str, str], clock: int | None
    ) -> dict[str, Snapshot]:
        """The state of all that is `known`, of what the last batch has left: `live`, in words `texts`, at `clock`."""
        whole = [name for name in self._parts if name in known and self._parts[name]["moves"] == self.moves]
        back = {name: self._parts.pop(name)["state"] for name in sorted(whole)}
        for name in live.keys() - set(known):
            told = {"held": texts.get(name, name), "since": clock, "moves": self.moves}
            self._parts[name] = told | {"state": live[name]}
        for name in sorted(self._parts.keys() & (self._forgets | set(known))):
            del self._parts[name]
            self._blocks.delete_all(f"{name}.")
            self.deleted = True
        return {name: state for name, state in live.items() if name in known} | back

    def snapshot(self) -> dict[str, Any]:
        return {"moves": self.moves, "parts": {name: self._parts[name] for name in sorted(self._parts)}}


def streams_away(
    kept: Mapping[str, Any], read: Collection[str], forgets: Collection[str], blocks: Blocks
) -> dict[str, Snapshot]:
    """The streams of which no query reads any more, as the last batch that read them has left each.

    One that is read again begins anew: what has gone by since nobody has seen. Its old state is deleted, and so is
    that of which all was dropped.
    """
    away = dict(kept.get("away", {}))
    away |= {name: state for name, state in kept.get("streams", {}).items() if name not in read}
    for name in sorted(away):
        parts = {*away[name].get("spaces", {}), *away[name].get("differences", {}), *away[name]["aside"]["parts"]}
        if name in read or parts <= set(forgets):
            del away[name]
            for part in sorted(parts) if name not in kept.get("streams", {}) or name not in read else ():
                blocks.delete_all(f"{part}.")
    return away
