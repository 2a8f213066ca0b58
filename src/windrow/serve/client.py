"""`windrow.connect(url)`: the answers of a job that runs elsewhere, as Arrow tables and pandas."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from windrow.current.answer import Answer
from windrow.errors import AskError
from windrow.plan.instants import read_instant

ARROW = "application/vnd.apache.arrow.stream"
PATIENCE = 30.0


class Client:
    """A job asked over HTTP. `url` is what the job printed when it started, with its token where one is needed."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise AskError(f"{url!r} is no address of a server\nhint: http://localhost:8180")
        given = urllib.parse.parse_qs(parts.fragment).get("token", [None])[0]
        self._token = token or given
        self.url = urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))

    def __repr__(self) -> str:
        return f"<windrow.Client of {self.url}>"

    def answer(self, query: str, /, **keys: Any) -> Answer:
        """The current answer of a query, or the rows of it that have these values."""
        asked = urllib.parse.urlencode({name: _text(value) for name, value in keys.items()})
        path = f"/answers/{urllib.parse.quote(query, safe='')}{f'?{asked}' if asked else ''}"
        headers, body = self._ask("GET", path, accept=ARROW)
        clock = headers.get("windrow-clock")
        table = pa.ipc.open_stream(body).read_all()
        place = (int(headers["windrow-batch"]), read_instant(clock) if clock else None)
        return Answer(query, table, *place, int(headers["windrow-version"]), int(headers["windrow-cut"]))

    def sql(self, text: str) -> pa.Table:
        """The rows of a SELECT over the current answers."""
        _, body = self._ask("POST", "/sql", text.encode(), ARROW)
        return pa.ipc.open_stream(body).read_all()

    def indexes(self) -> list[dict[str, Any]]:
        """The window indexes of the job: key, columns and window of each, its batch and clock."""
        found: list[dict[str, Any]] = self._json("GET", "/indexes")["indexes"]
        return found

    def scan(self, index: str, /, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given; the last column may be a range, (low, high)."""
        asked: list[tuple[str, str]] = []
        for name, value in key.items():
            if value is None:
                raise AskError(f"{name} is NULL, which no request can say\nhint: job.scan where the job runs")
            ends = [(f"{name}>", value[0]), (f"{name}<", value[1])] if isinstance(value, tuple) else [(name, value)]
            asked += [(end, _text(text)) for end, text in ends if text is not None]
        path = f"/indexes/{urllib.parse.quote(index, safe='')}?{urllib.parse.urlencode(asked)}"
        return self._whole("GET", path)

    def ask(self, text: str) -> pa.Table:
        """The rows of a SELECT over what an index holds; needs the token."""
        return self._whole("POST", "/indexes", text.encode())

    def subscribe(self, query: str, last_id: str | None = None) -> Iterator[dict[str, Any]]:
        """What each batch brings, as dicts with `batch`, `clock`, `rows` and `id`; an `id` goes on from there."""
        path = f"/answers/{urllib.parse.quote(query, safe='')}/changes"
        request = self._request("GET", path, None, "text/event-stream")
        if last_id is not None:
            request.add_header("Last-Event-ID", last_id)
        with self._opened(request) as lines:
            own: dict[str, str] = {}
            for line in lines:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    own[name] = value
                elif "data" in own:
                    yield {**json.loads(own["data"]), "id": own.get("id"), "event": own.get("event")}
                    own = {}

    def queries(self) -> list[dict[str, Any]]:
        """The queries that run, each with its figures."""
        found: list[dict[str, Any]] = self._json("GET", "/queries")["queries"]
        return found

    def add(self, text: str) -> list[str]:
        """Run one query more, or several; needs the token."""
        names: list[str] = self._json("POST", "/queries", text.encode())["added"]
        return names

    def drop(self, query: str) -> None:
        """Run a query no more; needs the token."""
        self._json("DELETE", f"/queries/{urllib.parse.quote(query, safe='')}")

    def explain(self) -> str:
        """What runs, and why."""
        text: str = self._json("GET", "/plan")["text"]
        return text

    def _whole(self, verb: str, path: str, body: bytes | None = None) -> pa.Table:
        """Rows of which none is left out: who asked for all must not take a part of them for all."""
        headers, content = self._ask(verb, path, body, ARROW)
        rows = pa.ipc.open_stream(content).read_all()
        if headers.get("windrow-cut") == "true":
            raise AskError(f"there are more than {rows.num_rows:,} rows\nhint: name more of the key, or a range")
        return rows

    def _json(self, verb: str, path: str, body: bytes | None = None) -> Any:
        return json.loads(self._ask(verb, path, body)[1])

    def _ask(self, verb: str, path: str, body: bytes | None = None, accept: str = "*/*") -> tuple[Any, bytes]:
        with self._opened(self._request(verb, path, body, accept)) as answer:
            return answer.headers, answer.read()

    def _request(self, verb: str, path: str, body: bytes | None, accept: str) -> urllib.request.Request:
        headers = {"Accept": accept, "Content-Type": "application/sql"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return urllib.request.Request(self.url + path, body, headers, method=verb)

    def _opened(self, request: urllib.request.Request) -> Any:
        try:
            return urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            raise AskError(_why(error), missing=error.code == 404) from None
        except (urllib.error.URLError, OSError) as error:
            raise AskError(f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None


def connect(url: str, token: str | None = None) -> Client:
    """Ask a job that runs elsewhere: `windrow.connect("http://localhost:8180").answer("vwap", symbol="AEL")`."""
    return Client(url, token)


def _why(error: urllib.error.HTTPError) -> str:
    try:
        told = json.loads(error.read())["error"]
        hint = f"\nhint: {told['hint']}" if told.get("hint") else ""
        return f"{told['message']}{hint}"
    except (ValueError, KeyError, TypeError):
        return f"the server answers {error.code}"


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
