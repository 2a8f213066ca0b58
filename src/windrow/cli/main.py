"""The command line with all its commands, in the order in which `windrow --help` lists them."""

from __future__ import annotations

from windrow.cli import job_commands, machine_commands, run_commands, script_commands
from windrow.cli.app import app

for _file in (run_commands, job_commands, script_commands, machine_commands):
    app.add_typer(_file.commands)

if __name__ == "__main__":
    app()
