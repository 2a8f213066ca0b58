"""What sinks that are tables of a database share: tables made by Spark, and statements in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from windrow.errors import SettingsError
from windrow.plan.database_driver import with_driver
from windrow.spark.sinks.table_names import TableNames, split_name
from windrow.spark.sinks.writers import WrittenBySpark

BATCHES = "_batch"
"""What the name of the table ends in that notes which batches are done."""

TYPES = "createTableColumnTypes"


class DatabaseTable(WrittenBySpark):
    """A table of a database: Spark writes rows beside it, so that types are its own affair."""

    def __init__(self, options: Mapping[str, str], what: str) -> None:
        self._options = with_driver(options)
        missing = [name for name in ("url", "dbtable") if name not in self._options]
        if missing:
            raise SettingsError(f"{what} needs {' and '.join(missing)}")
        split_name(self._options["dbtable"])  # raises what is wrong with it

    def _create_notes(self, spark: SparkSession, names: TableNames) -> None:
        """Make the table of batches that are done."""
        noted = StructType().add("job", "string").add("batch", "long").fields
        self._create(spark, names.table(BATCHES), noted, "job VARCHAR(64)")

    def _create(self, spark: SparkSession, table: str, fields: list[StructField], types: str | None) -> None:
        """Make a table that is not there yet, with the types that Spark has for the database."""
        self._writing(spark.createDataFrame([], StructType(fields)), table, types).mode("ignore").save()

    def _writing(self, rows: DataFrame, table: str, types: str | None) -> Any:
        options = {name: value for name, value in self._options.items() if name != TYPES} | {"dbtable": table}
        return rows.write.format("jdbc").options(**options | ({TYPES: types} if types else {}))

    def _in_transaction(self, spark: SparkSession, names: TableNames, work: Callable[[Run], None]) -> None:
        """Do all of `work` in the database, or nothing, over a connection of Spark's making."""
        jvm: Any = spark._jvm
        options = jvm.java.util.HashMap()
        for name, value in self._options.items():
            options.put(name, value)
        parsed = jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(jvm.PythonUtils.toScalaMap(options))
        connection = names.dialect.createConnectionFactory(parsed).apply(-1)
        try:
            connection.setAutoCommit(False)
            work(Run(connection.createStatement()))
            connection.commit()
        except BaseException:
            with suppress(Exception):  # what went wrong first is told
                connection.rollback()
            raise
        finally:
            connection.close()


class Run:
    """Runs statements one after the other: gives the first value that one selects, or how many rows it changed."""

    def __init__(self, statement: Any) -> None:
        self._statement = statement

    def __call__(self, sql: str) -> int | None:
        if not self._statement.execute(sql):
            changed: int = self._statement.getUpdateCount()
            return changed
        found = self._statement.getResultSet()
        return found.getLong(1) if found.next() else None
