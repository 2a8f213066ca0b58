"""Kafka: JSON read by a job beside Spark that only decodes it, what metrics cost, and live delays from topic to topic.

A broker of one node is started on this machine. `python -m benchmarks.kafka full 300000` reads other batches than a
stream does by itself.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from lab.broker import Broker, missing, running_broker
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from windrow.spark.packages import with_packages
from windrow.spark.settings import local_spark

from .kafka_live import RATE, delays
from .kafka_reading import SCHEMA, Measurement, events, reading
from .kafka_watching import Watching, watching
from .size import Size


def main(
    size: str = Size.FULL,
    json_path: Path | None = None,
    plot_path: Path | None = None,
    messages: int | None = None,
) -> None:
    """Measure, print what was found beside the aims, and write one line a case and a picture of the delays."""
    lacks, chosen = missing("broker", "kafka"), Size(size)
    found: list[Measurement] = []
    watched: list[Watching] = []
    took: list[float] = []
    if lacks is None:
        before = SparkSession.getActiveSession()
        spark = local_spark("local[2]", with_packages({}, ["kafka"]))
        with tempfile.TemporaryDirectory() as temporary:
            home = Path(temporary)
            (home / "broker").mkdir()
            with running_broker(home / "broker") as broker:
                found = reading(spark, broker, home, chosen, messages)
                watched = costs_of_watching(spark, broker, home, chosen)
                took = delays(spark, broker, home, *chosen.of((500, 2, 6), (RATE, 20, 30), (RATE, 30, 120)))
        if before is None:
            spark.stop()
        report(found, watched, took)
    else:
        Console().print(f"Not measured here: {lacks}")
    if json_path is not None:
        lines = [asdict(each) for each in (*found, *watched)] + ([{"case": "live", **quantiles(took)}] if took else [])
        lines += [] if lacks is None else [{"case": "left out", "why": lacks}]
        json_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    if plot_path is not None and took:
        plot(took, plot_path)


def costs_of_watching(spark: SparkSession, broker: Broker, home: Path, size: Size) -> list[Watching]:
    """What jobs of one query and of many are asked for while they work off a topic."""
    messages, asks, queries = size.of((60_000, 2, (1,)), (1_500_000, 20, (1, 40)), (6_000_000, 60, (1, 40)))
    topic = broker.topic(2)
    broker.send(topic, ({"value": event, "partition": i % 2} for i, event in enumerate(events(messages))))
    return [watching(spark, broker, home, topic, SCHEMA, asks, number) for number in queries]


def report(found: Sequence[Measurement], asked: Sequence[Watching], took: Sequence[float]) -> None:
    """The table, and the figures that have aims."""
    console, table = Console(), Table("case", "events", "events/s", "ratio", "CPU s", "turns differ by")
    for each in found:
        ratio = "" if each.ratio is None else f"{each.ratio:.3f}"
        rate, cpu, spread = f"{each.events_per_second:,.0f}", f"{each.cpu_seconds:.1f}", f"{100 * each.spread:.1f} %"
        table.add_row(each.case, f"{each.events:,}", rate, ratio, cpu, spread)
    console.print(table)
    floor, plain, watched = found
    beside, cost = watched.events_per_second / floor.events_per_second, 1 - (watched.ratio or 0)
    console.print(f"one query beside decoding: {beside:.2f} of it (aim at least 0.70)")
    by_cpu = watched.cpu_seconds / plain.cpu_seconds - 1
    console.print(f"metrics and status by turns: {100 * cost:.1f} %, by CPU time {100 * by_cpu:.1f} %")
    for each in asked:
        console.print(
            f"{each.case}: a scrape {each.scrape_ms:.1f} + {each.scrape_jvm_ms:.1f} ms (driver, JVM) and its request"
            f" {each.request_ms:.1f} ms, a note of status {each.note_ms:.1f} + {each.note_jvm_ms:.1f} ms;"
            f" {100 * each.share:.2f} % of the {each.job_cpu_per_second:.2f} CPU seconds a second (aim below 2 %)"
        )
    told = ", ".join(f"{name} {value:.2f} s" for name, value in quantiles(took).items())
    console.print(f"live, topic to topic, {len(took)} windows: {told} (aim p99 at most 1.5 s)")


def quantiles(took: Sequence[float]) -> dict[str, float]:
    """Seconds."""
    return {name: float(np.quantile(took, q)) for name, q in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))}


def plot(took: Sequence[float], path: Path) -> None:
    """The delay of each window."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot(took, ".-")
    axes.axhline(1.5, color="grey", linewidth=1)
    axes.set_xlabel("windows")
    axes.set_ylabel("seconds from send to receive")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1], messages=int(sys.argv[2]) if len(sys.argv) > 2 else None)
