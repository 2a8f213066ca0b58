"""A process that is watched from outside: what it says, and how much memory it has had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path


def run_watched(module: str, *arguments: str, lean: bool = False) -> dict:
    """Run a module of this package, which prints one line of JSON and waits for a line; adds the most memory that it
    held at once. A `lean` process loads neither pandas nor scipy, and gives back at once what Arrow is done with."""
    package = Path(__file__).parent
    seen = os.environ | {"PYTHONPATH": os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])}
    seen |= {"ARROW_DEFAULT_MEMORY_POOL": "system"} if lean else {}
    before = ["-m", f"{package.name}.lean"] if lean else ["-m"]
    command = [sys.executable, *before, f"{package.name}.{module}", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=seen) as process:
        assert process.stdin is not None and process.stdout is not None
        line = process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.stdin.write("\n")
        process.stdin.flush()
        process.wait()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return json.loads(line) | {"most MB resident": int(found[1]) / 1024 if found else None}
