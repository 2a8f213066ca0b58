"""`windrow console` and `windrow run --console`: a page for a job that runs, or for sample streams."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from windrow.errors import ChangeError, SettingsError

if TYPE_CHECKING:
    from windrow.serve.server import Server
    from windrow.session import Session
    from windrow.spark.job.job import Job

PORTS = range(8180, 8190)
"""Tried one after the other, where no port is asked for."""


def check_listen(listen: str) -> tuple[str, int | None]:
    """A host and a port of `host:port`, either of which may be left out.

    >>> check_listen("0.0.0.0:9000"), check_listen(":0"), check_listen("127.0.0.1"), check_listen("[::1]:80")
    (('0.0.0.0', 9000), ('127.0.0.1', 0), ('127.0.0.1', None), ('::1', 80))
    """
    host, colon, port = listen.rpartition(":") if not listen.endswith("]") and ":" in listen else (listen, "", "")
    if colon and (not port.isdecimal() or int(port) > 65535):
        raise SettingsError(f"--listen {listen}: {port!r} is no port\nhint: --listen 127.0.0.1:8180")
    from windrow.console.door import check_extra

    check_extra()
    return host.strip("[]") or "127.0.0.1", int(port) if colon else None


def check_console(listen: str) -> None:
    """Refuse an address at which no console can be served, also since its port is in use."""
    host, port = check_listen(listen)
    if port is not None:
        from windrow.serve.server import check_free_port

        check_free_port(host, port)


class JobConsole:
    """The console of a job: opened when it is asked for, here or by a request from another terminal, and once only."""

    def __init__(self, session: Session, job: Job, texts: Mapping[str, str]) -> None:
        self._session, self._job, self._texts = session, job, texts
        self._server: Server | None = None
        job.asked["console"] = lambda request: {"link": self.open(str(request["console"]))}

    def open(self, listen: str) -> str:
        """Serve the page, if nobody does yet; gives its address."""
        if self._server is None:
            from windrow.console.door import open_console

            host, port = check_listen(listen)
            for tried in PORTS if port is None else (port,):
                try:
                    self._server = open_console(self._session, self._job, host=host, port=tried, texts=self._texts)
                    break
                except SettingsError as error:
                    if port is not None or "in use" not in str(error) or tried == PORTS[-1]:
                        raise
        assert self._server is not None
        return self._server.link


def console_of_job(checkpoint: str, listen: str) -> None:
    """Have the job on a checkpoint serve its console, and say where."""
    from windrow.spark.job.job_requests import JobRequests

    check_listen(listen)
    told: dict[str, Any] = JobRequests(checkpoint).ask({"console": listen})
    if "error" in told:
        raise ChangeError(told["error"])
    typer.echo(f"console: {told['link']}")


def console_of_samples(listen: str) -> None:
    """Serve sample streams by replay until Ctrl-C."""
    host, port = check_listen(listen)
    from windrow.console.door import serve_backend
    from windrow.console.of_replay import ReplayBackend

    backend = ReplayBackend()
    try:
        server = None
        for tried in PORTS if port is None else (port,):
            try:
                server = serve_backend(backend, host=host, port=tried)
                break
            except SettingsError as error:
                if port is not None or "in use" not in str(error) or tried == PORTS[-1]:
                    raise
        assert server is not None
        typer.echo(f"console: {server.link}")
        typer.echo("sample streams by replay, without Spark; Ctrl-C ends it")
        with server:
            while True:
                time.sleep(0.5)
    except KeyboardInterrupt:
        typer.echo("ended")
    finally:
        backend.close()
