"""Rows that are appended to a table of a database, each once: the batch is noted in the same transaction."""

from __future__ import annotations

from zlib import crc32

from pyspark.sql import DataFrame

from windrow.plan.sink import Sink
from windrow.spark.sinks.database_table import BATCHES, TYPES, DatabaseTable, Run
from windrow.spark.sinks.table_names import TableNames


class AppendTable(DatabaseTable):
    """Appends the rows of each batch, in one transaction with a note of the batch (in `..._batch`).

    Spark writes the rows of a batch into a table beside (`..._new_` and a mark of the query); one statement moves them
    over. A batch that comes again is passed over. Several queries, and several jobs, may append to one table.
    """

    why = "it is a table of a database"

    def __init__(self, sink: Sink, mark: str) -> None:
        """`mark` is the name under which batches are noted."""
        own = {name.lower(): value for name, value in sink.spark_options.items()}
        super().__init__(
            {TYPES if name == TYPES.lower() else name: value for name, value in own.items()}, "a table of a database"
        )
        self._mark, self._made = mark, False
        self._beside = f"_new_{crc32(mark.encode()):08x}"

    def write(self, rows: DataFrame, batch: int) -> None:
        """Append the rows of `batch`, unless the table has them."""
        spark = rows.sparkSession
        names = TableNames(spark, self._options["url"], self._options["dbtable"])
        types = self._options.get(TYPES)
        if not self._made:
            self._create(spark, names.table(), rows.schema.fields, types)
            self._create_notes(spark, names)
            self._made = True
        self._writing(rows.coalesce(1), names.table(self._beside), types).mode("overwrite").save()
        self._in_transaction(spark, names, lambda run: self._append(run, names, batch, rows.columns))

    def _append(self, run: Run, names: TableNames, batch: int, columns: list[str]) -> None:
        batches, job, number = names.table(BATCHES), names.quoted("job"), names.quoted("batch")
        last = run(f"SELECT {number} FROM {batches} WHERE {job} = '{self._mark}'")
        if last is not None and last >= batch:
            return
        listed = ", ".join(map(names.quoted, columns))
        run(f"INSERT INTO {names.table()} ({listed}) SELECT {listed} FROM {names.table(self._beside)}")
        if last is None:
            run(f"INSERT INTO {batches} ({job}, {number}) VALUES ('{self._mark}', {batch})")
        else:
            run(f"UPDATE {batches} SET {number} = {batch} WHERE {job} = '{self._mark}'")
