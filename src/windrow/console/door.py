"""`windrow.open_console(...)`: the page and the server of a job, until the job ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.errors import SettingsError
from windrow.serve.backend import Backend

if TYPE_CHECKING:
    from windrow.serve.server import Server
    from windrow.session import Session
    from windrow.spark.job.job import Job

STATIC = Path(__file__).parent / "static"
LOOPBACK, PORT = "127.0.0.1", 8180


def open_console(
    session: Session,
    job: Job,
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    token: str | None = None,
    hosts: Iterable[str] = (),
    texts: Mapping[str, str] | None = None,
) -> Server:
    """Serve the page and the answers of a job: `.link` opens it, `.close()` ends it, and so does the job's stop.

    It answers on this machine alone, unless `host` says otherwise; then every question needs the token. What changes
    the job needs it always. `hosts` are further names of this machine. `texts` are those of the queries, to be shown.
    """
    from windrow.console.of_job import JobBackend

    check_extra()
    backend = JobBackend(session, job, texts)
    try:
        server = serve_backend(backend, host=host, port=port, token=token, hosts=hosts)
    except BaseException:
        backend.close()
        raise
    job.at_end(server.close)
    job.at_end(backend.close)
    return server


def serve_backend(
    backend: Backend, *, host: str = LOOPBACK, port: int = PORT, token: str | None = None, hosts: Iterable[str] = ()
) -> Server:
    """Serve the page and whatever a backend answers."""
    check_extra()
    from windrow.serve.server import Server

    return Server(backend, host=host, port=port, token=token, hosts=hosts, static=STATIC)


def check_extra() -> None:
    """Refuse, with the way out, where the packages of the console are not installed."""
    try:
        import duckdb
        import starlette
        import uvicorn
    except ImportError as error:
        raise SettingsError(
            f"the console needs {error.name}, which is not installed\nhint: pip install 'windrow[console]'"
        ) from None
    del duckdb, starlette, uvicorn
