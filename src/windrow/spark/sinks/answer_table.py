"""The current answer of a query that emits changes, in a table of a database."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.errors import JobError
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.sink import ANSWER_TABLE, Sink, check_key
from windrow.spark.sinks.answer_files import UNKNOWN, net_rows, signed_rows
from windrow.spark.sinks.database_table import BATCHES, TYPES, DatabaseTable, Run
from windrow.spark.sinks.table_names import TableNames

_OP = "windrow_op"
_CHANGES = "_changes"


class AnswerTable(DatabaseTable):
    """Upserts by key: rows that went are deleted, rows that came inserted, in one transaction a batch.

    Spark writes the net changes of a batch into a table beside (`..._changes`), so that types are its own affair; what
    follows is four statements, whatever there are of rows. The same transaction notes the batch (in `..._batch`): one
    that comes again is passed over, and a job on another checkpoint begins with an empty table.
    """

    why = ANSWER_TABLE

    def __init__(self, sink: Sink, mark: str, leading: int, columns: Sequence[str]) -> None:
        """`mark` is the name under which batches are noted; the first `leading` columns are not of the answer."""
        super().__init__(sink.spark_options, "a table that holds the answer")
        self._mark, self._leading = mark, leading
        check_key(sink, columns)
        self._key, self._made = sink.key, False

    def write(self, rows: DataFrame, batch: int) -> None:
        """Bring the table to the answer after `batch`."""
        spark, fields = rows.sparkSession, rows.schema.fields[self._leading :]
        names = TableNames(spark, self._options["url"], self._options["dbtable"])
        if not self._made:
            self._create(spark, names.table(), fields, self._options.get(TYPES))
            self._create_notes(spark, names)
            self._made = True
        net = net_rows(signed_rows(rows, self._leading)).coalesce(1)
        told = net.withColumn("copies", F.when(F.col("copies") > 0, "+").otherwise("-"))
        types = ", ".join(filter(None, (self._options.get(TYPES), f"{_OP} VARCHAR(1)")))
        named = told.toDF(*(field.name for field in fields), _OP)
        self._writing(named, names.table(_CHANGES), types).mode("overwrite").save()
        self._in_transaction(spark, names, lambda run: self._apply(run, names, batch, [f.name for f in fields]))

    def _apply(self, run: Run, names: TableNames, batch: int, columns: Sequence[str]) -> None:
        table, changes, batches = names.table(), names.table(_CHANGES), names.table(BATCHES)
        quoted = names.quoted
        job, number, op = quoted("job"), quoted("batch"), quoted(_OP)
        last = run(f"SELECT {number} FROM {batches} WHERE {job} = '{self._mark}'")
        if last is None:
            run(f"DELETE FROM {table}")
            run(f"DELETE FROM {batches}")
            run(f"INSERT INTO {batches} ({job}, {number}) VALUES ('{self._mark}', {batch})")
        elif last >= batch:
            return
        same = " AND ".join(
            f"({mine} = {other} OR ({mine} IS NULL AND {other} IS NULL))"
            for mine, other in ((f"{table}.{quoted(name)}", f"c.{quoted(name)}") for name in self._key)
        )
        going = run(f"SELECT COUNT(*) FROM {changes} WHERE {op} = '-'")
        gone = run(f"DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM {changes} c WHERE c.{op} = '-' AND {same})")
        if gone != going:
            raise JobError(f"{UNKNOWN}; or {', '.join(self._key)} does not tell its rows apart")
        listed = ", ".join(map(quoted, columns))
        run(f"INSERT INTO {table} ({listed}) SELECT {listed} FROM {changes} WHERE {op} = '+'")
        run(f"UPDATE {batches} SET {number} = {batch}")


def job_mark(job: str, query: QueryPlan | ChangePlan) -> str:
    """The name under which the batches of a query are noted: another query of the same name begins anew."""
    return f"{job}-{query.answer_name}"
