"""Prints the script of queries, to be read or run: python examples/ticks/write_script.py > ticks.sql"""

from __future__ import annotations

from windrow.cli.demos.ticks.demo import ticks_script

if __name__ == "__main__":
    print(ticks_script(), end="")
