"""Metrics over HTTP, where `windrow run --metrics` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from windrow.errors import SettingsError
from windrow.serve.metrics import CONTENT_TYPE, metrics_text

Ask = Callable[[], Mapping[str, Mapping[str, Any]]]


class MetricsPort:
    """Serves `/metrics` of a job at an address, from `open` to `close`; before there is a job, it has none."""

    def __init__(self, address: str) -> None:
        """The address is `host:port`, or a port of this machine alone; one that is in use is refused."""
        host, port = read_address(address)
        self._ask: Ask = dict
        handler = self._handler()
        metrics_text({})  # raises what is missing
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise SettingsError(f"metrics cannot be served at {address}: {why}\nhint: name another port") from None
        self._server.daemon_threads = True
        self.address = f"{host}:{self._server.server_address[1]}"

    @contextmanager
    def serving(self) -> Iterator[MetricsPort]:
        """Answer whoever asks, until the block ends."""
        thread = Thread(target=self._server.serve_forever, name="windrow metrics", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def tell(self, ask: Ask) -> None:
        """From now on these are the figures: what `ask` gives, such as `job.progress`."""
        self._ask = ask

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        port = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.split("?")[0] not in ("/metrics", "/"):
                    self.send_error(404)
                    return
                try:
                    body = metrics_text(port._ask()).encode()
                except Exception as error:  # the job may end in this moment
                    self.send_error(503, f"{type(error).__name__}")
                    return
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def read_address(address: str) -> tuple[str, int]:
    """A host and a port.

    >>> read_address("9464"), read_address("0.0.0.0:9464")
    (('127.0.0.1', 9464), ('0.0.0.0', 9464))
    """
    host, _, port = address.rpartition(":")
    if not port.isdigit() or not 0 <= int(port) < 65536:
        raise SettingsError(f"{address!r} is no address of metrics\nhint: 127.0.0.1:9464, or a port alone")
    return host.strip("[]") or "127.0.0.1", int(port)
