"""The command line: `windrow run`, `add`, `drop`, `clean`, `compact`, `explain`, `check`, `demo`, `bench` and more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.bench import FULL, QUICK, TINY, BenchCommand, list_benchmarks, run_all, run_benchmark
from windrow.cli.mistakes import user_errors
from windrow.errors import SettingsError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Script = Annotated[Path, typer.Argument(help="A file of statements, such as app.sql.", show_default=False)]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="Where Spark runs.")]
Choices = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="OPTION=VALUE",
        help="An option of Spark, shards=N, memory=SIZE, or a wish such as choose.maintenance='two stacks' (see windrow"
        " choices). May be given several times.",
    ),
]
Variables = Annotated[
    list[str] | None,
    typer.Option("--var", metavar="NAME=VALUE", help="What ${NAME} stands for in the script, whatever SET says there."),
]
Listen = Annotated[
    str,
    typer.Option("--listen", metavar="HOST:PORT", help="Where the console is served.", show_default="a port from 8180"),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--package",
        metavar="NAME",
        help="What Spark is to bring: kafka, avro or postgresql. Those that make setup has fetched need not be named.",
    ),
]
LOCAL, ANY_PORT = "local[*]", "127.0.0.1"


@app.callback()
def windrow() -> None:
    """Continuous queries over sliding windows on Apache Spark.

    \b
    A script says where events come from, what is asked of them, and where the answers go:

    \b
      CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT)
        USING parquet OPTIONS (path 'data/ticks') TIMESTAMP BY ts LATENESS 2 SECONDS;
      CREATE SINK vwap USING parquet OPTIONS (path 'out/vwap');
      INSERT INTO vwap
      SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap
      FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND] GROUP BY symbol;

    \b
    Begin with
      windrow demo                 a complete example, live
      windrow check app.sql        is the script right?
      windrow run app.sql          run it; Ctrl-C stops it
    """


@app.command()
def run(
    script: Script,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the job keeps how far it is, so that a restart goes on from there."),
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Work off what is there, and end, rather than wait for more.")
    ] = False,
    flush: Annotated[
        bool,
        typer.Option(
            "--flush", help="With --available-now: then answer windows that are not full yet, and let rows expire."
        ),
    ] = False,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Time between batches, such as '5 seconds'. Without it, one follows another."
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            metavar="isolate|stop",
            help="Of a query whose code or sink fails: stop it alone, and go on with the others, or stop the job.",
        ),
    ] = "isolate",
    restarts: Annotated[
        int,
        typer.Option(
            "--restarts",
            metavar="N",
            min=0,
            help="How often Spark is started again after a machine was lost, with no batch done in between.",
        ),
    ] = 10,
    task_timeout: Annotated[
        str,
        typer.Option("--task-timeout", metavar="TIME", help="If no task of a batch ends for so long, it runs again."),
    ] = "10 minutes",
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a checkpoint that has run other queries than those of SCRIPT.")
    ] = False,
    console: Annotated[
        bool,
        typer.Option("--console", help="Serve a page with answers, plan and editor, and print its address."),
    ] = False,
    listen: Listen = ANY_PORT,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve metrics for Prometheus there, such as 127.0.0.1:9464."),
    ] = None,
) -> None:
    """Run the queries of SCRIPT until Ctrl-C, or until its input is worked off.

    A query with INSERT INTO writes to its sink; a SELECT by itself prints its newest rows. In a terminal a table shows
    how the job is doing, elsewhere a line every few seconds. The first Ctrl-C stops after the batch under way, the
    second at once. A job that is started again with its checkpoint goes on as if it had never stopped; where the script
    has changed since, it says what differs, and from which window each query answers.

    \b
    Examples:
      windrow run app.sql
      windrow run app.sql --checkpoint checkpoints/app
      windrow run app.sql --checkpoint checkpoints/app --available-now --flush
      windrow run app.sql --master 'local[4]' --set shards=8 --set spark.driver.memory=4g
      windrow run app.sql --trigger '5 seconds'
      windrow run app.sql --console

    \b
    Exit codes: 0 the job ended or was stopped, 1 it or a query of it died, 2 there is a mistake to mend and nothing
    was started.
    """
    with user_errors():
        from windrow.cli.launch import read_launch
        from windrow.cli.run import run_script

        starting = {"on_error": on_error, "restarts": restarts, "task_timeout": task_timeout, "strict": strict}
        launch = read_launch(master, choices or [])
        ending, page = (trigger, available_now, flush), listen if console else None
        run_script(script, checkpoint, launch, *ending, starting, variables or (), packages or (), page, metrics)


@app.command()
def console(
    checkpoint: Annotated[
        str | None,
        typer.Argument(metavar="[DIR]", help="The checkpoint of a running job; without it, sample streams by replay."),
    ] = None,
    listen: Listen = ANY_PORT,
) -> None:
    """Serve a page: the answers of queries as they change, their plan, and an editor.

    With DIR it belongs to the job that runs on this checkpoint, and ends with it. Without, queries are tried on sample
    streams, by replay in this process, without Spark; Ctrl-C ends it.

    It answers on this machine alone. With --listen 0.0.0.0:8180 it answers to others too, who need the token in the
    address that is printed.

    \b
    Examples:
      windrow console
      windrow console checkpoints/app
      windrow console --listen 0.0.0.0:8180
    """
    with user_errors():
        from windrow.cli.console import console_of_job, console_of_samples

        if checkpoint is None:
            console_of_samples(listen)
        else:
            console_of_job(checkpoint, listen)


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def ask(
    checkpoint: Annotated[str, typer.Argument(metavar="DIR", help="The checkpoint of the job, which may run or not.")],
    query: Annotated[str, typer.Argument(metavar="SQL", help="SELECT ... FROM index WHERE ...")],
    format: Annotated[str, typer.Option(metavar="NAME", help="table, json (a line each row) or csv")] = "table",
) -> None:
    """Ask an index of a job, as of its last committed batch. The job is not disturbed.

    \b
    Example:
      windrow ask checkpoints/app "SELECT AVG(speed) FROM speeds WHERE xway = 1 AND dir = 0 AND seg = 5"
    """
    with user_errors():
        from windrow.cli.ask import ask_index

        ask_index(checkpoint, query, format)


@app.command("reset-clock")
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def explain(
    script: Script,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
) -> None:
    """Show what would run for SCRIPT, and why: panes, partials, how windows are folded, where state is kept.

    \b
    Example:
      windrow explain app.sql
    """
    with user_errors():
        from windrow.cli.drafted import with_script
        from windrow.cli.launch import read_launch, read_script, with_jars

        text, launch = read_script(script, variables or ()), read_launch(master, choices or [])
        launch = with_jars(launch, text, packages or ())
        typer.echo(with_script(launch, text, lambda drafted: drafted.explain()))


@app.command()
def check(
    script: Script,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
) -> None:
    """Find the mistakes in SCRIPT, and start nothing.

    The first one is shown with its line, its column and a way out; the exit code is then 2. Where columns are declared
    and functions known, that takes a second; what only Spark can tell, it is started for, and it says so.

    \b
    Example:
      windrow check app.sql && windrow run app.sql
    """
    with user_errors():
        from windrow.cli.drafted import with_script
        from windrow.cli.launch import read_launch, read_script, with_jars

        text, launch = read_script(script, variables or ()), read_launch(master, choices or [])
        launch = with_jars(launch, text, packages or ())
        count = with_script(launch, text, lambda drafted: drafted.queries)
        typer.echo(f"{script} is right: {count} {'query' if count == 1 else 'queries'}")


@app.command()
def choices(
    choice: Annotated[str | None, typer.Argument(help="Which choice, such as maintenance; without it, all.")] = None,
) -> None:
    """List every way that a query can be asked to run: what it is for, what it costs, whence it comes, its file.

    Without a wish the cheapest way is taken, and explain says which and why. A wish that cannot be right is refused.

    \b
    Examples:
      windrow choices maintenance
      windrow explain app.sql --set choose.maintenance='two stacks'
      windrow run app.sql --set choose.schedule=graph --set choose.eviction=LRU
    """
    with user_errors():
        from windrow.cli.choices import print_choices

        print_choices(choice)


@app.command()
def demo(
    name: Annotated[str, typer.Argument(help="Which demo: ticks or clusters.")] = "ticks",
    seconds: Annotated[float, typer.Option(min=5, help="How long the live part lasts.")] = 40,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for the data and the results.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For clusters: recorded positions, a CSV file with t, id, x, y, speed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show a complete example on local Spark: a stream, queries over it, and the answers as they change.

    \b
    Demos:
      ticks      100 stocks; four queries over one scan, each answered every second
      clusters   cars in a small town; CLUSTER BY finds the congestions, and each keeps its number and its colour
                 while it grows, moves and dissolves. Leaves a moving picture, clusters.gif

    The events, the script of queries and the answers are in one folder, to be read and run again. At the end the newest
    windows are computed once more from the files of events, without Windrow. Ctrl-C goes to the end at once.

    \b
    Examples:
      windrow demo
      windrow demo ticks --seconds 90 --out demo-out
      windrow demo clusters --out demo-out
      windrow demo clusters --data soccer_positions.csv.gz
    """
    with user_errors():
        from windrow.cli.demos.run import run_demo

        run_demo(name, seconds, out, data)


