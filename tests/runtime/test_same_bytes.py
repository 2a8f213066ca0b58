"""What crosses a shuffle is the same bytes each time that a task runs, whatever process runs it.

Spark takes a task that ran again and sent other bytes for one whose answers were wrong, and may end the job.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from . import sent_bytes

PROCESSES = {
    "held": {"PYTHONHASHSEED": "1", "MALLOC_PERTURB_": "85"},
    "fresh": {"PYTHONHASHSEED": "2", "MALLOC_PERTURB_": "170"},
}
"""One process keeps its shards from batch to batch, one opens them anew. Sets of texts have another order in each, and
memory that nobody has written to is filled with other bytes."""


def test_tasks_send_the_same_bytes_whatever_hashes_memory_and_shards_their_process_has():
    command = [sys.executable, sent_bytes.__file__]
    seen = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # the one that is filled
    running = [
        subprocess.Popen([*command, shards], env=seen | apart, stdout=subprocess.PIPE, text=True)
        for shards, apart in PROCESSES.items()
    ]
    held, fresh = (json.loads(process.communicate()[0]) for process in running)
    assert len(held) == len(sent_bytes.texts()) + len(sent_bytes.CHANGES)
    assert {name for name in held if held[name] != fresh[name]} == set()
