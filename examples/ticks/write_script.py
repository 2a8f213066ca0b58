"""Prints the script of queries, to be read or run: python examples/ticks/write_script.py > ticks.sql"""

from __future__ import annotations

from windrow.cli.demo import demo_script

if __name__ == "__main__":
    print(demo_script(), end="")
