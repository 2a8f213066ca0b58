"""Python as Spark starts it: run by its path, it has the warm process be what Spark asks for, or runs Python itself.

It loads no more than this takes, and so is there in a moment.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence

PLACE = "WINDROW_WARM_WORKERS"
"""The environment variable that says where the warm process listens."""

TAKEN = b"."
"""What a fork says when it has taken over; its line is closed when it has ended, with all its workers."""

DAEMONS = ("pyspark.daemon", "windrow.spark.workers.daemon")
FORKED = (*DAEMONS, "pyspark.sql.streaming.transform_with_state_driver_worker")
"""The modules that are run in forks: daemons of workers, and what Spark asks, at each start, for the names of state."""


def main(arguments: Sequence[str]) -> None:
    """Do what a Python with these arguments would."""
    asked_for = arguments[1] if len(arguments) > 1 and arguments[0] == "-m" else None
    if asked_for not in FORKED or not handed_over(arguments):
        os.execv(sys.executable, [sys.executable, *arguments])


def handed_over(arguments: Sequence[str]) -> bool:
    """Have a fork of the warm process do it, with our input and output, until it ends; False if nobody listens."""
    place = os.environ.get(PLACE)
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(place or "")
            asked = json.dumps([list(arguments), dict(os.environ), os.getcwd()]).encode()
            socket.send_fds(line, [len(asked).to_bytes(8, "little")], [0, 1, 2])
            line.sendall(asked)
            if line.recv(1) != TAKEN:
                return False
        except OSError:
            return False
        for number in (0, 1, 2):  # they are the fork's now: whoever waits for their end waits for its end
            os.close(number)
        line.recv(1)
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
