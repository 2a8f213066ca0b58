"""Which queries have been told of the last answers that new ones are compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any


class Audience:
    """Queries of equal answers share what is compared, and each is told what differs from what it was told itself.

    One that comes beside others has been told nothing: of the first window that is compared it is told all. `asking`
    has the queries by what is compared, and `known` is what there are last answers of. How often the answer of a query
    has `begun` anew is counted: who was told before that knows nothing of it any more. `moves` counts batches as in
    `SetAside`: who comes back before the next one goes on as if it had never been away. Who is in no snapshot is of one
    from before it had this, and has been told.

    >>> first = Audience({"sums": ["a"]}, None, (), {}, 1)
    >>> then = Audience({"sums": ["a", "b"]}, first.snapshot(), {"sums"}, {}, 1)
    >>> then.is_new("sums", "a"), then.is_new("sums", "b")
    (False, True)
    >>> then.tell("sums")
    >>> then.is_new("sums", "b")
    False
    """

    def __init__(
        self,
        asking: Mapping[str, Collection[str]],
        kept: Mapping[str, Any] | None,
        known: Collection[str],
        begun: Mapping[str, int],
        moves: int,
    ) -> None:
        self._asking, self._begun = asking, begun
        self._told: dict[str, set[str]] = {}
        self._away: dict[str, dict[str, list[int]]] = {}
        before: Mapping[str, Mapping[str, list[int]]] = kept["told"] if kept else {}
        gone: Mapping[str, Mapping[str, list[int]]] = kept["away"] if kept else {}
        for compared in sorted({*before, *gone}):
            left = {name: [count, moves] for name, (count,) in before.get(compared, {}).items()}
            left |= {name: [count, since] for name, (count, since) in gone.get(compared, {}).items() if since == moves}
            wanted = asking.get(compared, ())
            self._told[compared] = {name for name in wanted if left.get(name, [None])[0] == begun.get(name, 0)}
            self._away[compared] = {name: told for name, told in left.items() if name not in wanted}
        for compared, names in asking.items():
            if compared not in known or compared not in self._told:
                self._told[compared] = set(names)

    def is_new(self, compared: str, name: str) -> bool:
        """Whether a query has been told nothing yet of what is compared."""
        return name not in self._told[compared]

    def has_new(self, compared: str) -> bool:
        return len(self._told[compared]) < len(set(self._asking[compared]))

    def tell(self, compared: str) -> None:
        """All who ask have been told of the last answer."""
        self._told[compared] = set(self._asking[compared])

    def snapshot(self) -> dict[str, Any]:
        told = {
            compared: {name: [self._begun.get(name, 0)] for name in sorted(self._told[compared])}
            for compared in sorted(self._asking)
        }
        return {"told": told, "away": {compared: away for compared, away in self._away.items() if away}}
