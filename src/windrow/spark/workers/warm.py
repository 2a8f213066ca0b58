"""The warm process: it loads what workers need while the JVM starts, and becomes each daemon that Spark asks for."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile

from windrow.spark.workers.daemon import PLACE, TAKEN

DAEMON = {"spark.python.daemon.module": "windrow.spark.workers.daemon"}
"""The setting by which Spark starts our daemon. It is for Sparks on this machine, whose workers run this Python."""

LISTENING = 3
"""The descriptor on which the warm process listens."""


def start_warming() -> None:
    """Start the warm process of this one, unless there is one already; it ends with us."""
    if PLACE in os.environ or not hasattr(socket, "send_fds"):
        return
    folder = tempfile.mkdtemp(prefix="windrow-workers-")  # for its owner only
    place = os.path.join(folder, "warm")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(64)
        _spawn(listening, folder)
    os.environ[PLACE] = place


def _spawn(listening: socket.socket, folder: str) -> None:
    """The warm process, with an input that ends when we do, however that happens: we hold its other end."""
    input, _ = os.pipe()
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    # The JVM gives its Python processes this seed of hashes, so that all of them place a key alike.
    seed = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")}
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "windrow.spark.workers.warm", folder],
        os.environ | seed,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, input, 0),
            (os.POSIX_SPAWN_DUP2, listening.fileno(), LISTENING),
            *silent,
        ],
        setpgroup=0,  # Ctrl-C is for us alone
    )
    os.close(input)


def serve(listening: socket.socket) -> None:
    """Fork a daemon for each who asks, until the input ends: then whoever started us is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for daemons here
    ready = select.poll()
    ready.register(0, select.POLLIN)
    ready.register(listening, select.POLLIN)
    while all(number != 0 for number, _ in ready.poll()):
        line, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _become_daemon(line)
        line.close()


def _become_daemon(line: socket.socket) -> None:
    """Take over input, output and environment of who asks on `line`, and be Spark's daemon with them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, places, _, _ = socket.recv_fds(line, 8, 3)
    length, asked = int.from_bytes(head, "little"), b""
    while len(asked) < length:
        asked += line.recv(length - len(asked))
    sys.argv, environment = json.loads(asked)
    os.environ.clear()
    os.environ.update(environment)
    for number, place in enumerate(places):
        os.dup2(place, number)
        os.close(place)
    line.send(TAKEN)
    from windrow.spark.workers.load import be_daemon

    try:
        be_daemon()
    finally:
        os._exit(0)


def main(folder: str) -> None:
    """Listen on the socket that we were given; `folder` is where it is, and goes with us."""
    from windrow.spark.workers.load import load_all

    try:
        load_all()
        serve(socket.socket(fileno=LISTENING))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
