"""Runs a module as if neither pandas nor scipy were there: Arrow and numba load them, 60 MB, and need neither.

python -m benchmarks.lean benchmarks.storage_table1 sql 50000 /folder
"""

from __future__ import annotations

import runpy
import sys


class _Hidden:
    """Finds neither."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in ("pandas", "scipy"):
            raise ImportError(f"{name} is not needed here")


if __name__ == "__main__":
    sys.meta_path.insert(0, _Hidden())  # type: ignore[arg-type]
    runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
