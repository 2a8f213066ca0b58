"""`windrow pack`: this environment as an archive, for executors that have none of it."""

from __future__ import annotations

import importlib.util
import os
import sys
import tarfile
import tempfile
from pathlib import Path

import typer

import windrow
from windrow.errors import SettingsError
from windrow.plan.memory import size_text

NAME = "environment"
LEFT_OUT = ("*/pyspark/jars/*", "*/pyspark/examples/*", "*/quick_spark/*", "*/__pycache__/*", "*/tests/*.py")
"""Spark's jars are on executors already; the rest nobody runs there."""


def pack_environment(output: Path, force: bool, python: str | None) -> None:
    """Write the archive, and say how it is used."""
    if not output.name.endswith((".tar.gz", ".tgz")):
        raise SettingsError(f"{output}: spark.archives unpacks .tar.gz: name it {NAME}.tar.gz")
    if output.exists() and not force:
        raise SettingsError(f"{output} is there already\nhint: --force writes over it")
    if not output.absolute().parent.is_dir():
        raise SettingsError(f"{output} cannot be written: there is no folder {output.absolute().parent}")
    with tempfile.TemporaryDirectory(prefix="windrow-pack-", dir=output.absolute().parent) as folder:
        packed, whole = Path(folder) / "packed.tar", Path(folder) / output.name
        (_pack_conda if _is_conda() else _pack_venv)(packed, python)
        _with_windrow(packed, whole)
        os.replace(whole, output)
    typer.echo(f"{output}: {size_text(output.stat().st_size)}, with Windrow {windrow.__version__}; executors get it by")
    typer.echo(f"  --set spark.archives={output}#{NAME} --set spark.pyspark.python=./{NAME}/bin/python")
    if not _is_conda():
        base = python or sys.base_prefix
        typer.echo(f"executors need Python {sys.version_info.major}.{sys.version_info.minor} in {base}, as it is here")


def _is_conda() -> bool:
    return os.path.isdir(os.path.join(sys.prefix, "conda-meta"))


def _pack_venv(packed: Path, python: str | None) -> None:
    if sys.prefix == sys.base_prefix:
        raise SettingsError(
            f"Windrow runs in {sys.prefix}, which is no virtual environment, and only such can be packed"
            "\nhint: python -m venv, and install Windrow there"
        )
    try:
        import venv_pack
    except ImportError:
        raise SettingsError("windrow pack needs venv-pack\nhint: pip install 'windrow[pack]'") from None
    filters = [("exclude", pattern) for pattern in LEFT_OUT]
    _check_editable()
    strict, venv_pack.core.check_no_editable_packages = venv_pack.core.check_no_editable_packages, lambda _: None
    try:
        venv_pack.pack(sys.prefix, str(packed), python_prefix=python, filters=filters)
    except venv_pack.VenvPackException as error:
        raise SettingsError(f"the environment cannot be packed: {' '.join(str(error).split())}") from None
    finally:
        venv_pack.core.check_no_editable_packages = strict


def _check_editable() -> None:
    """Refuse packages whose code lies outside of the environment, as venv-pack does; but our own is added below."""
    for file in Path(sys.prefix).glob("lib/python*/site-packages/*.pth"):
        for line in file.read_text().splitlines():
            outside = line and not line.startswith(("#", "import ", "import\t"))
            if outside and not (file.parent / line).is_relative_to(sys.prefix) and "windrow" not in file.name:
                raise SettingsError(
                    f"{line} is installed to be edited, by {file}: its code lies outside of the environment"
                    "\nhint: install it without -e, and pack again"
                )


def _pack_conda(packed: Path, python: str | None) -> None:
    if python is not None:
        raise SettingsError("--python is for virtual environments: that of conda has a Python in it")
    try:
        import conda_pack
    except ImportError:
        raise SettingsError("windrow pack needs conda-pack here\nhint: conda install conda-pack") from None
    filters = [("exclude", pattern) for pattern in LEFT_OUT]
    try:
        conda_pack.pack(prefix=sys.prefix, output=str(packed), filters=filters, ignore_editable_packages=True)
    except conda_pack.CondaPackException as error:
        raise SettingsError(f"the environment cannot be packed: {' '.join(str(error).split())}") from None


def _with_windrow(packed: Path, whole: Path) -> None:
    """Compress an archive, with the code of Windrow that runs here: of one installed to be edited there is none.

    What points to where the code lies on this machine is left out.
    """
    spec = importlib.util.find_spec("windrow")
    assert spec is not None and spec.origin is not None
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/"
    with tarfile.open(packed) as old, tarfile.open(whole, "w:gz", compresslevel=4) as new:
        for entry in old:
            name = entry.name.removeprefix("./")
            if name.startswith((f"{library}windrow/", f"{library}__editable__.windrow")):
                continue
            new.addfile(entry, old.extractfile(entry) if entry.isreg() else None)
        home = Path(spec.origin).parent
        # Numba's compiled loops go with the code: they are looked up by its time, which the archive keeps, and by CPU
        new.add(home, f"{library}windrow", filter=lambda entry: None if entry.name.endswith(".pyc") else entry)
