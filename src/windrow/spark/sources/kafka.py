"""Streams from Kafka: Spark's connector reads messages, and they are decoded into the columns that are declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.errors import SettingsError
from windrow.language import ColumnDefinition
from windrow.plan.kafka_options import KAFKA, group_of, source_options
from windrow.spark.connect import is_connect
from windrow.spark.sources.kafka_broker import check_topics
from windrow.spark.sources.messages import MESSAGE, UNREADABLE, Decoding, metadata_columns
from windrow.spark.sources.read import missing_format
from windrow.spark.sources.source import Opened, Topics

CONNECTOR = "windrow run --package kafka, or Session(packages=['kafka']), fetches Spark's connector by Maven"


def split_columns(
    columns: Sequence[ColumnDefinition],
) -> tuple[list[tuple[str, str]], dict[str, tuple[str, str]]]:
    """Columns that are in messages, with their types; and of others what of a message they are, and their types."""
    inside = [(column.name, column.type_sql) for column in columns if column.metadata is None]
    about = {column.name: (column.metadata, column.type_sql) for column in columns if column.metadata is not None}
    return inside, about


def read_kafka(
    spark: SparkSession,
    options: Mapping[str, str],
    message: str | None,
    message_options: Mapping[str, str],
    columns: Sequence[tuple[str, str]],
    metadata: Mapping[str, tuple[str, str]],
) -> Opened:
    """The messages of topics as rows: `columns` are names and types of what is in them, `metadata` of what is not.

    Broker and topics are asked for before anything starts.
    """
    given = source_options(options)
    if is_connect(spark):
        raise SettingsError(
            "Kafka's brokers are not asked through Spark Connect, so that no stream of it is declared there"
            "\nhint: session.stream(name, spark.readStream.format('kafka')...), which takes any DataFrame"
        )
    decoding = Decoding.of(message, message_options, columns)
    about = metadata_columns(metadata)
    if missing_format(spark, KAFKA) is not None:
        raise SettingsError(f"this Spark lacks the package for 'kafka'\nhint: {CONNECTOR}")
    check_topics(spark, given)
    came = spark.readStream.format(KAFKA).options(**given).load()
    kept = F.expr("struct(topic, partition, offset, timestamp, key, value, headers)").alias(MESSAGE)
    decoded = came.select("*", kept, *decoding.steps())
    shown = [*decoding.columns(), *(F.expr(sql).alias(name) for name, sql in about.items())]
    frame = decoded.select(*shown, F.expr(decoding.unreadable()).alias(UNREADABLE), MESSAGE)
    raw = f"to_json({MESSAGE}, map('ignoreNullFields', 'false'))"
    return Opened(frame, UNREADABLE, None, raw, (MESSAGE,), Topics(given, group_of(options)))
