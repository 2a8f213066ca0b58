"""Commands to a job by its checkpoint: `add`, `drop`, `resume`, `ask`, `reset-clock`, `clean`, `reshard`, `compact`,
`status`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.app import LOCAL, Choices, Master
from windrow.cli.mistakes import user_errors

commands = typer.Typer()


@commands.command()
def add(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the running job.")],
    queries: Annotated[str, typer.Argument(metavar="SQL", help="A file of statements, or the statements themselves.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A wish for these queries, such as choose.maintenance=DABA (see windrow choices). May be repeated.",
        ),
    ] = None,
) -> None:
    """Add queries to a running job: CREATE SINK and INSERT INTO, or a SELECT that prints its newest rows.

    The other queries go on; the new ones answer from the first window that they have all events of. A path is seen
    from the folder that the job was started in. After a restart with the same checkpoint they run again.

    \b
    Examples:
      windrow add checkpoints/app more.sql
      windrow add checkpoints/app "CREATE SINK busy USING parquet OPTIONS (path 'out/busy');
        INSERT INTO busy SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY symbol"
    """
    with user_errors():
        from windrow.cli.change import add_queries

        add_queries(checkpoint, queries, settings or [])


@commands.command()
def drop(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the running job.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The queries, by the names of their sinks.")],
) -> None:
    """Drop queries from a running job; the others go on.

    \b
    Example:
      windrow drop checkpoints/app busy
    """
    with user_errors():
        from windrow.cli.change import drop_queries

        drop_queries(checkpoint, names)


@commands.command()
def resume(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the job, which may run or not.")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The queries, by the names of their sinks.")],
) -> None:
    """Bring back queries that were dropped, or that have stopped because their code or their sink failed.

    A job that runs takes them up at once, another one when it is started again. They answer from the first window that
    they have all events of.

    \b
    Example:
      windrow resume checkpoints/app busy
    """
    with user_errors():
        from windrow.cli.change import resume_queries

        resume_queries(checkpoint, names)


@commands.command()
def ask(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the job, which may run or not.")],
    query: Annotated[str, typer.Argument(metavar="SQL", help="SELECT ... FROM index WHERE ...")],
    format: Annotated[str, typer.Option(metavar="NAME", help="table, json (a line each row) or csv")] = "table",
) -> None:
    """Ask an index of a job, as of its last committed batch. The job is not disturbed.

    The script of the job declares it. SQL is the language of queries, without windows, over the events that the index
    holds. What WHERE says of the first columns of its key is looked up; the rest is read and filtered.

    \b
    Where the script has CREATE INDEX speeds ON positions [RANGE 5 MINUTES SLIDE 1 MINUTE]
    (xway, dir, seg, vid) INCLUDE (speed):
      windrow ask checkpoints/app "SELECT AVG(speed) FROM speeds WHERE xway = 1 AND dir = 0 AND seg = 5"
      windrow ask checkpoints/app "SELECT vid, speed FROM speeds WHERE xway = 1 AND dir = 0 AND seg = 5" --format csv
    """
    with user_errors():
        from windrow.cli.ask import ask_index

        ask_index(checkpoint, query, format)


@commands.command("reset-clock")
def reset_clock(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the job, which may run or not.")],
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="The stream, by its name.")],
    time: Annotated[str, typer.Argument(metavar="TIME", help="Where to, such as '2024-01-31 12:00:00', in UTC.")],
) -> None:
    """Set the clock of a stream back to TIME, after an event that was far ahead has made all others late.

    What is later than TIME and the stream's lateness is dropped and counted. Windows that end after TIME are answered
    again, from the first one of which all is known. What sinks hold of them stays there. AHEAD in CREATE STREAM keeps
    such events out from the start.

    \b
    Example:
      windrow reset-clock checkpoints/app ticks '2024-01-31 12:00:00'
    """
    with user_errors():
        from windrow.cli.change import reset_clock

        reset_clock(checkpoint, stream, time)


@commands.command()
def clean(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of a job that does not run.")],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    master: Master = LOCAL,
    choices: Choices = None,
) -> None:
    """List the state in a stopped job's checkpoint that the queries of its last run do not know, and delete it.

    A job that is started without a query keeps what that query held. This shows it: what it holds, how large it is, and
    where the clock of its stream was when it was last asked for. Spark deletes state only in a batch, so what you agree
    to is written down, and deleted by the first batch when the job is started again. State that a query asks for then
    is not deleted.

    \b
    Examples:
      windrow clean checkpoints/app
      windrow clean checkpoints/app --yes
    """
    with user_errors():
        from windrow.cli.clean import clean_checkpoint
        from windrow.cli.launch import read_launch

        clean_checkpoint(checkpoint, read_launch(master, choices or []), yes)


@commands.command()
def reshard(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of a job that does not run.")],
    shards: Annotated[int, typer.Option(metavar="N", help="How many shards: a multiple of those that there are.")],
    to: Annotated[str, typer.Option(metavar="DIR2", help="Where the new checkpoint goes: a folder not there yet.")],
    master: Master = LOCAL,
    choices: Choices = None,
) -> None:
    """Make a checkpoint with more shards from that of a stopped job; the old one stays as it is.

    A job goes on with the new one where it was, with the same answers. Every shard is split into several by the keys of
    its groups, in the first batch: until then the new checkpoint is as many times as large. Joins, set operators,
    DISTINCT, windows without SLIDE and windows over windows cannot be split, and are refused by name.

    \b
    Example:
      windrow reshard checkpoints/app --shards 64 --to checkpoints/app64
    """
    with user_errors():
        from windrow.cli.launch import read_launch
        from windrow.cli.reshard import reshard_checkpoint

        reshard_checkpoint(checkpoint, shards, to, read_launch(master, choices or []))


@commands.command()
def compact(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder that a sink of files writes to.")],
    size: Annotated[str, typer.Option(metavar="SIZE", help="How large files may become.")] = "128 MB",
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether csv files begin with a line of names.")
    ] = None,
) -> None:
    """Merge the old small files in a sink's folder, and those below it, into larger ones.

    Every batch of a job writes files of its own, which become many. Jobs and readers may go on meanwhile. What jobs
    wrote last stays as it is: a job that was killed replaces the files of its last batch.

    A merged file is written where no reader looks, then shown under a name of its first and last batch, and the files
    it is made of are removed. So no row is ever missing; who lists the folder in the instant between finds those rows
    twice, and who listed it before may find a file gone, and lists it again. A run that dies is finished by the next.

    \b
    Examples:
      windrow compact out/vwap
      windrow compact out/kpis --size 1GB --header
    """
    with user_errors():
        from windrow.cli.compact import compact_folder

        compact_folder(folder, size, header)


@commands.command()
def status(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the job.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    choices: Choices = None,
) -> None:
    """Tell how the job of a checkpoint is doing, or did: queries, clocks, lag, last batch, restarts, sizes.

    It reads what the job notes every two seconds, and disturbs nobody.

    \b
    Example:
      windrow status checkpoints/app --json
    """
    with user_errors():
        from windrow.cli.launch import read_launch
        from windrow.cli.status import tell_status

        tell_status(checkpoint, read_launch("", choices or []).options, as_json)
