"""Places to test with: this disk, fsspec's memory, and S3 by moto's server on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from windrow.places.object_home import ObjectHome
from windrow.places.place import Place, place_of

BUCKET = "windrow-tests"
KEYS = {"fs.s3a.access.key": "somebody", "fs.s3a.secret.key": "a secret", "fs.s3a.path.style.access": "true"}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """A server that speaks S3, with a bucket; gives Spark's settings for it."""
    server_of = pytest.importorskip("moto.server", reason="moto is not installed: S3 is not tested")
    boto3 = pytest.importorskip("boto3")
    server = server_of.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        settings = {**KEYS, "fs.s3a.endpoint": f"http://{host}:{port}", "fs.s3a.endpoint.region": "us-east-1"}
        known = {"aws_access_key_id": "somebody", "aws_secret_access_key": "a secret", "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=settings["fs.s3a.endpoint"], **known)
        client.create_bucket(Bucket=BUCKET)
        yield settings
    finally:
        server.stop()


@contextmanager
def s3_process() -> Iterator[dict[str, str]]:
    """The same in a process of its own: `deltalake` does not let Python run while it waits for an answer."""
    pytest.importorskip("moto.server", reason="moto is not installed: S3 is not tested")
    boto3 = pytest.importorskip("boto3")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            assert server.poll() is None, "moto has not started"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        settings = {**KEYS, "fs.s3a.endpoint": f"http://127.0.0.1:{port}", "fs.s3a.endpoint.region": "us-east-1"}
        known = {"aws_access_key_id": "somebody", "aws_secret_access_key": "a secret", "region_name": "us-east-1"}
        boto3.client("s3", endpoint_url=settings["fs.s3a.endpoint"], **known).create_bucket(Bucket=BUCKET)
        yield settings
    finally:
        server.terminate()
        server.wait()


def new_folder(kind: str, tmp_path: Path, settings: dict[str, str] | None = None) -> Place:
    """An empty folder of a kind of place."""
    name = uuid.uuid4().hex
    if kind == "local":
        return place_of(tmp_path / name)
    pytest.importorskip("fsspec", reason="fsspec is not installed: places elsewhere are not tested")
    if kind == "memory":
        return Place(ObjectHome("memory", "memory", "memory"), f"/{name}/a folder")
    pytest.importorskip("s3fs", reason="s3fs is not installed: S3 is not tested")
    return place_of(f"s3a://{BUCKET}/{name}/a folder", settings)
