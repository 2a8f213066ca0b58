"""Writes ticks of 100 stocks into a folder, as they happen, until Ctrl-C, and the sector of each stock beside it.

python examples/ticks/generate.py demo-out/ticks
python examples/ticks/generate.py demo-out/ticks --rate 20000 --history 3600
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from windrow.cli.demos.live_files import LiveFiles
from windrow.cli.demos.ticks.market import Market


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, help="where the Parquet files go")
    arguments.add_argument("--rate", type=int, default=5_000, help="ticks a second")
    arguments.add_argument("--history", type=int, default=300, help="so many seconds of the past come first")
    chosen = arguments.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    market = Market(chosen.rate)
    market.write_stocks(beside=chosen.folder)
    with LiveFiles(market.ticks, chosen.folder, chosen.history):
        print(f"{chosen.rate:,} ticks a second go to {chosen.folder}; Ctrl-C ends it")
        try:
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
