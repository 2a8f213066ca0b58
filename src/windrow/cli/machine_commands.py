"""Commands for a machine: `demo`, `warm`, `doctor`, `pack` and `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.app import LOCAL, Choices, Variables
from windrow.cli.bench import FULL, QUICK, TINY, BenchCommand, list_benchmarks, run_all, run_benchmark
from windrow.cli.mistakes import user_errors
from windrow.errors import SettingsError

commands = typer.Typer()


@commands.command()
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
      ticks      100 stocks; 24 queries over one scan, most of them answered every second
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


@commands.command()
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


@commands.command()
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


@commands.command()
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


@commands.command(cls=BenchCommand)
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
