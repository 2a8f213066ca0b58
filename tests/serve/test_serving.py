"""Answers over HTTP: as they are, as they change, and by SQL; queries that come and go; and who is turned away."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from xml.etree import ElementTree

import duckdb
import pyarrow as pa
import pytest

import windrow
from windrow.console.door import serve_backend
from windrow.console.of_replay import ReplayBackend
from windrow.console.samples import QUERIES, Samples
from windrow.errors import AskError, SettingsError
from windrow.serve.adhoc import AdHoc
from windrow.serve.guard import LARGEST_BODY
from windrow.serve.plan_picture import plan_picture
from windrow.serve.server import Server

COUNTS = "CREATE SINK n USING answers; INSERT INTO n SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY symbol"


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def backend() -> Iterator[ReplayBackend]:
    backend = ReplayBackend()
    yield backend
    backend.close()


@pytest.fixture(scope="module")
def server(backend: ReplayBackend) -> Iterator[Server]:
    with serve_backend(backend, port=0) as server:
        yield server


@pytest.fixture(scope="module")
def public(backend: ReplayBackend) -> Iterator[Server]:
    """A server as it would be beyond loopback."""
    with serve_backend(backend, host="0.0.0.0", port=0, hosts=["console.example"]) as server:
        yield server


def ask(
    server: Server, verb: str, path: str, body: bytes | str | None = None, **headers: str
) -> tuple[int, dict, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if sent.pop("token", None) == "right":
        sent["Authorization"] = f"Bearer {server.token}"
    connection.request(verb, path, body, sent)
    answer = connection.getresponse()
    found = answer.status, dict((name.lower(), value) for name, value in answer.getheaders()), answer.read()
    connection.close()
    return found


def told(server: Server, verb: str, path: str, body: str | None = None, **headers: str) -> dict:
    status, _, content = ask(server, verb, path, body, **headers)
    assert status < 300, content
    return json.loads(content)


def test_an_answer_equals_the_query_over_the_events_of_its_window(backend, server):
    with backend._lock:
        answer = windrow.connect(server.link).answer("vwap")
        events = backend._recent["ticks"]  # noqa: F841 # DuckDB finds it by its name
    assert len(answer) and answer.clock is not None
    (end,) = set(answer.table["window_end"].to_pylist())
    truth = duckdb.sql(
        "SELECT symbol, SUM(price * volume) / SUM(volume), SUM(volume) FROM events WHERE ts >= ? AND ts < ? GROUP BY 1",
        params=[end - timedelta(seconds=30), end],
    ).fetchall()
    on_time = {symbol: (vwap, volume) for symbol, vwap, volume in truth}
    # events that were too late for the window are among the recent ones: volumes may only be smaller
    assert {row["symbol"] for row in answer} == on_time.keys()
    for row in answer:
        assert 0.97 * on_time[row["symbol"]][1] <= row["volume"] <= on_time[row["symbol"]][1]
        assert row["vwap"] == pytest.approx(on_time[row["symbol"]][0], rel=5e-3)


def test_an_answer_comes_in_the_format_that_is_asked_for(server):
    symbol = told(server, "GET", "/answers/vwap")["rows"][0]["symbol"]
    status, headers, body = ask(server, "GET", f"/answers/vwap?symbol={symbol}", Accept="text/csv")
    lines = body.decode().splitlines()
    assert status == 200 and lines[0].startswith("window_start,window_end,symbol") and len(lines) == 2
    assert int(headers["windrow-batch"]) > 0 and headers["windrow-cut"] == "0"
    _, _, body = ask(server, "GET", "/answers/vwap", Accept="application/vnd.apache.arrow.stream")
    assert symbol in pa.ipc.open_stream(body).read_all()["symbol"].to_pylist()
    assert windrow.connect(server.link).answer("vwap", symbol=symbol).to_pandas()["symbol"].tolist() == [symbol]


def test_the_plan_is_drawn_with_all_its_parts_one_way(backend):
    told = backend.plan()
    drawn = ElementTree.fromstring(plan_picture(told))
    parts = {"node": f"{SVG}g", "edge": f"{SVG}path"}
    assert len(drawn.findall(parts["node"])) == len(told["nodes"]) and len(drawn.findall(parts["edge"])) == len(
        told["edges"]
    )
    for edge in drawn.findall(parts["edge"]):
        begin, *_, end = edge.attrib["d"].split()
        assert float(begin[1:].split(",")[0]) < float(end.split(",")[0])
    many = [{"id": str(number), "kind": "query", "title": "q", "subtitle": ""} for number in range(1000)]
    assert plan_picture({"nodes": many, "edges": []}) == "" == plan_picture({"nodes": [], "edges": []})


def test_sample_streams_have_no_index_and_say_so(server):
    client = windrow.connect(server.link)
    assert client.indexes() == []
    with pytest.raises(AskError, match="sample streams have no indexes") as error:
        client.scan("speeds", seg=1)
    assert error.value.missing


def test_changes_come_as_events_that_go_on_where_a_reader_left_off(server):
    client = windrow.connect(server.link)
    reader = client.subscribe("vwap")
    first, second = next(reader), next(reader)
    assert first["event"] == "answer" and second["event"] == "change" and second["batch"] > first["batch"]
    third = next(reader)
    reader.close()
    again = client.subscribe("vwap", last_id=second["id"])
    assert next(again)["id"] == third["id"]
    again.close()
    other = client.subscribe("vwap", last_id="another-7")
    assert next(other)["event"] == "answer"
    other.close()


def test_queries_come_and_go_with_the_checks_of_a_job(server):
    client = windrow.connect(server.link)
    assert client.add(COUNTS) == ["n"]
    assert "n" in {query["name"] for query in client.queries()}
    assert len(client.answer("n"))
    with pytest.raises(AskError, match="there is a query 'n' already"):
        client.add(COUNTS)
    with pytest.raises(AskError, match="unknown column 'symbl'"):
        client.add("SELECT symbl, COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY symbl")
    with pytest.raises(AskError, match="takes CREATE SINK, INSERT INTO and SELECT only"):
        client.add("CREATE STREAM x (ts TIMESTAMP) USING parquet OPTIONS (path '/') TIMESTAMP BY ts")
    client.drop("n")
    with pytest.raises(AskError, match="no query 'n'") as error:
        client.answer("n")
    assert error.value.missing
    assert ask(server, "GET", "/answers/n")[0] == 404 and ask(server, "DELETE", "/queries/n", token="right")[0] == 404


def test_a_mistake_has_the_place_and_the_words_that_check_has(server):
    text = "SELECT symbol, COUNT(*) AS n\nFROM tick [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY symbol"
    (mistake,) = told(server, "POST", "/check", text, token="right")["mistakes"]
    assert (mistake["code"], text[mistake["from"] : mistake["to"]], mistake["line"]) == ("QUERY", "tick", 2)
    with pytest.raises(windrow.QueryError) as error:
        windrow.replay(text, ticks=Samples().between(0, 1)["ticks"])
    assert mistake["message"] == error.value.message and mistake["hint"] == error.value.hint


def test_a_preview_is_what_replay_gives(server, backend):
    text = QUERIES["movers"]
    preview = told(server, "POST", "/preview", text, token="right")
    assert preview["count"] >= len(preview["rows"]) > 0 and preview["events"] > 1000
    assert [column["name"] for column in preview["columns"]] == ["window_start", "window_end", "symbol", "spread"]


def test_select_over_answers(server):
    found = told(server, "POST", "/sql", "SELECT count(*) AS n, max(vwap) AS most FROM vwap", token="right")
    vwap = windrow.connect(server.link).answer("vwap")
    assert found["rows"][0]["n"] == len(vwap) and found["cut"] is False
    assert windrow.connect(server.link).sql("SELECT 1 AS one").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT getenv('HOME')",
        "COPY (SELECT 1) TO '/tmp/windrow_copied'",
        "ATTACH '/tmp/windrow_attached.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM 'https://example.org/x.csv'",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "CREATE TABLE x AS SELECT 1",
        "SELECT 1; SELECT 2",
        "EXPORT DATABASE '/tmp/windrow_exported'",
        "CALL pragma_version()",
        "SELECT * FROM tables",
        "",
        "SELEC",
    ],
)
def test_ad_hoc_sql_reads_answers_and_nothing_else(text):
    tables = {"vwap": pa.table({"n": [1]})}
    with pytest.raises(AskError):
        AdHoc().select(text, tables)


def test_ad_hoc_sql_is_bounded_in_time_rows_and_memory():
    with pytest.raises(AskError, match=r"took longer than 0.3 seconds|[Mm]emory"):
        AdHoc(seconds=0.3).select("SELECT count(*) FROM range(1000000000) a, range(1000000000) b", {})
    rows, cut = AdHoc(rows=50).select("SELECT * FROM range(1000000)", {})
    assert (rows.num_rows, cut) == (50, True)
    with pytest.raises(AskError):
        AdHoc(seconds=3).select("SELECT list(range) FROM (SELECT * FROM range(200000000) ORDER BY hash(range))", {})


def test_what_changes_a_job_needs_the_token_even_here(server):
    for verb, path in [
        ("POST", "/queries"),
        ("DELETE", "/queries/vwap"),
        ("POST", "/sql"),
        ("POST", "/preview"),
        ("POST", "/check"),
    ]:
        status, headers, body = ask(server, verb, path, "SELECT 1")
        assert (
            status == 401 and json.loads(body)["error"]["code"] == "TOKEN" and "Bearer" in headers["www-authenticate"]
        )
        time.sleep(0.3)  # wrong tokens may be tried twice a second
    assert ask(server, "POST", "/sql", "SELECT 1", Authorization=f"Bearer {server.token}x")[0] == 401
    time.sleep(1.2)
    assert ask(server, "POST", "/sql", "SELECT 1", Authorization=f"Basic {server.token}")[0] == 401
    assert ask(server, "POST", "/sql", "SELECT 1 AS x", token="right")[0] == 200


def test_wrong_tokens_are_few(backend):
    with serve_backend(backend, port=0) as server:
        statuses = [ask(server, "POST", "/sql", "SELECT 1", Authorization=f"Bearer {i}")[0] for i in range(12)]
    assert statuses[0] == 401 and 429 in statuses


def test_beyond_loopback_every_question_needs_the_token(public):
    assert ask(public, "GET", "/")[0] in (200, 404)  # the page itself holds nothing, and asks for it
    assert ask(public, "GET", "/answers/vwap")[0] == 401
    assert ask(public, "GET", "/metrics")[0] == 401
    assert ask(public, "GET", "/answers/vwap", token="right")[0] == 200
    assert ask(public, "GET", "/answers/vwap", token="right", Host="console.example:8180")[0] == 200
    assert ask(public, "GET", "/answers/vwap", token="right", Host="evil.example")[0] == 421


def test_pages_from_elsewhere_are_turned_away(server):
    assert ask(server, "GET", "/answers/vwap", Host="evil.example")[0] == 421  # a name pointed here
    assert ask(server, "GET", "/answers/vwap", Host="")[0] in (400, 421)
    for origin in (
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        f"http://localhost.evil.example:{server.port}",
    ):
        assert ask(server, "GET", "/answers/vwap", Origin=origin)[0] == 403, origin
    assert ask(server, "GET", "/answers/vwap", Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "GET", "/answers/vwap", Origin=f"http://127.0.0.1:{server.port}")[0] == 200


def test_headers_let_no_inline_script_run_and_set_no_cookie(server):
    for path in ("/docs", "/answers/vwap", "/nothing"):
        _, headers, _ = ask(server, "GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and "set-cookie" not in headers
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../errors.py",
        "/static/..%2f..%2ferrors.py",
        "/static/%2e%2e/door.py",
        "/static//etc/passwd",
        "/../errors.py",
    ],
)
def test_no_path_of_a_request_reaches_a_file(server, path):
    status, _, body = ask(server, "GET", path)
    assert status in (404, 405) and b"WindrowError" not in body


def test_requests_are_bounded(server):
    large = "x" * (LARGEST_BODY + 1)
    assert ask(server, "POST", "/sql", large, token="right")[0] == 413
    status, _, _ = chunked(server, "/sql", [b"x" * 65536] * 8)
    assert status == 413
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000)
    assert connection.recv(100)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
    connection.close()


def chunked(server: Server, path: str, parts: list[bytes]) -> tuple[int, dict, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("POST", path, iter(parts), {"Authorization": f"Bearer {server.token}"}, encode_chunked=True)
    answer = connection.getresponse()
    return answer.status, {}, answer.read()


def test_writes_are_few_a_second(backend):
    with serve_backend(backend, port=0) as server:
        statuses = [ask(server, "POST", "/check", "SELECT 1", token="right")[0] for _ in range(80)]
    assert 429 in statuses and statuses[0] == 200


def test_a_reader_that_stops_is_dropped_and_others_go_on(backend):
    from windrow.serve.events import MOST_WAITING

    with serve_backend(backend, port=0) as server:
        lazy = socket.create_connection(("127.0.0.1", server.port))
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        lazy.sendall(b"GET /answers/vwap/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        other = windrow.connect(server.link).subscribe("vwap")
        next(other)
        readers = server.routes.readers
        assert wait_until(lambda: readers.count == 2)
        kept = backend.answers.kept("vwap")
        wide = pa.concat_tables([kept.answer.table] * 100)
        for number in range(MOST_WAITING * 6):
            for listener in list(backend.answers._listeners["vwap"]):
                listener(windrow.Update("vwap", wide, 10_000_000 + number, None))
            while next(other)["batch"] < 10_000_000 + number:  # who reads has it before the next comes
                pass
            if readers.count < 2:
                break
        assert wait_until(lambda: readers.count == 1)
        with backend._lock:
            for listener in list(backend.answers._listeners["vwap"]):
                listener(windrow.Update("vwap", wide, 20_000_000, None))
        while next(other)["batch"] < 20_000_000:
            pass
        lazy.close()
        other.close()


def wait_until(true, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.02)
    return False


def test_a_port_in_use_and_a_short_token_are_said_at_once(backend, server):
    with pytest.raises(SettingsError, match=f"port {server.port} is in use"):
        serve_backend(backend, port=server.port)
    with pytest.raises(SettingsError, match="16 characters"):
        serve_backend(backend, port=0, token="short")
    with pytest.raises(AskError, match="cannot be reached"):
        windrow.connect("http://127.0.0.1:9").answer("vwap")
    with pytest.raises(AskError, match="is no address"):
        windrow.connect("file:///etc/passwd")


def test_every_route_is_in_the_openapi_document(server):
    document = told(server, "GET", "/openapi.json")
    from windrow.serve.app import Routes

    for verb, path in [("get", "/queries"), ("post", "/queries"), ("delete", "/queries/{name}"), ("post", "/sql")]:
        assert verb in document["paths"][path]
    assert b"openapi.json" in ask(server, "GET", "/docs")[2]
    routed = {route.path for route in Routes.app.__get__(_routes(server))().routes}
    assert routed - {"/", "/docs", "/openapi.json", "/static/{name}"} == set(document["paths"])


def _routes(server: Server):
    from windrow.serve.app import Routes

    class Nothing:
        answers = None

    return Routes(Nothing())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path",
    [
        "/jobs",
        "/overview",
        "/queries",
        "/queries/vwap",
        "/answers",
        "/answers/vwap/history",
        "/plan",
        "/catalog",
        "/rejected",
        "/metrics",
    ],
)
def test_every_question_has_an_answer(server, path):
    if path == "/metrics":
        pytest.importorskip("prometheus_client", reason="prometheus-client is not installed: requirements-places.txt")
    assert ask(server, "GET", path)[0] == 200


@pytest.mark.parametrize(
    ("verb", "path", "body", "status"),
    [
        ("GET", "/overview?since=never", None, 400),
        ("GET", "/answers/vwap?limit=-1", None, 400),
        ("GET", "/answers/vwap?symbl=AEL", None, 422),
        ("GET", "/answers/vwap?volume=many", None, 422),
        ("GET", "/queries/vwap/state", None, 400),
        ("GET", "/queries/vwap/state?horizon=soon", None, 422),
        ("GET", "/nothing", None, 404),
        ("PUT", "/sql", "SELECT 1", 405),
        ("POST", "/sql", "", 400),
        ("POST", "/queries", "SELECT", 422),
    ],
)
def test_what_cannot_be_told_is_one_sentence_with_a_code(server, verb, path, body, status):
    got, _, content = ask(server, verb, path, body, token="right")
    error = json.loads(content)["error"]
    assert got == status and error["code"] and error["message"] and "Traceback" not in error["message"]


@pytest.mark.slow
def test_the_api_keeps_to_its_openapi_document(backend, monkeypatch):
    """Random requests by schemathesis: no failure of ours, and every answer as the document has it."""
    pytest.importorskip("schemathesis", reason="schemathesis is not installed: requirements-browser.txt")
    import shutil
    import subprocess
    import sys
    from pathlib import Path

    from windrow.serve import guard

    monkeypatch.setattr(guard, "WRITES_A_SECOND", 1e6)
    with serve_backend(backend, port=0) as server:
        tool = shutil.which("st", path=str(Path(sys.executable).parent)) or "st"
        command = [
            tool,
            "run",
            f"{server.url}/openapi.json",
            "-H",
            f"Authorization: Bearer {server.token}",
            "--no-color",
        ]
        command += [
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method",
        ]
        command += ["--max-examples", "25", "--exclude-path", "/answers/{name}/changes", "--phases", "coverage,fuzzing"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-4000:]
