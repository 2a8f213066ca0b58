"""Batches as OpenTelemetry spans: each once, when it began and ended; and of a real job, by its own notes."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.serve.spans import NAME, BatchSpans, tracer_to

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def traced() -> tuple[Any, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("tests"), exporter


def note(batch: int, **more: object) -> dict[str, object]:
    known: dict[str, object] = {"batch": batch, "started": 100.0 + batch, "seconds": 0.5, "events": 7, "windows": 2}
    return known | {"rejected": 1, "clock": 5, "parts": {"slide": 0.25}} | more


def test_a_batch_is_a_span_once() -> None:
    tracer, exporter = traced()
    notes = {"tx": [note(0), note(1)]}
    spans = BatchSpans(tracer, lambda: notes)
    spans.tell()
    notes["tx"].append(note(2, clock=None))
    spans.close()
    spans.tell()
    found = exporter.get_finished_spans()
    assert [span.attributes["windrow.batch"] for span in found if span.attributes] == [0, 1, 2]
    first = found[0]
    assert first.name == NAME and (first.start_time, first.end_time) == (100_000_000_000, 100_500_000_000)
    assert dict(first.attributes or {}) == {
        "windrow.stream": "tx",
        "windrow.batch": 0,
        "windrow.events": 7,
        "windrow.windows": 2,
        "windrow.rejected": 1,
        "windrow.seconds.slide": 0.25,
        "windrow.clock_us": 5,
    }


def test_spans_of_a_job_add_up_to_its_progress(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(2):
        times = pa.array([number * 20_000_000 + i * 1_000_000 for i in range(20)], pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"ts": times}), tmp_path / "in" / f"{number}.parquet")
    session = windrow.Session(spark, shards=2)
    session.stream_files("tx", str(tmp_path / "in"), schema="ts TIMESTAMP", time="ts", maxFilesPerTrigger=1)
    session.query("n", "SELECT COUNT(*) AS n FROM tx [RANGE 5 SECONDS SLIDE 5 SECONDS]")
    tracer, exporter = traced()
    job = session.start(None, {"n": windrow.sink("parquet", path=tmp_path / "out")}, "available now")
    spans = BatchSpans(tracer, job.batches)
    job.wait()
    spans.close()
    told = [dict(span.attributes or {}) for span in exporter.get_finished_spans()]
    figures = job.progress()["tx"]
    job.stop()
    assert [each["windrow.batch"] for each in told] == list(range(figures.batches))
    assert sum(each["windrow.events"] for each in told) == figures.events == 40  # type: ignore[misc]
    assert sum(each["windrow.windows"] for each in told) == figures.windows  # type: ignore[misc]


def test_a_collector_gets_them_over_http() -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        tracer, send_last = tracer_to(f"http://127.0.0.1:{server.server_address[1]}/v1/traces")
        BatchSpans(tracer, lambda: {"tx": [note(0)]}).close()
        send_last()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert len(bodies) == 1
    with pytest.raises(SettingsError, match="no address of a collector"):
        tracer_to("127.0.0.1:4318")
