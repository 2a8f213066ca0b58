"""Names for what runs in one Spark query: the streams that it reads, and in how many stages."""

from __future__ import annotations

import re
from collections.abc import Sequence

CHANGES_OF = "changes-"
"""How the names of streams that are read together, or in several stages, begin."""


def run_name(streams: Sequence[str], stages: int) -> str:
    """A name for what reads `streams` in so many stages: a checkpoint keeps the number of both.

    Other streams have another name, whatever they are called; no stream itself may be called so.

    >>> run_name(["a"], 1), run_name(["a", "b"], 1), run_name(["a"], 2)
    ('a', 'changes-a+b', 'changes-2-a')
    """
    if len(streams) == stages == 1:
        return streams[0]
    names = [name.replace("%", "%25").replace("+", "%2B") for name in streams]
    names[0] = re.sub(r"^(\d+)-", r"\1%2D", names[0])  # which would be taken for a number of stages
    return (CHANGES_OF if stages == 1 else f"{CHANGES_OF}{stages}-") + "+".join(names)


def streams_in(run: str) -> tuple[str, ...]:
    """The streams that what runs under a name reads, as people call them.

    >>> streams_in("a"), streams_in(run_name(["a+", "b"], 1)), streams_in(run_name(["2-a"], 2))
    (('a',), ('a+', 'b'), ('2-a',))
    """
    if not run.startswith(CHANGES_OF):
        return (run,)
    names = re.sub(r"^\d+-", "", run.removeprefix(CHANGES_OF)).split("+")
    return tuple(name.replace("%2B", "+").replace("%2D", "-").replace("%25", "%") for name in names)
