"""What a worker has loaded, kept out of the way of its garbage collection."""

from __future__ import annotations

import gc
import sys

from pyspark import TaskContext

_modules = 0
"""How many modules had been loaded when what was there was last set aside."""


def set_loaded_aside() -> None:
    """Have later collections pass over all that this worker holds by now, if it has loaded something since.

    Spark's workers collect garbage after every task. With numpy, Arrow, numba and Windrow in memory that takes longer
    than a small task itself, and finds nothing: what was loaded stays.
    """
    global _modules  # noqa: PLW0603 # a worker is a process
    if TaskContext.get() is not None and len(sys.modules) != _modules:
        _modules = len(sys.modules)
        gc.freeze()
