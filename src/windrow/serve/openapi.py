"""What can be asked over HTTP, as OpenAPI says it, and as a page to read."""

from __future__ import annotations

import html
from typing import Any

from windrow.version import VERSION

_NAMED = "A query, or an index."
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": _NAMED}
_TEXT = {"application/sql": {"schema": {"type": "string"}}}
_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
_ROWS = {
    "application/json": {"schema": {"type": "object"}},
    "text/csv": {"schema": {"type": "string"}},
    "application/vnd.apache.arrow.stream": {"schema": {"type": "string", "format": "binary"}},
}
_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_PLAIN = {"text/plain": {"schema": {"type": "string"}}}
_JSON = {"application/json": {"schema": {"type": "object"}}}


def _asked(
    summary: str,
    content: dict[str, Any] = _JSON,
    *,
    named: bool = False,
    body: str | None = None,
    status: str = "200",
    parameters: tuple[dict[str, Any], ...] = (),
    names: bool = False,
) -> dict[str, Any]:
    """What an operation takes and answers; a body that `names` something may name what is not there."""
    errors = ["400", "403", "413", "415", "421", "422", "429", *(["401"] if body is not None else [])]
    errors += ["404"] if named or names else []
    operation: dict[str, Any] = {
        "summary": summary,
        "parameters": [*([_NAME] if named else []), *parameters],
        "responses": {
            status: {"description": "what was asked", "content": content},
            **{code: {"description": "why not", "content": _ERROR} for code in errors},
        },
    }
    if body:
        one = {"type": "object", "required": [body], "properties": {body: {"type": "string", "minLength": 1}}}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": one}, **_TEXT}}
    if body is not None:
        operation["security"] = [{"token": []}]
    return operation


def _parameter(
    name: str, description: str, *, place: str = "query", required: bool = False, kind: str = "string"
) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "required": required,
        "description": description,
        "schema": {"type": kind} | ({} if kind == "string" else {"minimum": 0, "maximum": 1e17}),
    }


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "Windrow",
        "version": VERSION,
        "description": "A running job: its answers as they are and as they change, SQL over them, its plan.",
    },
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Error": {
                "type": "object",
                "required": ["error"],
                "properties": {
                    "error": {
                        "type": "object",
                        "required": ["code", "message"],
                        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
                    }
                },
            }
        },
    },
    "paths": {
        "/jobs": {"get": _asked("What runs, since when, on which checkpoint")},
        "/overview": {
            "get": _asked(
                "Streams and queries with their figures, and the history of these",
                parameters=(
                    _parameter("since", "Only history after this instant, seconds since 1970.", kind="number"),
                ),
            )
        },
        "/queries": {
            "get": _asked("The queries, each with its figures"),
            "post": _asked("Add queries: CREATE SINK, INSERT INTO, SELECT", body="queries", status="201"),
        },
        "/queries/{name}": {
            "get": _asked("One query: text, columns, window, sink", named=True),
            "delete": _asked("Drop a query; the others go on", named=True, body=""),
        },
        "/queries/{name}/state": {
            "get": _asked(
                "What a query with levels holds of the last while",
                named=True,
                parameters=(_parameter("horizon", "How far back, such as 7 minutes.", required=True),),
            )
        },
        "/answers": {"get": _asked("The answers that are kept, with the batch and clock of each")},
        "/answers/{name}": {
            "get": _asked(
                "The current answer; any column may be asked for as ?column=value",
                _ROWS,
                named=True,
                parameters=(_parameter("limit", "At most so many rows.", kind="integer"),),
            )
        },
        "/answers/{name}/history": {"get": _asked("The rows that the last batches have brought", named=True)},
        "/answers/{name}/changes": {
            "get": _asked(
                "What each batch brings, as server-sent events",
                _STREAM,
                named=True,
                parameters=(_parameter("Last-Event-ID", "Go on after this event.", place="header"),),
            )
        },
        "/sql": {"post": _asked("A SELECT over the current answers, by DuckDB", _ROWS, body="sql")},
        "/indexes": {
            "get": _asked("The window indexes: key, columns and window of each, its batch and clock"),
            "post": _asked("A SELECT over what an index holds", _ROWS, body="sql", names=True),
        },
        "/indexes/{name}": {
            "get": _asked(
                "Events by key: its first columns as ?column=value, of the last also column>=low&column<=high",
                _ROWS,
                named=True,
                parameters=(_parameter("limit", "At most so many rows.", kind="integer"),),
            )
        },
        "/plan": {"get": _asked("What runs, as nodes and edges, and in words")},
        "/catalog": {"get": _asked("What a query may name")},
        "/rejected": {"get": _asked("The latest events that no window took")},
        "/check": {"post": _asked("The mistakes in a script, each with its place", body="queries")},
        "/preview": {"post": _asked("The answers of a query over recent events; nothing is started", body="queries")},
        "/metrics": {"get": _asked("Figures as Prometheus reads them", _PLAIN)},
    },
}


def _page() -> str:
    rows = "".join(
        f"<tr><td><code>{verb.upper()}</code></td><td><code>{html.escape(path)}</code></td>"
        f"<td>{html.escape(operation['summary'])}</td><td>{'token' if 'security' in operation else ''}</td></tr>"
        for path, verbs in DOCUMENT["paths"].items()
        for verb, operation in verbs.items()
    )
    style = (
        "body{font:15px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}"
        "td{padding:.3rem 1rem .3rem 0;border-top:1px solid #8884}table{border-collapse:collapse;width:100%}"
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Windrow over HTTP</title><style>{style}</style>"
        "<h1>Windrow over HTTP</h1><p>Answers come as JSON, or as <code>text/csv</code> or"
        " <code>application/vnd.apache.arrow.stream</code> by <code>Accept</code>. What changes a job, and all beyond"
        " loopback, needs <code>Authorization: Bearer TOKEN</code>. As a document: <a href=/openapi.json>openapi.json"
        f"</a>.</p><table>{rows}</table></html>"
    )


PAGE = _page()
