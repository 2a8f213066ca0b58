"""`windrow pack`: what it refuses, and an archive whose Python runs Windrow from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile

import pytest
from typer.testing import CliRunner

import windrow
from windrow.cli.main import app
from windrow.cli.pack import _check_editable
from windrow.errors import SettingsError


@pytest.mark.parametrize(
    ("name", "said"),
    [("x.zip", "spark.archives unpacks .tar.gz"), ("there.tar.gz", "there already"), ("no/x.tar.gz", "no folder")],
)
def test_a_file_that_cannot_be_written_is_refused(name, said, tmp_path):
    (tmp_path / "there.tar.gz").touch()
    told = CliRunner().invoke(app, ["pack", str(tmp_path / name)])
    assert told.exit_code == 2 and said in told.stderr
    assert os.listdir(tmp_path) == ["there.tar.gz"]


def test_other_packages_that_are_installed_to_be_edited_are_refused(tmp_path, monkeypatch):
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "__editable__.windrow-1.pth").write_text("/src/windrow\n")
    (folder / "shim.pth").write_text("import os; os.getcwd()\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    _check_editable()
    (folder / "other.pth").write_text("/src/other\n")
    with pytest.raises(SettingsError, match="/src/other is installed to be edited"):
        _check_editable()


@pytest.mark.slow
def test_what_was_packed_runs_elsewhere(tmp_path):
    pytest.importorskip("venv_pack")
    archive = tmp_path / "environment.tar.gz"
    command = [sys.executable, "-m", "windrow.cli.main", "pack", str(archive)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"spark.archives={archive}#environment" in told
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "there", filter="fully_trusted")
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    asked = "import windrow, windrow.spark.stages.slice; print(windrow.__version__, windrow.__file__)"
    python = tmp_path / "there" / "bin" / "python"
    said = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True, env=alone).stdout.split()
    assert said[0] == windrow.__version__ and said[1].startswith(str(tmp_path / "there"))
