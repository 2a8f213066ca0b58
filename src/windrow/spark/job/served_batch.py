"""What `foreachBatch` does where a Spark Connect server runs it: in a process beside the server, a pickled copy."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame

from windrow.places.place import Place
from windrow.spark.job.batches import instant_of
from windrow.spark.job.reports import Report, Reports
from windrow.spark.job.shedding import Shedding
from windrow.spark.sinks.deliver import Delivery
from windrow.spark.sources.missing_files import reads_from
from windrow.spark.stages.same_version import check_version
from windrow.version import VERSION


class ServedBatch:
    """Writes the batches of a stream. Nothing comes back from that process, so it tells of each batch in a file.

    It asks the checkpoint, as every job does, whether another job has taken it over; one that has been left running by
    a client that died ends so.
    """

    def __init__(self, delivery: Delivery, folder: Place, control: Place, shedding: Shedding | None = None) -> None:
        """`folder` is that of the stream in the checkpoint, and `control` has the words to its shards.

        `shedding` decides on the share of rows that the next batch takes.
        """
        self._shedding = shedding
        self._delivery, self._folder, self._control = delivery, folder.absolute(), control.absolute()
        self._reports, self._version = Reports(self._folder), VERSION
        self._reports.make()

    def __call__(self, batch: DataFrame, number: int) -> None:
        check_version(self._version)
        began = time.perf_counter()
        self._delivery.use(batch.sparkSession)
        instant = instant_of(self._folder, number) if self._delivery.rolls else 0
        flushed = self._delivery.sees_the_end and reads_from(batch, self._control.for_spark)
        rows = self._delivery.write(batch, number, instant, flushed=flushed)
        if self._shedding is not None:
            self._shedding.after(number)
        costs = self._delivery.costs
        told = Report(rows, dict(costs.queries), dict(costs.sinks), time.perf_counter() - began)
        self._reports.write(number, told)
