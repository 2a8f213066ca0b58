"""The command line itself, and the arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
