"""What of a shard's state cannot be split: nothing in it tells to which of several shards a row belongs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from windrow.errors import StateError
from windrow.runtime.unknown_state import unknown_in


def unsplit_in(kept: Mapping[str, Any], fed: Collection[str], forgotten: Collection[str] = ()) -> list[str]:
    """What a snapshot tells of such state, in words; the streams `fed` are made of answers given in the same shard.

    Operators over changes hold rows without the key that brought them here. Answers that are events of a window stay in
    the shard of the window that gave them. State that no query asks for is of a plan that nobody has; what is
    `forgotten` of it is going to be deleted.
    """
    together = kept.get("pipelines", {}).get("together", [])
    changing = [entry["held"][name] for entry in together for name in entry["roots"]]
    told = [f"{held} (over changes)" for held in changing]
    told += [f"stream {name!r} (answers of windows)" for name in sorted(fed)]
    unknown = [state for state in unknown_in(kept) if state.name not in forgotten]
    return told + [f"{state.held} (asked for by no query)" for state in unknown]


def refuse_unsplit(told: Sequence[str]) -> None:
    """Refuse to split what is `told`."""
    if told:
        raise StateError(
            f"state cannot be split: {'; '.join(told)}"
            "\nhint: joins, set operators, DISTINCT, windows without SLIDE and windows over windows stay in the shards"
            " that they began in: drop them, or go on with as many shards as before. State that no query asks for goes"
            " with windrow clean; a query of the old job must be among those of the new one"
        )
