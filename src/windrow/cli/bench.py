"""The benchmarks of a checkout: one module a question, in the folder `benchmarks` beside `src`."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import typer

import windrow
from windrow.errors import SettingsError

FOLDER = "benchmarks"
ENTRY = "main"
"""What a benchmark has: main(quick, json_path, plot_path)."""


def benchmarks() -> dict[str, Path]:
    """Every benchmark there is, by name: the modules with a `main`."""
    return {path.stem: path for path in sorted(_folder().glob("[!_]*.py")) if ENTRY in _functions(path)}


def list_benchmarks() -> None:
    """Print the benchmarks and what each one asks."""
    known = benchmarks()
    if not known:
        typer.echo("there are no benchmarks yet")
        return
    width = max(map(len, known)) + 2
    for name, path in known.items():
        typer.echo(f"{name:<{width}}{_question(path)}")
    typer.echo("\nwindrow bench NAME runs one; with --quick it ends within a minute")


def run_benchmark(name: str, quick: bool, json_path: Path | None, plot_path: Path | None) -> None:
    """Run one benchmark; what Spark writes goes to a log."""
    known = benchmarks()
    if name not in known:
        raise SettingsError(f"there is no benchmark {name!r}; benchmarks: {', '.join(known) or 'none'}")
    from windrow.spark.launch import kept_if_needed
    from windrow.spark.output import children_write_to

    with kept_if_needed() as log, children_write_to(log):
        _imported(name, known[name]).main(quick, json_path, plot_path)


def _folder() -> Path:
    for root in _roots():
        if (root / FOLDER).is_dir():
            return root / FOLDER
    raise SettingsError("benchmarks come with a checkout of the source, and here is none: run this in its root folder")


def _roots() -> Iterator[Path]:
    yield Path(windrow.__file__).resolve().parents[2]
    yield Path.cwd()


def _functions(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def _question(path: Path) -> str:
    """The first line of a module's docstring: read, not run, since a benchmark may take long to load."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def _imported(name: str, path: Path) -> ModuleType:
    """The module as Python would run it: it finds what lies beside it."""
    sys.path.insert(0, str(path.parent))
    return importlib.import_module(name)
