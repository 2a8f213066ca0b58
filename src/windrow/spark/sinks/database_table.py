"""What sinks that are tables of a database share: tables made by Spark, and statements in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from windrow.errors import SettingsError
from windrow.expressions.types import sql_name
from windrow.plan.database_driver import with_driver
from windrow.spark.sinks.table_names import TableNames, split_name
from windrow.spark.sinks.writers import WrittenBySpark
from windrow.spark.sources.database_reason import database_reason
from windrow.spark.sources.read import spark_reason

BATCHES = "_batch"
"""What the name of the table ends in that notes which batches are done."""

TYPES = "createTableColumnTypes"


class DatabaseTable(WrittenBySpark):
    """A table of a database: Spark writes rows beside it, so that types are its own affair."""

    _leading = 0
    """So many of the first columns of rows are not written."""

    def __init__(self, options: Mapping[str, str], what: str) -> None:
        self._options = with_driver(options)
        missing = [name for name in ("url", "dbtable") if name not in self._options]
        if missing:
            raise SettingsError(f"{what} needs {' and '.join(missing)}")
        split_name(self._options["dbtable"])  # raises what is wrong with it

    def check_rows(self, spark: SparkSession, shown: Callable[[], pa.Schema]) -> None:
        """Refuse a database that cannot be reached, and rows that do not fit the table, where it is there."""
        names = TableNames(spark, self._options["url"], self._options["dbtable"])
        if not self._is_there(spark, names):
            return
        reader = spark.read.format("jdbc").options(**self._reached_by() | {"dbtable": names.table()})
        columns = shown()
        wrong = unfit_rows(
            pa.schema([columns.field(number) for number in range(self._leading, len(columns))]),
            to_arrow_schema(reader.load().schema, timezone="UTC"),
        )
        if wrong is not None:
            raise SettingsError(
                f"the rows do not fit the table {names.table()}: {wrong}"
                "\nhint: name columns as it has them, with AS and CAST, or name another table"
            )

    def _is_there(self, spark: SparkSession, names: TableNames) -> bool:
        """Whether the table is there; raises why the database does not answer."""
        found: list[bool] = []
        try:
            self._in_transaction(spark, names, lambda run: found.append(run.has(names.dialect, names.table())))
        except (Py4JError, PySparkException) as error:
            does, said = database_reason(error) or ("cannot be reached", spark_reason(error))
            raise SettingsError(
                f"the database of table {names.table()} {does}: {said}"
                "\nhint: url, user and password are those of its owner; the driver is named by --package or driver"
            ) from None
        return found[0]

    def _reached_by(self) -> dict[str, str]:
        return {name: value for name, value in self._options.items() if name != TYPES}

    def _create_notes(self, spark: SparkSession, names: TableNames) -> None:
        """Make the table of batches that are done."""
        noted = StructType().add("job", "string").add("batch", "long").fields
        self._create(spark, names.table(BATCHES), noted, "job VARCHAR(64)")

    def _create(self, spark: SparkSession, table: str, fields: list[StructField], types: str | None) -> None:
        """Make a table that is not there yet, with the types that Spark has for the database."""
        self._writing(spark.createDataFrame([], StructType(fields)), table, types).mode("ignore").save()

    def _writing(self, rows: DataFrame, table: str, types: str | None) -> Any:
        options = self._reached_by() | {"dbtable": table}
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


def unfit_rows(rows: pa.Schema, table: pa.Schema) -> str | None:
    """What rows have that a table has not, or has as another kind of value; None if nothing.

    Databases write names each in their own case.

    >>> unfit_rows(pa.schema({"n": pa.int64()}), pa.schema({"N": pa.int32()}))
    >>> unfit_rows(pa.schema({"n": pa.int64()}), pa.schema({"n": pa.string()}))
    'n is BIGINT in the rows, and STRING in the table'
    """
    there = {field.name.lower(): field.type for field in table}
    for field in rows:
        kind = there.get(field.name.lower())
        if kind is None:
            return f"it has no column {field.name}; its columns: {', '.join(table.names)}"
        if _kind(kind) != _kind(field.type):
            return f"{field.name} is {sql_name(field.type)} in the rows, and {sql_name(kind)} in the table"
    return None


def _kind(type: pa.DataType) -> str:
    if pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type):
        return "number"
    if pa.types.is_timestamp(type) or pa.types.is_date(type):
        return "time"
    return str(type)


class Run:
    """Runs statements one after the other: gives the first value that one selects, or how many rows it changed."""

    def __init__(self, statement: Any) -> None:
        self._statement = statement

    def has(self, dialect: Any, table: str) -> bool:
        """Whether there is such a table: asked as Spark asks it, which an error answers, too."""
        try:
            self(str(dialect.getTableExistsQuery(table)))
        except Py4JError:
            return False
        return True

    def __call__(self, sql: str) -> int | None:
        if not self._statement.execute(sql):
            changed: int = self._statement.getUpdateCount()
            return changed
        found = self._statement.getResultSet()
        return found.getLong(1) if found.next() else None
