"""How the rows of each query expire, as its checkpoint has it: operators hold other rows with each way."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.errors import SettingsError
from windrow.places.place import AnyPlace
from windrow.plan.nodes.stage import AnyQuery
from windrow.spark.job.checkpoint import QueryEdits


def kept_expiry(changes: QueryEdits, queries: Mapping[str, AnyQuery], common: str | None) -> dict[str, str]:
    """Of queries that do not say how their rows expire, how they did before, where that is not the `common` way.

    One that is asked for another way than it had is refused: its state would fit no more.
    """
    found = {}
    for name, query in queries.items():
        asked, known = query.choose.get("expiry"), changes.expiry.get(name)
        if known is None or known == asked:
            continue
        if asked != common:
            raise SettingsError(
                f"query {name!r} was started with expiry {known!r}, and its state fits no other: go on with it as it"
                " was, or give the query another name"
            )
        found[name] = known
    return found


def keep_expiry(checkpoint: AnyPlace, queries: Mapping[str, AnyQuery], common: str | None) -> None:
    """Write down how the rows of each query expire that was asked for another way than the `common` one."""
    changes = QueryEdits.read(checkpoint)
    own = {name: way for name, query in queries.items() if (way := query.choose.get("expiry")) not in (None, common)}
    own = {name: way for name, way in own.items() if name not in changes.added}
    if own != changes.expiry:
        changes.expiry = own
        changes.write(checkpoint)
