"""The batches of a job as OpenTelemetry spans: one for each batch that is done, from the notes that the job has of it.

A span is made when its batch is over, with the instants at which that began and ended. So spans cost a job nothing
while it works, and are told a second late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from windrow.errors import SettingsError
from windrow.plan.nodes.run_names import streams_in

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

EVERY_SECONDS = 1.0
NAME = "windrow batch"

Batches = Callable[[], Mapping[str, Sequence[Mapping[str, Any]]]]


class BatchSpans:
    """Makes spans of what `batches` gives, such as `job.batches`, from now until `close`."""

    def __init__(self, tracer: Tracer, batches: Batches) -> None:
        self._tracer, self._batches = tracer, batches
        self._told: dict[str, int] = {}
        self._ended, self._lock = Event(), Lock()
        self._thread = Thread(target=self._keep, name="windrow spans", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Tell of the last batches, and then of no more."""
        self._ended.set()
        self._thread.join()
        self.tell()

    def tell(self) -> None:
        """Make a span of each batch that is done and was not told of yet."""
        with self._lock:
            for run, batches in self._batches().items():
                for batch in batches:
                    if batch["batch"] > self._told.get(run, -1):
                        self._told[run] = batch["batch"]
                        self._span(", ".join(streams_in(run)), batch)

    def _keep(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            with suppress(Exception):  # Spark may be gone: whoever waits for the job is told
                self.tell()

    def _span(self, stream: str, batch: Mapping[str, Any]) -> None:
        began = int(batch["started"] * 1e9)
        about = {"windrow.stream": stream} | {
            f"windrow.{name}": batch[name] for name in ("batch", "events", "windows", "rejected")
        }
        about |= {f"windrow.seconds.{part}": seconds for part, seconds in batch["parts"].items()}
        if batch["clock"] is not None:
            about["windrow.clock_us"] = batch["clock"]
        span = self._tracer.start_span(NAME, start_time=began, attributes=about)
        span.end(end_time=began + int(batch["seconds"] * 1e9))


def tracer_to(endpoint: str) -> tuple[Tracer, Callable[[], None]]:
    """A tracer that sends spans to a collector by OTLP over HTTP, and what sends the last of them.

    What else there is to say of it, OpenTelemetry's own variables of the environment say.
    """
    if not endpoint.startswith(("http://", "https://")):
        raise SettingsError(
            f"{endpoint!r} is no address of a collector\nhint: http://127.0.0.1:4318/v1/traces, by OTLP over HTTP"
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsError("spans need OpenTelemetry\nhint: pip install 'windrow[otel]'") from None
    provider = TracerProvider(resource=Resource.create({"service.name": "windrow"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return provider.get_tracer("windrow"), provider.shutdown