@app.command()
def warm(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what most queries need: a minute rather than two.")
    ] = False,
) -> None:
    """Make jobs start fast on this machine: keep Spark's classes in a file, and compile all loops.

    Once for each user, Java and version of Spark; `make setup` does the quick part. Without it everything works, and
    the first jobs compile what they need when they need it.
    """
    with user_errors():
        from windrow.cli.warm import warm as prepare

        prepare(quick)


@app.command()
def doctor(
    script: Annotated[
        Path | None, typer.Argument(help="A file of statements whose places are tried.", show_default=False)
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="DIR", help="The checkpoint that a job would have: it is tried, too.")
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Where Spark runs.", show_default=LOCAL)
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host:15002.")
    ] = None,
    choices: Choices = None,
    variables: Variables = None,
    patience: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="How long executors may take to come and do a task.")
    ] = 120,
) -> None:
    """Run a small job on every executor, and say what each is like and whether a job would run there.

    Shown are Python, the packages that tasks load, Java, free disk and memory, where compiled loops are kept, how far
    clocks are off, and whether each place in SCRIPT can be read or written from there: small files are written to
    sinks and the checkpoint, and deleted. An executor that has no Windrow, or another one, is named; windrow pack
    helps then.

    \b
    Examples:
      windrow doctor
      windrow doctor --master spark://host:7077 app.sql --checkpoint s3a://bucket/checkpoints/app
      windrow doctor --remote sc://host:15002

    \b
    Exit codes: 0 a job would run, 1 it would not, 2 there is a mistake to mend, as a master that cannot be reached.
    """
    with user_errors():
        from windrow.cli.doctor import examine_cluster, read_where
        from windrow.cli.launch import read_launch

        launch = read_launch(read_where(master, remote, LOCAL), choices or [])
        examine_cluster(script, checkpoint, launch, remote, variables or (), patience)


