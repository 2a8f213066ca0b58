"""The warm process: it loads what workers need while the JVM starts, and forks for what Spark asks of Python."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from shlex import quote

from windrow.spark.workers import python
from windrow.spark.workers.python import PLACE, TAKEN

LISTENING = 3
"""The descriptor on which the warm process listens."""

LAUNCHER = "python"
"""The program that Spark starts as its Python."""


def start_warming() -> str:
    """Start the warm process of this one, unless there is one already, and say what Spark is to start as its Python.

    The warm process ends with us.
    """
    if not hasattr(socket, "send_fds"):
        return sys.executable
    own = f"windrow-workers-{os.getpid()}-"  # a program that we start has a warm process of its own
    if own in os.environ.get(PLACE, ""):
        return os.path.join(os.path.dirname(os.environ[PLACE]), LAUNCHER)
    folder = _short_folder(own)
    if folder is None:
        return sys.executable
    launcher = os.path.join(folder, LAUNCHER)
    with open(os.open(launcher, os.O_WRONLY | os.O_CREAT, 0o700), "w") as file:
        file.write(f'#!/bin/sh\nexec {quote(sys.executable)} -IS {quote(python.__file__)} "$@"\n')
    place = os.path.join(folder, "warm")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(64)
        _spawn(listening, folder)
    os.environ[PLACE] = place
    return launcher


def _short_folder(begins: str) -> str | None:
    """A new folder for its owner only; the address of a socket must be short, and folders for tests are not."""
    for home in (tempfile.gettempdir(), "/tmp"):
        if len(home) + len(begins) < 80 and os.path.isdir(home):
            return tempfile.mkdtemp(prefix=begins, dir=home)
    return None


def is_launcher(program: str) -> bool:
    """Whether this is the program that stands for our own Python."""
    place = os.environ.get(PLACE)
    return place is not None and program == os.path.join(os.path.dirname(place), LAUNCHER)


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
    """Fork for each who asks, until the input ends: then whoever started us is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks here
    ready = select.poll()
    ready.register(0, select.POLLIN)
    ready.register(listening, select.POLLIN)
    while all(number != 0 for number, _ in ready.poll()):
        line, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _take_over(line)
        line.close()


def _take_over(line: socket.socket) -> None:
    """Be what is asked for on `line`, with the input, the output and the environment of who asks."""
    from windrow.spark.workers.load import be

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, places, _, _ = socket.recv_fds(line, 8, 3)
    length, asked = int.from_bytes(head, "little"), b""
    while len(asked) < length:
        asked += line.recv(length - len(asked))
    arguments, environment, folder = json.loads(asked)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, place in enumerate(places):
        os.dup2(place, number)
        os.close(place)
    line.send(TAKEN)
    try:
        be(arguments[1], arguments[2:])
    finally:
        os._exit(0)


def main(folder: str) -> None:
    """Listen on the socket that we were given; `folder` is where it is, and goes when nobody needs it any more."""
    from windrow.spark.workers.load import load_all

    load_all()
    serve(socket.socket(fileno=LISTENING))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
