"""Whether a master, or a Spark Connect server, can be reached: found in seconds, before a JVM is started.

Spark itself tries for a minute or for ever, and then tells of a context that was stopped.
"""

from __future__ import annotations

import os
import re
import socket
import xml.etree.ElementTree as ElementTree
from contextlib import suppress

from windrow.errors import SettingsError

SECONDS = 8.0
"""So long each address has to answer: two masters that are silent are refused well within 30 seconds."""

_PORTS = {"spark": 7077, "k8s": 443, "sc": 15002, "yarn": 8032}


def check_master(url: str) -> None:
    """Refuse a master none of whose addresses answers; one of this machine, as local[2], has none."""
    addresses = master_addresses(url)
    reasons = []
    for host, port in addresses:
        try:
            with socket.create_connection((host, port), SECONDS) as line:
                if url.startswith("spark://"):
                    _ask(line)
            return
        except OSError as error:
            reasons.append(f"{host}:{port}: {_reason(error)}")
    if reasons:
        raise SettingsError(
            f"the master {url} cannot be reached: {'; '.join(reasons)}\nhint: see that it runs, and that its name and"
            " port are right"
        )


def master_addresses(url: str) -> list[tuple[str, int]]:
    """Where the processes of a master listen; any of several will do.

    >>> master_addresses("spark://a:7077,b"), master_addresses("k8s://https://10.0.0.1:6443"), master_addresses("local")
    ([('a', 7077), ('b', 7077)], [('10.0.0.1', 6443)], [])
    """
    if url == "yarn":
        return _resource_managers()
    found = re.fullmatch(r"(spark|k8s|sc)://(?:https?://)?([^/;]+).*", url)
    if found is None:
        return []
    kind, places = found.groups()
    addresses = []
    for place in places.split(","):
        split = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d+))?", place)
        if split is None or not split[1] or int(split[2] or 1) > 65_535:
            raise SettingsError(f"{place!r} in {url} is no address: a host and a port are needed, such as host:7077")
        addresses.append((split[1].strip("[]"), int(split[2] or _PORTS[kind])))
    return addresses


def _resource_managers() -> list[tuple[str, int]]:
    """Where YARN's resource managers listen, by yarn-site.xml; none where it does not say, and Spark will."""
    folder = os.environ.get("YARN_CONF_DIR") or os.environ.get("HADOOP_CONF_DIR")
    if folder is None:
        raise SettingsError(
            "--master yarn: neither HADOOP_CONF_DIR nor YARN_CONF_DIR says where the settings of the cluster are"
        )
    said: dict[str, str] = {}
    with suppress(OSError, ElementTree.ParseError):
        for entry in ElementTree.parse(os.path.join(folder, "yarn-site.xml")).iter("property"):
            said[entry.findtext("name", "").strip()] = entry.findtext("value", "").strip()
    prefix = "yarn.resourcemanager"
    names = [f".{name.strip()}" for name in said.get(f"{prefix}.ha.rm-ids", "").split(",") if name.strip()] or [""]
    found = []
    for name in names:
        host = said.get(f"{prefix}.address{name}") or said.get(f"{prefix}.hostname{name}", "")
        split = re.fullmatch(r"([^:$]+)(?::(\d+))?", host)
        if split is not None:
            found.append((split[1], int(split[2] or _PORTS["yarn"])))
    return found


def _ask(line: socket.socket) -> None:
    """See that a standalone master listens: ask for a file that it has not, as Spark asks for jars.

    It says so, or ends the line where it wants to know first who asks. Others that listen say nothing, or speak HTTP.
    """
    asked = b"/files/windrow"
    body = bytes([_STREAM_REQUEST]) + len(asked).to_bytes(4, "big") + asked
    line.settimeout(SECONDS)
    line.sendall((8 + len(body)).to_bytes(8, "big") + body)
    with suppress(ConnectionResetError):
        if line.recv(8).startswith(b"HTTP"):
            raise OSError(0, "a web page is there, and no master")


_STREAM_REQUEST = 6


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {SECONDS:.0f} seconds"
    return (error.strerror or str(error)).lower()
