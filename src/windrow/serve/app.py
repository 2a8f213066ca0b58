"""The HTTP application: one route a question."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from windrow.current.answer import Answer
from windrow.errors import AskError, QueryError, WindrowError
from windrow.serve.adhoc import AdHoc
from windrow.serve.backend import Backend
from windrow.serve.events import Readers
from windrow.serve.guard import TooLarge
from windrow.serve.openapi import DOCUMENT, PAGE
from windrow.serve.values import arrow_bytes, csv_bytes, json_bytes, json_rows, shown_columns

LOGGER = logging.getLogger("windrow.serve")
FEW, MOST_ROWS = 256, 10_000
ARROW, CSV, JSON = "application/vnd.apache.arrow.stream", "text/csv", "application/json"


class Wrong(Exception):
    """A request that is no question."""

    def __init__(self, message: str, status: int = 400) -> None:
        self.status = status
        super().__init__(message)


def told(content: Any, status: int = 200) -> Response:
    return Response(json_bytes(content), status, {"cache-control": "no-store"}, JSON)


def mistake(error: WindrowError) -> dict[str, Any]:
    """An error as JSON: code and message, and of a mistake in a text its place and the way out.

    >>> mistake(QueryError("unknown stream 'x'", text="SELECT 1 FROM x", at=14, end=15))["from"]
    14
    """
    if isinstance(error, QueryError):
        place = {"from": error.at, "to": error.end, "line": error.line, "column": error.column}
        return {"code": error.code, "message": error.message, "hint": error.hint, **place}
    message, _, hint = str(error).partition("\nhint: ")
    return {"code": error.code, "message": message, "hint": hint or None}


async def _failed(request: Request, error: Exception) -> Response:
    if isinstance(error, AskError) and error.missing:
        return told({"error": mistake(error)}, 404)
    if isinstance(error, WindrowError):
        return told({"error": mistake(error)}, 422)
    if isinstance(error, TooLarge):
        return told({"error": {"code": "SIZE", "message": "the request is too large"}}, 413)
    if not isinstance(error, Wrong) and not hasattr(error, "status_code"):
        LOGGER.error("%s %s failed", request.method, request.url.path, exc_info=error)
    status = error.status if isinstance(error, Wrong) else getattr(error, "status_code", 500)
    message = str(error) if isinstance(error, Wrong) else getattr(error, "detail", "it failed here")
    answer = told({"error": {"code": "REQUEST", "message": message}}, status)
    answer.headers.update(getattr(error, "headers", None) or {})  # which methods there are
    return answer


class Routes:
    """What is asked, and who answers it: all of a backend's methods run beside the loop that reads requests."""

    def __init__(self, backend: Backend, static: dict[str, tuple[str, bytes, bytes]] | None = None) -> None:
        self._backend, self._static = backend, static or {}
        self._adhoc, self.readers = AdHoc(), Readers(backend.answers)

    def app(self) -> Starlette:
        get, post, delete = ["GET"], ["POST"], ["DELETE"]
        routes = [
            Route("/jobs", self._simply(lambda backend: {"jobs": [backend.job()]}), methods=get),
            Route("/overview", self.overview, methods=get),
            Route("/queries", self.queries, methods=get),
            Route("/queries", self.add, methods=post),
            Route("/queries/{name}", self.query, methods=get),
            Route("/queries/{name}", self.drop, methods=delete),
            Route("/queries/{name}/state", self.state_at, methods=get),
            Route("/answers", self.answers, methods=get),
            Route("/answers/{name}", self.answer, methods=get),
            Route("/answers/{name}/changes", self.changes, methods=get),
            Route("/answers/{name}/history", self.history, methods=get),
            Route("/sql", self.sql, methods=post),
            Route("/indexes", self._simply(lambda backend: {"indexes": backend.indexes()}), methods=get),
            Route("/indexes", self.ask, methods=post),
            Route("/indexes/{name}", self.scan, methods=get),
            Route("/plan", self._simply(lambda backend: backend.plan()), methods=get),
            Route("/catalog", self._simply(lambda backend: backend.catalog()), methods=get),
            Route("/rejected", self._simply(lambda backend: backend.rejected()), methods=get),
            Route("/check", self.check, methods=post),
            Route("/preview", self.preview, methods=post),
            Route("/metrics", self.metrics, methods=get),
            Route("/openapi.json", self._simply(lambda backend: DOCUMENT), methods=get),
            Route("/docs", self.docs, methods=get),
            Route("/", self.page, methods=get),
            Route("/static/{name}", self.static, methods=get),
        ]
        every = dict.fromkeys((Exception, 404, 405, TooLarge, Wrong, WindrowError), _failed)
        return Starlette(routes=routes, exception_handlers=every)

    def _simply(self, ask: Callable[[Backend], Any]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return told(await run_in_threadpool(ask, self._backend))

        return answer

    async def overview(self, request: Request) -> Response:
        since = _number(request.query_params.get("since", "0"))
        return told(await run_in_threadpool(self._backend.overview, since))

    async def queries(self, request: Request) -> Response:
        whole = await run_in_threadpool(self._backend.overview, float("inf"))
        return told({"queries": whole["queries"]})

    async def query(self, request: Request) -> Response:
        return told(await run_in_threadpool(self._backend.query, request.path_params["name"]))

    async def add(self, request: Request) -> Response:
        text = await _text(request, "queries")
        return told({"added": await run_in_threadpool(self._backend.add, text)}, 201)

    async def drop(self, request: Request) -> Response:
        await run_in_threadpool(self._backend.drop, request.path_params["name"])
        return told({"dropped": [request.path_params["name"]]})

    async def check(self, request: Request) -> Response:
        return told({"mistakes": await run_in_threadpool(self._backend.check, await _text(request, "queries"))})

    async def preview(self, request: Request) -> Response:
        return told(await run_in_threadpool(self._backend.preview, await _text(request, "queries")))

    async def state_at(self, request: Request) -> Response:
        horizon = request.query_params.get("horizon")
        if not horizon:
            raise Wrong("say how far back: ?horizon=7 minutes")
        name = request.path_params["name"]
        place, table = await run_in_threadpool(self._backend.state_at, name, horizon)
        return told({**place, "rows": json_rows(table)})

    async def answers(self, request: Request) -> Response:
        current = self._backend.answers.current()
        return told({"answers": [about(answer) for answer in current.values()]})

    async def answer(self, request: Request) -> Response:
        keys = dict(request.query_params)
        limit = int(_number(keys.pop("limit", "1000000000")))
        answer = self._backend.answers.answer(request.path_params["name"], keys)
        accept = request.headers.get("accept", "")
        if min(len(answer), limit) <= FEW:  # done before another thread would have begun
            return _shown(answer, limit, accept)
        return await run_in_threadpool(_shown, answer, limit, accept)

    async def history(self, request: Request) -> Response:
        kept = self._backend.answers.kept(request.path_params["name"])
        updates = list(kept.updates)
        rows = [row for update in updates for row in json_rows(update.table)]
        return told({"query": kept.name, "kind": kept.shape.kind, "batches": len(updates), "rows": rows})

    async def changes(self, request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
        return self.readers.open(request.path_params["name"], last)

    async def sql(self, request: Request) -> Response:
        text = await _text(request, "sql")
        tables = {name: answer.table for name, answer in self._backend.answers.current().items()}
        rows, cut = await run_in_threadpool(self._adhoc.select, text, tables)
        return _found(rows, cut, {"columns": shown_columns(rows.schema)}, request)

    async def scan(self, request: Request) -> Response:
        given = request.query_params.multi_items()
        limit = int(_number(request.query_params.get("limit", str(MOST_ROWS))))
        key = [(name, text) for name, text in given if name != "limit"]
        facts, rows = await run_in_threadpool(self._backend.scan, request.path_params["name"], key)
        return _found(rows.slice(0, limit), rows.num_rows > limit, facts, request)

    async def ask(self, request: Request) -> Response:
        rows = await run_in_threadpool(self._backend.ask, await _text(request, "sql"))
        facts = {"columns": shown_columns(rows.schema)}
        return _found(rows.slice(0, MOST_ROWS), rows.num_rows > MOST_ROWS, facts, request)

    async def metrics(self, request: Request) -> Response:
        text = await run_in_threadpool(self._backend.metrics)
        return Response(text, media_type="text/plain; version=0.0.4")

    async def docs(self, request: Request) -> Response:
        return Response(PAGE, media_type="text/html")

    async def page(self, request: Request) -> Response:
        return self._file("index.html", request) if self._static else await self.docs(request)

    async def static(self, request: Request) -> Response:
        return self._file(request.path_params["name"], request)

    def _file(self, name: str, request: Request) -> Response:
        """A file of the page. All are in memory by their names, so no request reaches the disk."""
        if name not in self._static:
            raise Wrong("there is no such page", 404)
        kind, plain, packed = self._static[name]
        cached = "no-cache" if name == "index.html" else "public, max-age=31536000, immutable"
        if packed and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, 200, {"content-encoding": "gzip", "cache-control": cached}, kind)
        return Response(plain, 200, {"cache-control": cached}, kind)


def about(answer: Answer) -> dict[str, Any]:
    """What an answer is of: its batch and clock, and whether rows are left out."""
    return {
        "query": answer.query,
        "batch": answer.batch,
        "clock": None if answer.clock is None else answer.clock.isoformat(),
        "version": answer.version,
        "rows_kept": len(answer),
        "cut": answer.cut,
        "since": answer.since,
        "columns": shown_columns(answer.table.schema),
    }


def _shown(answer: Answer, limit: int, accept: str) -> Response:
    facts = about(answer)
    table = answer.table.slice(0, limit)
    headers = {
        "cache-control": "no-store",
        "windrow-batch": str(answer.batch),
        "windrow-clock": facts["clock"] or "",
        "windrow-version": str(answer.version),
        "windrow-cut": str(answer.cut),
    }
    if ARROW in accept:
        return Response(arrow_bytes(table), 200, headers, ARROW)
    if CSV in accept:
        return Response(csv_bytes(table), 200, headers, CSV)
    return Response(json_bytes({**facts, "rows": json_rows(table)}), 200, headers, JSON)


def _found(rows: pa.Table, cut: bool, facts: dict[str, Any], request: Request) -> Response:
    """Rows in the format that is asked for, and whether there would be more."""
    accept = request.headers.get("accept", "")
    if ARROW in accept or CSV in accept:
        kind = ARROW if ARROW in accept else CSV
        headers = {"cache-control": "no-store", "windrow-cut": "true" if cut else "false"}
        headers |= {f"windrow-{name}": str(facts[name]) for name in ("batch", "clock") if name in facts}
        return Response((arrow_bytes if kind == ARROW else csv_bytes)(rows), 200, headers, kind)
    return told({**facts, "rows": json_rows(rows), "cut": cut})


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise Wrong(f"{text!r} is no number") from None
    if not 0 <= number < 1e18:
        raise Wrong(f"{text!r} is no number that is used here")
    return number


async def _text(request: Request, name: str) -> str:
    """The text in the body of a request: as JSON under a name, or as it is."""
    body = await request.body()
    if request.headers.get("content-type", "").partition(";")[0].strip() == JSON:
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            raise Wrong("the body is no JSON") from None
        text = content.get(name) if isinstance(content, dict) else None
    else:
        text = body.decode("utf-8", "replace")
    if not isinstance(text, str) or not text.strip():
        raise Wrong(f'the body has no text: {{"{name}": "SELECT ..."}}')
    return text
