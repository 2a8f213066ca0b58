"""What a script comes to, found without Spark where that is possible, which takes no second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import typer

from windrow.cli.launch import Launch, started

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Drafted:
    """How many queries a script has, what finds the mistakes of all of them together, and what explains them."""

    queries: int
    check: Callable[[], None]
    explain: Callable[[], str]


def with_script(launch: Launch, text: str, then: Callable[[Drafted], T], checkpoint: str | None = None) -> T:
    """Declare the statements of a script, and do something with them: without Spark, or else on one, and say why.

    What a `checkpoint` knows of the streams is used.
    """
    with pandas_aside():
        from windrow.application import Application
        from windrow.draft import Draft, NeedsSpark

        try:
            draft = Draft(
                launch.master,
                launch.options,
                shards=launch.shards,
                memory_bytes=launch.memory_bytes,
                keep=launch.keep,
                expiry=launch.expiry,
                choose=launch.choose,
                beat=launch.beat,
            )
            sinks = Application(draft, text).sinks
            check = partial(draft.check, checkpoint)
            return then(Drafted(len(sinks), check, lambda: draft.explain(sinks, checkpoint)))
        except NeedsSpark as needs:
            reason = str(needs)
    _find_pandas()
    typer.echo(f"starting Spark: {reason}", err=True)
    with started(launch) as session:
        declared = Application(session, text)
        explain = partial(session.explain, sinks=declared.sinks, checkpoint=checkpoint)
        return then(Drafted(len(declared.sinks), partial(session.check, checkpoint), explain))


@contextmanager
def pandas_aside() -> Iterator[None]:
    """Arrow loads pandas, for half a second, when it makes its first array; here it is told that there is none."""
    if "pandas" in sys.modules:
        yield
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        yield
    finally:
        sys.meta_path.remove(hidden)


class _Hidden:
    """Finds no pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ImportError("pandas is not needed here")


def _find_pandas() -> None:
    """Arrow remembers whether there is pandas, until it is asked for something that cannot be done without."""
    import pyarrow as pa

    pa.nulls(0).to_pandas()
