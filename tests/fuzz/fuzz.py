"""Random statements through every door that needs no Spark: whatever is written, only errors of ours come out.

python -m fuzz.fuzz 20000 [seed]        from tests/; `make fuzz` does this
"""

from __future__ import annotations

import sys
import traceback
from time import monotonic

import pyarrow as pa

import windrow
from windrow.errors import WindrowError
from windrow.language import Query, parse_script, to_sql

from .statements import statements

EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 7, 11, 11], pa.timestamp("s", tz="UTC")),
        "i": pa.array([1, 2, 3, None, -(2**31)], pa.int32()),
        "x": [1.0, -0.0, float("nan"), None, float("inf")],
        "k": ["a", "b", None, "a", ""],
        "xs": [[1, 2], [], None, [None], [3]],
    }
)
TABLE = pa.table({"k": ["a", "b"], "name": ["x", None]})


def tried(text: str) -> str:
    """What became of `text`: refused when it was read, or later, or answered; an error that is not ours is raised."""
    try:
        read = parse_script(text)
    except WindrowError as error:
        str(error).encode()
        return "not read"
    for statement in read:
        assert parse_script(to_sql(statement)) == (statement,), "this reads otherwise when it is written again"
    if len(read) != 1 or not isinstance(read[0], Query):
        return "no query"
    try:
        windrow.replay(text, ev=EVENTS, tables={"t": TABLE}, batch_rows=2, flush=True)
    except WindrowError as error:
        str(error).encode()
        return "refused"
    return "answered"


def main(count: int, seed: int) -> int:
    found: dict[str, tuple[int, str]] = {}
    begin, ends = monotonic(), dict[str, int]()
    for number, text in enumerate(statements(seed, count)):
        try:
            end = tried(text)
        except Exception as error:
            end = "broken"
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} at {place.name} ({place.filename.rsplit('/', 1)[-1]}:{place.lineno})"
            found.setdefault(key, (number, text))
        ends[end] = ends.get(end, 0) + 1
    print(f"seed {seed}: {ends} in {monotonic() - begin:.0f} s")
    for key, (number, text) in found.items():
        print(f"\n{key}\n  statement {number}: {text!r}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
