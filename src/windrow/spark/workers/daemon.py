"""What Spark starts as its daemon of workers, by `spark.python.daemon.module`: it has the warm process take its place.

With Spark's own daemon each worker would load Spark, Arrow, Numba and Windrow anew. This one loads nothing: it hands
its input and output to the warm process, which forks. Where there is none, as on a machine of a cluster, it loads what
workers need once, and then forks them itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys

PLACE = "WINDROW_WARM_WORKERS"
"""The environment variable that says where the warm process listens."""

TAKEN = b"."
"""What a daemon says when it has taken over; its line is closed when it has ended, with all its workers."""


def main() -> None:
    place = os.environ.get(PLACE)
    if place is None or not _handed_over(place):
        from windrow.spark.workers.load import be_daemon, load_all

        load_all()
        be_daemon()


def _handed_over(place: str) -> bool:
    """Have the daemon run in a fork of the warm process, until it ends; False if nobody listens."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(place)
        except OSError:
            return False
        asked = json.dumps([sys.argv, dict(os.environ)]).encode()
        socket.send_fds(line, [len(asked).to_bytes(8, "little")], [0, 1, 2])
        try:
            line.sendall(asked)
            if line.recv(1) != TAKEN:
                return False
        except OSError:
            return False
        for number in (0, 1, 2):  # they are the daemon's now: whoever waits for their end waits for its end
            os.close(number)
        line.recv(1)
        return True


if __name__ == "__main__":
    main()
