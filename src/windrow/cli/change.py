"""Queries that come to a running job and go, from another terminal."""

from __future__ import annotations

from pathlib import Path

import typer

from windrow.cli.launch import read_script
from windrow.errors import ChangeError, SettingsError
from windrow.spark.letters import Letter, Letters


def add_queries(checkpoint: Path, queries: str) -> None:
    """Add the queries of a file, or of a text."""
    told = _asked(checkpoint, {"add": _text_of(queries)})
    typer.echo(f"added {', '.join(told['added'])}; running: {', '.join(told['queries'])}")


def drop_queries(checkpoint: Path, names: list[str]) -> None:
    """Drop queries by name."""
    for name in names:
        told = _asked(checkpoint, {"drop": name})
        typer.echo(f"dropped {name}; running: {', '.join(told['queries'])}")


def _asked(checkpoint: Path, letter: Letter) -> Letter:
    if not checkpoint.is_dir():
        raise SettingsError(f"there is no checkpoint {checkpoint}")
    told = Letters(str(checkpoint)).ask(letter)
    if "error" in told:
        raise ChangeError(told["error"])
    return told


def _text_of(queries: str) -> str:
    """The statements: a text has words with spaces between them, and no file has that name."""
    path = Path(queries)
    if len(queries.splitlines()) == 1 and len(queries) < 1000 and path.is_file():
        return read_script(path)
    if not any(space in queries for space in " \n\t"):
        raise SettingsError(f"there is no file {queries}")
    return queries
