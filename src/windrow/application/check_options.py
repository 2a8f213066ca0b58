"""What CREATE STREAM, TABLE and SINK may say behind USING: a format that there is, and options that it knows."""

from __future__ import annotations

from windrow.application.declaring import Declaring
from windrow.application.script_text import Created, ScriptText
from windrow.errors import QueryError
from windrow.language import CreateSink, CreateStream, CreateTable
from windrow.language.spelling import closest
from windrow.plan.history import History, history
from windrow.plan.known_options import unknown_option
from windrow.plan.sink import DELTA, OWN_FORMATS
from windrow.spark.sources.file_columns import missing_column
from windrow.spark.sources.file_options import FILES, missing_path


def refuse_messages(script: ScriptText, statement: Created) -> None:
    """Only Kafka has messages: FORMAT and METADATA would say nothing of others."""
    if not isinstance(statement, CreateTable) and statement.message is not None:
        raise script.error(
            f"{statement.format} has no messages that FORMAT could be said of",
            script.written("FORMAT", statement),
            "leave out FORMAT, or USING kafka",
        )
    for column in () if isinstance(statement, CreateSink) else statement.columns:
        if column.metadata is not None:
            raise script.error(
                f"{statement.format} has no messages that METADATA could be of",
                (column.start, column.end),
                "leave out METADATA, or USING kafka",
            )


def source_options(script: ScriptText, session: Declaring, source: CreateStream | CreateTable) -> dict[str, str]:
    """The options of a source."""
    if source.format.lower() != DELTA or isinstance(source, CreateTable):
        check_format(script, session, source)
    check_keys(script, source)
    options = dict(source.options)
    places = {column.name: (column.start, column.end) for column in source.columns}
    lacks = missing_column(source.format, options, list(places))
    if lacks is not None:
        name, message, way_out = lacks
        raise script.error(message, places[name], way_out)
    return options


def absent(script: ScriptText, source: CreateStream | CreateTable) -> QueryError | None:
    """That there is nothing at the path of a source of files."""
    options = dict(source.options)
    wrong = missing_path(source.format, options)
    if wrong is None:
        return None
    return script.error(
        wrong, script.written(options.get("path"), source), "a path to files, or to a folder, that exists"
    )


def history_of(script: ScriptText, session: Declaring, stream: CreateStream) -> History | None:
    """What a stream is read after: files that are there, with the columns that are declared."""
    after = stream.after
    if after is None:
        return None
    with script.placed(after.span):
        found = history(after.format, after.until, **dict(after.options))
    wrong = unknown_option(after.format, [key for key, _ in after.options])
    if wrong is not None:
        raise script.error(wrong[1], after.span, wrong[2])
    missing = missing_path(after.format, dict(after.options))
    if missing is not None:
        raise script.error(missing, after.span, "a path to files, or to a folder, that exists")
    places = {each.name: (each.start, each.end) for each in stream.columns if each.metadata is None}
    lacks = missing_column(after.format, dict(after.options), list(places))
    if lacks is not None:
        raise script.error(f"the history of the stream: {lacks[1]}", places[lacks[0]], lacks[2])
    return found


def check_keys(script: ScriptText, statement: Created) -> None:
    """Spark passes over an option that a format has not: a misspelt one would do nothing."""
    keys = [key for key, _ in statement.options]
    wrong = unknown_option(statement.format, keys, sink=isinstance(statement, CreateSink))
    if wrong is not None:
        key, message, way_out = wrong
        raise script.error(message, script.written(key, statement), way_out)


def check_format(script: ScriptText, session: Declaring, statement: Created) -> None:
    """The format is one that this Spark has."""
    wrong = session.missing_format(statement.format)
    if wrong is not None:
        meant = closest(statement.format, [name.upper() for name in (*FILES, *OWN_FORMATS)])
        way_out = f"did you mean {meant.lower()}?" if meant else "start Spark with its package (spark.jars.packages)"
        raise script.error(wrong, script.written(statement.format, statement), way_out)
