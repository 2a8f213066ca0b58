"""The benchmarks of a checkout: one module a question, in the folder `benchmarks` beside `src`."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand

import windrow
from windrow.cli.mistakes import DIED
from windrow.errors import SettingsError

FOLDER = "benchmarks"
ENTRY = "main"
"""What a benchmark has: main(size, json_path, plot_path)."""

FULL, QUICK, TINY = "full", "quick", "tiny"


class BenchCommand(TyperCommand):
    """Says in its help which benchmarks there are."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        try:
            known = benchmarks()
        except SettingsError:
            return  # outside of a checkout there are none
        with formatter.section("Benchmarks"):
            formatter.write_dl([(name, _question(path)) for name, path in known.items()])


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
    typer.echo("\nwindrow bench NAME runs one, windrow bench --quick all of them with smaller cases")


def run_benchmark(name: str, size: str, json_path: Path | None, plot_path: Path | None) -> None:
    """Run one benchmark; what Spark writes goes to a log."""
    known = benchmarks()
    if name not in known:
        raise SettingsError(f"there is no benchmark {name!r}; benchmarks: {', '.join(known) or 'none'}")
    from windrow.spark.launch import kept_if_needed
    from windrow.spark.output import children_write_to

    with kept_if_needed() as log, children_write_to(log), _importable():
        imported(name).main(size, json_path, plot_path)


def run_all(size: str) -> None:
    """Run every benchmark, each in a process of its own; one that fails does not keep the others from running."""
    known, failed = benchmarks(), []
    for number, name in enumerate(known, 1):
        typer.echo(f"{number} of {len(known)}: {name}")
        began = time.monotonic()
        code = _run_apart(name, size)
        fate = f"failed, exit code {code}" if code else "done"
        typer.echo(f"{name}: {fate} after {time.monotonic() - began:.0f} s\n")
        failed += [name] if code else []
    if failed:
        typer.echo(f"{len(failed)} of {len(known)} benchmarks failed: {', '.join(failed)}", err=True)
        raise typer.Exit(DIED)
    typer.echo(f"all {len(known)} benchmarks ran")


def _run_apart(name: str, size: str) -> int:
    """Run a benchmark in a process of its own, with a JVM of the size that it asks for; returns its exit code."""
    sys.stdout.flush()
    command = [sys.executable, "-m", "windrow.cli.main", "bench", name, f"--{size}"]
    return subprocess.run(command, check=False).returncode


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


def imported(name: str) -> ModuleType:
    """A module in the package that its folder is: it finds what lies beside it, and no other module of its name."""
    with _importable():
        return importlib.import_module(f"{FOLDER}.{name}")


@contextmanager
def _importable() -> Iterator[None]:
    """Benchmarks can be imported in the block, also by the processes that one starts: they get its path."""
    root = str(_folder().parent)
    sys.path.insert(0, root)
    try:
        yield
    finally:
        sys.path.remove(root)
