"""Executors run the Windrow of the driver: another version is refused by name, and so is none."""

from __future__ import annotations

import re
import socket

from windrow.errors import SettingsError
from windrow.version import VERSION

WAY_OUT = "windrow pack makes an archive of the driver's environment for spark.archives, windrow doctor looks again"


def check_version(of_driver: str) -> None:
    """Refuse to run, on an executor, what a driver of another version has planned."""
    if of_driver != VERSION:
        raise SettingsError(
            f"an executor on {socket.gethostname()} has Windrow {VERSION}, and the driver {of_driver}; {WAY_OUT}"
        )


def told_of_windrow(text: str) -> str | None:
    """What the error of a job says of an executor without Windrow, or with other code; None if it is about else.

    >>> told_of_windrow("Lost task 0.3 (TID 3) (10.0.0.4 executor 2): ... No module named 'windrow'")[:50]
    'executor 2 on 10.0.0.4 has no Windrow; windrow pac'
    """
    lost = re.search(r"\(TID \d+\) \((\S+) executor (\S+)\)", text)
    who = f"executor {lost[2]} on {lost[1]}" if lost is not None else "an executor"
    if re.search(r"No module named '?windrow'?(?![.\w])", text):
        return f"{who} has no Windrow; {WAY_OUT}"
    if re.search(r"No module named '?windrow\.|on <module 'windrow|from 'windrow[\w.]*' \(", text):
        return f"{who} has another version of Windrow than the driver; {WAY_OUT}"
    return None
