"""What an executor is like, found out by a task on it. It is sent there as code, since Windrow may not be there.

So nothing is used here that Python does not bring; Windrow itself only where it is found.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

PACKAGES = ("windrow", "pyspark", "pyarrow", "pandas", "numpy", "numba", "datasketches", "xxhash", "sqlglot")
"""What tasks load."""


def examination(modules: Sequence[str], places: Sequence[dict[str, Any]], pause: float) -> Callable[[int], str]:
    """What a task does: find out about its executor, and tell it as JSON.

    It then waits for `pause` seconds, so that the tasks beside it go to other executors.
    """

    def examine(number: int) -> str:
        told = facts(modules)
        told["places"] = {place["address"]: tried(place, f"{told['executor']}-{number}") for place in places}
        told["time"] = time.time()
        time.sleep(pause)
        return json.dumps(told)

    return examine


def facts(modules: Sequence[str]) -> dict[str, Any]:
    """All that is to be known of this process and its machine, but for places."""
    scratch = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()
    return {
        "executor": executor_name(),
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "program": sys.executable,
        "packages": {name: version_of(name) for name in PACKAGES},
        "code": code_of("windrow"),
        "broken": broken(modules),
        "disk_bytes": shutil.disk_usage(scratch if os.path.isdir(scratch) else "/").free,
        "memory_bytes": free_memory(),
        "numba_cache": numba_cache(),
    }


def executor_name() -> str:
    """The number that Spark gave to the executor, by the command line of its JVM; else who and where it is."""
    process = os.getpid()
    while process > 1:
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            if "--executor-id" in words:
                return words[words.index("--executor-id") + 1]
            with open(f"/proc/{process}/stat") as file:
                process = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return os.environ.get("SPARK_EXECUTOR_ID", "driver")


def version_of(name: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        if importlib.util.find_spec(name) is None:
            return None
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # found by PYTHONPATH, or in an archive
        return str(getattr(importlib.import_module(name), "__version__", "?"))
    except Exception as error:
        return f"broken: {error}"


def code_of(name: str) -> str | None:
    """A hash of the code of a package: one version may be installed from two states of its source."""
    try:
        spec = importlib.util.find_spec(name)
        (home,) = spec.submodule_search_locations  # type: ignore[union-attr,misc]
    except Exception:
        return None
    whole = hashlib.sha256()
    for folder, inner, files in os.walk(home):
        inner.sort()
        for file in sorted(files):
            if file.endswith(".py"):
                path = os.path.join(folder, file)
                whole.update(os.path.relpath(path, home).encode())
                with open(path, "rb") as source:
                    whole.update(source.read())
    return whole.hexdigest()


def broken(modules: Sequence[str]) -> str | None:
    """Why what tasks run cannot be loaded; None where it can."""
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


def free_memory() -> int | None:
    """What is free on the machine, or in the container if that has less."""
    free = []
    try:
        with open("/proc/meminfo") as file:
            free += [int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable")]
        with open("/sys/fs/cgroup/memory.max") as file:
            limit = file.read().strip()
        with open("/sys/fs/cgroup/memory.current") as file:
            if limit != "max":
                free.append(int(limit) - int(file.read()))
    except (OSError, ValueError):
        pass
    return min(free) if free else None


def numba_cache() -> dict[str, Any]:
    """Where compiled loops are kept, whether they can be, and how many there are by now."""
    spec = importlib.util.find_spec("windrow")
    home = os.environ.get("NUMBA_CACHE_DIR") or (spec and os.path.dirname(spec.origin or "")) or ""
    there = home
    while there and not os.path.exists(there):
        there = os.path.dirname(there)
    files = sum(name.endswith(".nbi") for _, _, names in os.walk(home) for name in names) if home else 0
    writable = bool(there) and os.access(there, os.W_OK)
    return {"place": home, "writable": writable, "loops": files}


def tried(place: dict[str, Any], name: str) -> str | None:
    """Why a place cannot be used from here as it must be; None where it can."""
    try:
        from windrow.places.place import place_of
    except Exception:
        return "there is no Windrow to try it with"
    try:
        folder = place_of(place["address"], place["settings"])
        if place["sample"] is not None:
            with place_of(place["sample"], place["settings"]).open() as file:
                file.read(1)
        if place["token"] is not None:
            if (folder / place["token"]).read().decode() != place["token"]:
                return "it is another folder there: what the driver writes is not found"
            own = folder / f"{place['token']}-{name}"
            own.write(b"Windrow looks whether it can write here")
            own.delete()
    except FileNotFoundError as error:
        return f"what the driver sees is not there: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
