"""A registry of schemas for tests: the two questions that are asked of Confluent's, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def registry_of(subject: str, schemas: dict[int, dict[str, Any]]) -> Iterator[str]:
    """A registry that has the `schemas` of one subject, by their numbers, the oldest first."""
    versions = {str(number): (id, schema) for number, (id, schema) in enumerate(schemas.items(), start=1)}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = self.path.strip("/").split("/")
            if parts[:3] != ["subjects", subject, "versions"]:
                self.send_error(404)
                return
            if len(parts) == 3:
                body: Any = [int(number) for number in versions]
            else:
                id, schema = versions[parts[3]]
                body = {"subject": subject, "version": int(parts[3]), "id": id, "schema": json.dumps(schema)}
            content = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
