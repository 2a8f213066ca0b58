"""Random plans over random streams, beside DuckDB at random instants: `make plans`.

python -m fuzz.try_plans 20000 [seed [first]]        from tests/
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections import Counter
from time import monotonic

from oracle.followed import KINDS, tried_followed
from windrow.errors import WindrowError

from .change_plans import DifferenceError, streams, tried_plan
from .over_plans import tried_over
from .plans import Plans
from .several_plans import tried_several
from .window_plans import tried_joined, tried_window
from .within_plans import tried_within


def tried(seed: str) -> str:
    """What became of the plan of a seed: answered as DuckDB does, or refused; a difference is raised."""
    drawn = Plans(seed)
    part = drawn.chance.random()
    if part < 0.15:
        return _tried_followed(drawn.chance)
    if part < 0.45:
        return _tried_window(drawn.chance, seed)
    if part < 0.49:
        return tried_several(drawn.chance, streams(drawn.chance, 20), seed)
    try:
        if part < 0.54:
            return tried_over(drawn.chance, streams(drawn.chance, 20), seed)
        return tried_plan(drawn)
    except WindrowError as error:
        return "refused: " + " ".join(str(error).split("\n")[0].split(" (line ")[0].split()[:9])


def _tried_followed(chance: random.Random) -> str:
    """A window that is told while it fills, or as it changes."""
    text, mine, theirs = tried_followed(chance, chance.choice(list(KINDS)))
    if mine != theirs:
        more, less = Counter(mine), Counter(theirs)
        raise DifferenceError(f"more {more - less}, less {less - more}\n{text}")
    return "answered"


def _tried_window(chance: random.Random, seed: str) -> str:
    try:
        part = chance.random()
        way = tried_joined if part < 0.1 else tried_within if part < 0.3 else tried_window
        text, mine, theirs = way(chance, streams(chance, 30), seed)
    except WindrowError as error:
        return "refused: " + " ".join(str(error).split("\n")[0].split(" (line ")[0].split()[:9])
    if mine != theirs:
        raise DifferenceError(f"more {mine - theirs}, less {theirs - mine}\n{text}")
    return "answered"


def main(count: int, seed: int, first: int = 0) -> int:
    begin, ends, broken = monotonic(), Counter[str](), 0
    for number in range(first, first + count):
        name = f"{seed}/{number}"
        try:
            ends[tried(name)] += 1
        except Exception as error:
            broken += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"({place.filename.rsplit('/', 1)[-1]}:{place.lineno})"
            print(f"\n{name}: {type(error).__name__} {where}: {error}", flush=True)
        if number % 1000 == 999:
            print(f"{number + 1 - first} tried, {broken} broken, {monotonic() - begin:.0f} s", flush=True)
    answered = ends.pop("answered", 0)
    print(
        f"seed {seed}: {count} plans, {answered} answered as DuckDB does, {ends.total()} refused, {broken} broken",
        end="",
    )
    print(f" in {monotonic() - begin:.0f} s")
    for reason, often in ends.most_common(40):
        print(f"  {often:6} {reason}")
    return 1 if broken else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
