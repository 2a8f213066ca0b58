"""A daemon of Spark's workers that loads before it forks, for `spark.python.daemon.module`, as on a cluster's machines.

With Spark's own daemon each worker would load Spark's Python, Arrow, Numba and Windrow anew.
"""

from __future__ import annotations

import sys

from windrow.spark.workers.python import handed_over


def main() -> None:
    if not handed_over(["-m", "windrow.spark.workers.daemon", *sys.argv[1:]]):
        from windrow.spark.workers.load import be_daemon, load_all

        load_all()
        be_daemon()


if __name__ == "__main__":
    main()
