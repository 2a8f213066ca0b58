"""Commands that tell what a script comes to: `explain`, `check` and `choices`."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.app import LOCAL, Choices, Master, Packages, Script, Variables
from windrow.cli.mistakes import user_errors

Known = Annotated[
    str | None,
    typer.Option("--checkpoint", metavar="DIR", help="Go by what the job of this checkpoint has measured."),
]
commands = typer.Typer()


@commands.command()
def explain(
    script: Script,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
    checkpoint: Known = None,
) -> None:
    """Show what would run for SCRIPT, and why: panes, partials, how windows are folded, where state is kept.

    \b
    Examples:
      windrow explain app.sql
      windrow explain app.sql --checkpoint checkpoints/app
    """
    with user_errors():
        from windrow.cli.drafted import with_script
        from windrow.cli.launch import read_launch, read_script, with_jars

        text, launch = read_script(script, variables or ()), read_launch(master, choices or [])
        launch = with_jars(launch, text, packages or ())
        typer.echo(with_script(launch, text, lambda drafted: drafted.explain(), checkpoint))


@commands.command()
def check(
    script: Script,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
    checkpoint: Known = None,
) -> None:
    """Find the mistakes in SCRIPT, and start nothing.

    The first one is shown with its line, its column and a way out; the exit code is then 2. Where columns are declared
    and functions known, that takes a second; what only Spark can tell, it is started for, and it says so.

    \b
    Example:
      windrow check app.sql && windrow run app.sql
    """
    with user_errors():
        from windrow.cli.drafted import Drafted, with_script
        from windrow.cli.launch import read_launch, read_script, with_jars

        text, launch = read_script(script, variables or ()), read_launch(master, choices or [])
        launch = with_jars(launch, text, packages or ())

        def checked(drafted: Drafted) -> int:
            drafted.check()
            return drafted.queries

        count = with_script(launch, text, checked, checkpoint)
        typer.echo(f"{script} is right: {count} {'query' if count == 1 else 'queries'}")


@commands.command()
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