@app.command()
def pack(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write.")] = Path("environment.tar.gz"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where executors have Python: the folder above its bin. Without it, as here."
        ),
    ] = None,
) -> None:
    """Make an archive of this environment, for executors that have no Windrow: spark.archives brings it to them.

    A virtual environment is packed by venv-pack (pip install 'windrow[pack]') and needs the same Python on the
    executors' machines; one of conda by conda-pack, which brings its own. Spark's jars are left out, since executors
    have them. docs/cluster.md says more.

    \b
    Example:
      windrow pack environment.tar.gz
      windrow run app.sql --master spark://host:7077 --set spark.archives=environment.tar.gz#environment \\
        --set spark.pyspark.python=./environment/bin/python
    """
    with user_errors():
        from windrow.cli.pack import pack_environment

        pack_environment(output, force, python)


@app.command(cls=BenchCommand)
def bench(
    name: Annotated[
        str | None, typer.Argument(help="Which benchmark; without it they are listed, or all run with --quick.")
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write a line a case.")] = None,
    plot_path: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also draw the result.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller cases: ends within a minute or two.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="Tiny cases: shows that it runs, measures nothing.")] = False,
) -> None:
    """Measure: the benchmark NAME, or with --quick all of them, one after the other.

    Answers are checked before anything is timed. Where several run, one that fails does not keep the others from
    running; the exit code is then 1.

    \b
    Examples:
      windrow bench
      windrow bench sliding --quick --json sliding.json
      windrow bench --quick
    """
    with user_errors():
        size = TINY if tiny else QUICK if quick else FULL
        if tiny and quick:
            raise SettingsError("--quick and --tiny are two sizes: give one of them")
        if name is not None:
            run_benchmark(name, size, json_path, plot_path)
        elif json_path is not None or plot_path is not None:
            raise SettingsError("--json and --plot are for one benchmark\nhint: windrow bench NAME --json FILE")
        elif size == FULL:
            list_benchmarks()
        else:
            run_all(size)


if __name__ == "__main__":
    app()
