"""Metrics: the figures of a job as Prometheus reads them, and a dashboard and alerts that ask for what there is."""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from windrow.errors import SettingsError
from windrow.spark.job.progress import Progress, ShardProgress, StreamProgress
from windrow.spark.job.waited import Waited

pytest.importorskip("prometheus_client")

from prometheus_client.parser import text_string_to_metric_families

from windrow.serve.metrics import metrics_text
from windrow.serve.metrics_port import MetricsPort

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations"
_OTHERS = {"up"}
"""Metrics that Prometheus itself has of whatever it asks."""


def progress() -> Progress:
    waited = Waited()
    waited.add(0.2, 0.4, events=10)
    waited.add(2.0, 4.0, events=30)
    figures = StreamProgress(
        batches=7,
        events=40,
        stream_rate=2.0,
        events_per_second=20.0,
        clock=datetime(2026, 1, 1, tzinfo=UTC),
        windows=5,
        rejected={"late": 3, "no time": 0, "unreadable": 1},
        late_in_part=2,
        missing_files=1,
        failed=4,
        dropped=0,
        duplicates=6,
        delay=None,
        groups=9,
        state_bytes=1000,
        memory_bytes=500,
        seconds={"scan": 1.5, "slide": 0.5},
        rows={"alerts": 12, 'odd "name"\n': 1},
        rows_per_second={"alerts": 3.0},
        waiting=False,
        stopped={"other": "it failed"},
        restarts=2,
        lag={"tx/0": 5, "a/b/11": 0},
        waited=waited.figures(),
        seam=8,
        absent={"v": {"files": 2, "rows": 30}},
        history={"files": 5, "left": 2},
        last_error={"why": "it failed", "at": 77.0},
        shards={0: ShardProgress(last_seconds=1.0, memory_bytes=3), 1: ShardProgress(last_seconds=3.0, groups=4)},
    )
    return Progress({"tx": figures})


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_every_figure_is_there_with_its_type_and_its_labels() -> None:
    text = metrics_text(progress(), now=datetime(2026, 1, 1, 0, 1, tzinfo=UTC).timestamp())
    found, stream = samples(text), ("stream", "tx")
    assert found["windrow_events_total", (stream,)] == 40
    assert found["windrow_clock_behind_seconds", (stream,)] == 60
    assert found["windrow_rejected_events_total", (("cause", "late"), stream)] == 3
    assert found["windrow_answers_total", (("query", 'odd "name"\n'), stream)] == 1
    assert found["windrow_kafka_lag_messages", (("partition", "11"), stream, ("topic", "a/b"))] == 0
    assert found["windrow_query_stopped", (("query", "other"), stream)] == 1
    assert found["windrow_restarts_total", (stream,)] == 2
    assert found["windrow_duplicate_events_total", (stream,)] == 6
    assert found["windrow_seam_events_total", (stream,)] == 8
    assert found["windrow_absent_column_files_total", (("column", "v"), stream)] == 2
    assert found["windrow_absent_column_rows_total", (("column", "v"), stream)] == 30
    assert found["windrow_history_files_left", (stream,)] == 2
    assert found["windrow_last_error_timestamp_seconds", (stream,)] == 77
    assert found["windrow_shard_skew", (stream,)] == 1.5
    assert found["windrow_shard_groups", (("shard", "1"), stream)] == 4
    assert found["windrow_shard_memory_bytes", (("shard", "0"), stream)] == 3
    assert found["windrow_delay_seconds_bucket", (("le", "0.5"), stream)] == 10
    assert found["windrow_delay_seconds_bucket", (("le", "+Inf"), stream)] == 40
    assert found["windrow_delay_seconds_count", (stream,)] == 40
    assert found["windrow_delay_seconds_sum", (stream,)] == pytest.approx(93)
    types = {family.name: family.type for family in text_string_to_metric_families(text)}
    assert types["windrow_events"] == "counter" and types["windrow_delay_seconds"] == "histogram"
    assert all(name.startswith("windrow_") for name in types)
    assert metrics_text(progress().to_dict(), now=1.0) == metrics_text(progress(), now=1.0)


def test_the_dashboard_and_the_alerts_ask_for_metrics_and_labels_that_there_are() -> None:
    known: dict[str, set[str]] = {}
    for name, labels in samples(metrics_text(progress())):
        known.setdefault(name, set()).update(dict(labels))
    dashboard = json.loads((OPERATIONS / "grafana.json").read_text())
    asked = [(t["expr"], t["legendFormat"]) for panel in dashboard["panels"] for t in panel["targets"]]
    alerts = (OPERATIONS / "alerts.yml").read_text()
    rules = re.findall(r"expr: (.+)\n(?:.*\n)*?.*annotations: (.+)", alerts)
    assert len(rules) == alerts.count("alert: ") and len(asked) >= 12
    for expression, told in asked + rules:
        names = set(re.findall(r"\b(windrow_\w+|up)\b(?!\")", expression))
        assert names and names <= known.keys() | _OTHERS, expression
        labels = set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", told)) | {
            label.strip() for group in re.findall(r"(?:by|on) ?\(([^)]*)\)", expression) for label in group.split(",")
        }
        for name in names - _OTHERS:
            assert labels - {"le"} <= known[name] | {"stream"}, (expression, labels)


def test_metrics_are_served_until_the_end_and_a_port_in_use_is_refused() -> None:
    with MetricsPort("127.0.0.1:0").serving() as port:
        url = f"http://{port.address}/metrics"
        with urlopen(url) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
        port.tell(progress)
        with urlopen(url) as answer:
            assert ("windrow_events_total", (("stream", "tx"),)) in samples(answer.read().decode())
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://{port.address}/other")
        with pytest.raises(SettingsError, match=r"cannot be served at .*in use"):
            MetricsPort(port.address)
    with socket.socket() as free:
        host, number = port.address.split(":")
        assert free.connect_ex((host, int(number))) != 0
    with pytest.raises(SettingsError, match="is no address"):
        MetricsPort("nine")
