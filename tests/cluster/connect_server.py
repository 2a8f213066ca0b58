"""A Spark Connect server on this machine, from pyspark's jars."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from standalone import HOST, free_port, listens, wait_until

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a server that runs on this machine until the block ends; its log is in `folder`.

    `more` are settings of it.
    """
    spec = find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    home = Path(os.environ.get("SPARK_HOME") or Path(spec.origin).parent)
    port = free_port()
    settings = {"spark.connect.grpc.binding.port": str(port), "spark.ui.enabled": "false", **(more or {})}
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [
        str(home / "bin" / "spark-submit"),
        "--master",
        "local[2]",
        "--class",
        _CLASS,
        *options,
        "spark-internal",
    ]
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": sys.executable}
    with open(folder / "connect.log", "wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_until(lambda: listens(port), "the server does not listen")
        yield f"sc://{HOST}:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
