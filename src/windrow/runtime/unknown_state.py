"""What a snapshot tells of state that the queries of its job do not know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windrow.runtime.changes.away import only_of


@dataclass(frozen=True, slots=True)
class UnknownState:
    """Its name, what it holds in words, since which instant nobody asks for it, and how its blocks begin."""

    name: str
    held: str
    since_us: int | None
    blocks: tuple[str, ...]


def unknown_in(kept: Mapping[str, Any]) -> list[UnknownState]:
    """All of it in one shard: parts of streams that are read, streams that nobody reads, queries over changes."""
    found: list[UnknownState] = []
    for stream in (*kept.get("streams", {}).values(), *kept.get("away", {}).values()):
        parts = stream["aside"]["parts"]
        found += [UnknownState(name, part["held"], part["since"], (f"{name}.",)) for name, part in parts.items()]
    for stream in kept.get("away", {}).values():
        held = stream["held"].items()
        found += [UnknownState(name, text, stream["clock"], (f"{name}.",)) for name, text in held]
    for entry in kept.get("pipelines", {}).get("together", []):
        for name, away in entry["away"].items():
            found.append(UnknownState(name, away["held"], away["since"], tuple(only_of(name, entry))))
    return found
