"""How the queries that are asked for differ from those that a checkpoint has run: nothing drifts without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, place_of
from windrow.plan.query_parts import ALL_STATE_STAYS, ROWS
from windrow.spark.job.checkpoint import QueryEdits, read_back, write_whole

Parts = Mapping[str, str]
"""A query in parts that people can compare."""

ANEW = "the first window that it has all events of"


def noted_queries(checkpoint: AnyPlace) -> dict[str, dict[str, str]] | None:
    """The queries that were asked for when the checkpoint was last started; None if nobody has written that down."""
    place = place_of(checkpoint) / "script.json"
    return read_back(place, _as_noted) if place.exists() else None


def note_queries(checkpoint: AnyPlace, queries: Mapping[str, Parts]) -> None:
    """Write down what is asked for, to be compared at the next start."""
    write_whole(place_of(checkpoint) / "script.json", {name: dict(parts) for name, parts in queries.items()})


def _as_noted(content: object) -> dict[str, dict[str, str]]:
    if not isinstance(content, dict) or not all(isinstance(parts, dict) for parts in content.values()):
        raise ValueError("these are no queries")
    return content


def differing(before: Mapping[str, Parts] | None, now: Mapping[str, Parts], edits: QueryEdits) -> list[str]:
    """The names of queries that run and are new or have changed."""
    if before is None:
        return []
    running = [name for name in now if name not in edits.dropped and name not in edits.stopped]
    return [name for name in running if name not in edits.added and dict(now[name]) != before.get(name)]


def drift(
    checkpoint: str,
    before: Mapping[str, Parts] | None,
    now: Mapping[str, Parts],
    edits: QueryEdits,
    firsts: Mapping[str, str],
) -> list[str]:
    """What differs, a sentence for each query; `firsts` says of those that are new or changed where they begin.

    >>> rows = {"rows": "ticks by symbol string"}
    >>> before = {"a": rows | {"window": "[range 60 s slide 5 s]"}, "b": rows}
    >>> now = {"a": rows | {"window": "[range 30 s slide 5 s]"}, "c": rows}
    >>> for line in drift("DIR", before, now, QueryEdits(dropped=["c"]), {"a": "12:00:00 on"}):
    ...     print(line.replace(" it keeps", "\\n  it keeps"))
    query 'a' has changed: window [range 30 s slide 5 s], before [range 60 s slide 5 s];
      it keeps its state of the same rows and answers from 12:00:00 on
    query 'c' was dropped while the job ran, and does not run: windrow resume DIR c brings it back
    query 'b' is gone: what it kept stays in the checkpoint, and windrow clean DIR shows it
    """
    told: dict[str, str] = {}
    for name in now:
        back = f"windrow resume {checkpoint} {name} brings it back"
        if name in edits.stopped:
            told[name] = f"has stopped, and does not run ({edits.stopped[name]}): {back}"
        elif name in edits.added:
            told[name] = "runs as it was added while the job ran, not as it is asked for here"
        elif name in edits.dropped:
            told[name] = f"was dropped while the job ran, and does not run: {back}"
    for name in differing(before, now, edits):
        assert before is not None
        what = f"has changed: {_change(before[name], now[name])}" if name in before else "is new, and"
        told[name] = f"{what} answers from {firsts.get(name, ANEW)}"
    for name in before or {}:
        if name not in now and name not in edits.added:
            told[name] = f"is gone: what it kept stays in the checkpoint, and windrow clean {checkpoint} shows it"
    return [f"query {name!r} {told[name]}" for name in dict.fromkeys([*now, *told]) if name in told]


def _change(before: Parts, now: Parts) -> str:
    names = [part for part in {**before, **now} if before.get(part) != now.get(part)]
    parts = [f"{part} {now.get(part, 'none')}, before {before.get(part, 'none')}" for part in names]
    if set(names) <= ALL_STATE_STAYS:
        kept = "it keeps all its state and"
    elif ROWS not in names and ROWS in now:
        kept = "it keeps its state of the same rows and"
    else:
        kept = "it begins anew, its state so far is set aside, and it"
    return f"{'; '.join(parts)}; {kept}"


def check_drift(checkpoint: str, told: Sequence[str]) -> None:
    """Refuse to start where anything differs."""
    if told:
        lines = "\n".join(f"  {line}" for line in told)
        raise SettingsError(
            f"the checkpoint {checkpoint} has run other queries than these:\n{lines}"
            "\nhint: start without strict if this is meant, or with a new checkpoint"
        )
