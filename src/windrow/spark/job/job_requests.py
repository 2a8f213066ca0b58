"""Requests to a running job from another process: files in its checkpoint, each answered by another."""

from __future__ import annotations

import json
import os
import socket
import stat
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Event, Thread
from typing import Any

from windrow.errors import ChangeError, StateError, WindrowError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.places.reach import reason_of
from windrow.spark.job.checkpoint import not_writable, read_back, write_whole

LOOK_SECONDS, ELSEWHERE_SECONDS = 0.2, 2.0
"""How often a job looks for requests; elsewhere than on this machine each look is paid for, perhaps."""

LARGEST = 1 << 22
"""So many bytes a request may have; a script of queries has far fewer."""

REQUESTS, FORMERLY = "job.requests", "letters"
"""The folder in a checkpoint, whose name no stream's folder can have; and what earlier versions called it."""

Request = dict[str, Any]
Reply = dict[str, Any]


class JobRequests:
    """The folder of requests in a checkpoint, seen from either side."""

    def __init__(self, checkpoint: AnyPlace) -> None:
        self._folder = place_of(checkpoint) / REQUESTS
        self._reader = self._folder / "reader.json"

    def ask(self, request: Request, patience: float = 120.0) -> Reply:
        """Send a request to the job and wait for its answer."""
        if not self.is_read():
            raise ChangeError("no job runs on this checkpoint: start one with windrow run --checkpoint")
        name = uuid.uuid4().hex
        place, answer = (self._folder / f"{name}.{kind}" for kind in ("request", "answer"))
        try:
            write_whole(place, request)
        except OSError as error:
            raise ChangeError(f"no request can be left in {self._folder}: {reason_of(error)}") from error
        until = time.monotonic() + patience
        while not answer.exists():
            if time.monotonic() > until or not self.is_read():
                place.delete()
                raise ChangeError("the job has not answered: it may have ended meanwhile")
            time.sleep(0.05)
        try:
            return read_back(answer, _as_request)
        except StateError as error:
            raise ChangeError(f"the answer {answer} is none: somebody else writes there") from error
        finally:
            answer.delete()

    def open(self) -> None:
        """From now on somebody reads; requests that nobody has read by now are old."""
        try:
            (self._folder.parent / FORMERLY).delete_folder()
            self._folder.make_folder()
            for entry in self._folder.listed():
                if not entry.is_folder:
                    self._folder.at(entry).delete()
            write_whole(self._reader, {"host": socket.gethostname(), "process": os.getpid()})
        except OSError as error:
            raise not_writable(self._folder, error) from error

    def close(self) -> None:
        """Nobody reads any more."""
        self._reader.delete()

    def read(self, reply: Callable[[Request], Reply]) -> None:
        """Answer the requests that have come, in the order in which they did; what is none is put aside as `.bad`."""
        for place in self._waiting():
            with suppress(OSError):  # one that has been taken back, or cannot be moved: the others do not wait for it
                self._answer(place, reply)

    def _answer(self, place: Place, reply: Callable[[Request], Reply]) -> None:
        try:
            request = _as_request(json.loads(_content(place)))
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            aside = place.parent / f"{place.name}.bad"
            place.move(aside)
            told = {"error": f"this is no request, and was put aside as {aside}: {_why(error)}"}
        else:
            place.delete()
            told = reply(request)
        write_whole(place.parent / f"{place.name.removesuffix('request')}answer", told)

    def _waiting(self) -> list[Place]:
        found = []
        for place in self._folder.entries():
            if place.name.endswith(".request"):
                with suppress(FileNotFoundError):
                    found.append((place.modified(), place.path, place))
        return [place for _, _, place in sorted(found, key=lambda request: request[:2])]

    def is_read(self) -> bool:
        """Whether a job reads requests here; of one on another machine, its word is taken."""
        if not self._reader.exists():
            return False
        try:
            host, process = read_back(self._reader, _as_reader)
        except StateError as error:
            if not self._reader.exists():  # the job has ended in this moment
                return False
            raise ChangeError(
                f"{error.args[0].splitlines()[0]}, so nobody knows which job reads requests here"
                "\nhint: start the job again"
            ) from error
        if host != socket.gethostname():
            return True
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class Listener:
    """Reads the requests to a job, in a thread of its own, until `end` or until the job does not `live` any more."""

    def __init__(self, checkpoint: AnyPlace, reply: Callable[[Request], Reply], lives: Callable[[], bool]) -> None:
        self._requests, self._reply, self._lives, self._ended = JobRequests(checkpoint), reply, lives, Event()
        self._requests.open()
        self._look = LOOK_SECONDS if place_of(checkpoint).is_local else ELSEWHERE_SECONDS
        Thread(target=self._listen, name="windrow requests", daemon=True).start()

    def end(self) -> None:
        self._ended.set()
        self._requests.close()

    def _listen(self) -> None:
        for look in count():
            if self._ended.wait(self._look):
                return
            with suppress(Exception):  # whatever lies there, or is gone: the next request is read all the same
                self._requests.read(self._told)
            if look % 5 == 4 and not self._is_alive():
                self.end()

    def _is_alive(self) -> bool:
        try:
            return self._lives()
        except Exception:  # Spark itself is no more
            return False

    def _told(self, request: Request) -> Reply:
        try:
            return self._reply(request)
        except WindrowError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def _content(place: Place) -> bytes:
    """What is in a request; anything but a file of some size could keep its reader for ever."""
    if not place.is_local:
        with place.open() as request:
            return _short(request.read(LARGEST + 1))
    file = os.open(place.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("it is no file")
        with open(file, "rb", closefd=False) as request:
            return _short(request.read(LARGEST + 1))
    finally:
        os.close(file)


def _short(content: bytes) -> bytes:
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    return content


def _as_request(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    return content


def _as_reader(content: Any) -> tuple[str, int]:
    host, process = content["host"], content["process"]
    if type(process) is not int or process < 1:
        raise ValueError("the process is no number")
    return host, process


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error) if str(error).startswith("it is") else "it is no JSON"
