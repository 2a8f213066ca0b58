"""Letters to a running job from another process: files in its checkpoint, each answered by another."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Event, Thread
from typing import Any

from windrow.errors import ChangeError, WindrowError
from windrow.spark.checkpoint import write_whole

LOOK_SECONDS = 0.2
Letter = dict[str, Any]


class Letters:
    """The folder of letters in a checkpoint, seen from either side."""

    def __init__(self, checkpoint: str) -> None:
        self._folder = os.path.join(checkpoint, "letters")
        self._reader = os.path.join(self._folder, "reader.json")

    def ask(self, letter: Letter, patience: float = 120.0) -> Letter:
        """Send a letter to the job and wait for its answer."""
        if not self.is_read():
            raise ChangeError("no job runs on this checkpoint: start one with windrow run --checkpoint")
        name = uuid.uuid4().hex
        place, answer = (os.path.join(self._folder, f"{name}.{kind}") for kind in ("letter", "answer"))
        write_whole(place, letter)
        until = time.monotonic() + patience
        while not os.path.exists(answer):
            if time.monotonic() > until or not self.is_read():
                with suppress(FileNotFoundError):
                    os.remove(place)
                raise ChangeError("the job has not answered: it may have ended meanwhile")
            time.sleep(0.05)
        with open(answer) as file:
            told = json.load(file)
        os.remove(answer)
        return told

    def open(self) -> None:
        """From now on somebody reads; letters that nobody has read by now are old."""
        os.makedirs(self._folder, exist_ok=True)
        for entry in os.scandir(self._folder):
            os.remove(entry.path)
        write_whole(self._reader, {"host": socket.gethostname(), "process": os.getpid()})

    def close(self) -> None:
        """Nobody reads any more."""
        with suppress(FileNotFoundError):
            os.remove(self._reader)

    def read(self, reply: Callable[[Letter], Letter]) -> None:
        """Answer the letters that have come, in the order in which they did."""
        waiting = [entry for entry in os.scandir(self._folder) if entry.name.endswith(".letter")]
        for entry in sorted(waiting, key=lambda entry: (entry.stat().st_mtime_ns, entry.name)):
            with open(entry.path) as file:
                letter = json.load(file)
            os.remove(entry.path)
            write_whole(entry.path.removesuffix("letter") + "answer", reply(letter))

    def is_read(self) -> bool:
        """Whether a job reads letters here; of one on another machine, its word is taken."""
        try:
            with open(self._reader) as file:
                reader = json.load(file)
        except FileNotFoundError:
            return False
        if reader["host"] != socket.gethostname():
            return True
        try:
            os.kill(reader["process"], 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class Listener:
    """Reads the letters to a job, in a thread of its own, until `end` or until the job does not `live` any more."""

    def __init__(self, checkpoint: str, reply: Callable[[Letter], Letter], lives: Callable[[], bool]) -> None:
        self._letters, self._reply, self._lives, self._ended = Letters(checkpoint), reply, lives, Event()
        self._letters.open()
        Thread(target=self._listen, name="windrow letters", daemon=True).start()

    def end(self) -> None:
        self._ended.set()
        self._letters.close()

    def _listen(self) -> None:
        for look in count():
            if self._ended.wait(LOOK_SECONDS):
                return
            with suppress(FileNotFoundError):  # the checkpoint of a job that has ended may be gone
                self._letters.read(self._told)
            if look % 10 == 9 and not self._is_alive():
                self.end()

    def _is_alive(self) -> bool:
        try:
            return self._lives()
        except Exception:  # Spark itself is no more
            return False

    def _told(self, letter: Letter) -> Letter:
        try:
            return self._reply(letter)
        except WindrowError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
