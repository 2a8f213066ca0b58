"""The server beside a job: a thread of its own, which ends with the job."""

from __future__ import annotations

import errno
import gzip
import secrets
import socket
from asyncio import CancelledError
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self

import uvicorn

from windrow.errors import SettingsError
from windrow.serve.app import Routes
from windrow.serve.backend import Backend
from windrow.serve.guard import Guard, is_loopback

LOOPBACK, PORT = "127.0.0.1", 8180
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
}


class Server:
    """Serves a backend until `close`. Beyond loopback, whoever asks needs the token."""

    def __init__(
        self,
        backend: Backend,
        *,
        host: str = LOOPBACK,
        port: int = PORT,
        token: str | None = None,
        hosts: Iterable[str] = (),
        static: Path | None = None,
    ) -> None:
        """`hosts` are further names under which this machine is asked. Port 0 takes one that is free."""
        if token is not None and len(token) < 16:
            raise SettingsError("a token needs 16 characters or more\nhint: leave it out, and one is made")
        self.token = token or secrets.token_urlsafe(24)
        self._socket = _bound(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self.routes = Routes(backend, loaded(static))
        guarded = Guard(self.routes.app(), self.token, host, hosts)
        config = uvicorn.Config(
            guarded,
            log_config=None,
            log_level="critical",  # what fails is logged by the application
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_keep_alive=30,
            limit_concurrency=1024,
            h11_max_incomplete_event_size=32 << 10,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._run, name="windrow console", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(SystemExit, OSError, RuntimeError, CancelledError):  # readers are cut off where it ends
            self._server.run(sockets=[self._socket])

    @property
    def url(self) -> str:
        """Where it answers."""
        shown = "localhost" if self.host in ("0.0.0.0", "::") or is_loopback(self.host) else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def link(self) -> str:
        """The page, with the token where no server and no log sees it."""
        return f"{self.url}/#token={self.token}"

    def close(self) -> None:
        """End it; readers of events are let go."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=5)
        with suppress(OSError):
            self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        self.close()


def check_free_port(host: str, port: int) -> None:
    """Refuse a port that nobody can listen at now, before what is to listen there is started, which takes a while."""
    _bound(host, port).close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; what stands in the way is said at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(256)
    except (OSError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise SettingsError(f"port {port} is in use\nhint: another one, or 0 for any that is free") from None
        raise SettingsError(f"nobody can listen at {host} port {port}: {error}") from None
    return bound


def loaded(folder: Path | None) -> dict[str, tuple[str, bytes, bytes]]:
    """The files of the page by name: their kind, as they are, and packed."""
    if folder is None or not folder.is_dir():
        return {}
    files = [path for path in folder.iterdir() if path.suffix in KINDS]
    return {path.name: (KINDS[path.suffix], path.read_bytes(), gzip.compress(path.read_bytes(), 6)) for path in files}
