"""From what executors are like to what is wrong with them: what keeps a job from running, and what only harms it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windrow.spark.doctor.examine import PACKAGES
from windrow.spark.doctor.trial_places import Trial

PACK = "windrow pack makes an archive of this environment for spark.archives"
SKEW_SECONDS, DISK_BYTES, MEMORY_BYTES = 2.0, 1 << 30, 512 << 20
"""What is remarked on: a clock that is off by more, less free space than this."""


@dataclass(slots=True)
class Findings:
    """What keeps a job from running, and what is worth knowing."""

    wrong: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def findings(
    here: Mapping[str, Any], executors: Mapping[str, Mapping[str, Any]], trials: Sequence[Trial], failure: str | None
) -> Findings:
    """Compare executors with the driver, and places with what is needed of them."""
    found = Findings()
    if failure is not None:
        found.wrong.append(f"{failure}\n  hint: {PACK}; spark.pyspark.python says which Python executors start")
    for trial in trials:
        if trial.wrong is not None:
            found.wrong.append(f"{_place(trial)} cannot be {trial.needed.use} from the driver: {trial.wrong}")
    for told in executors.values():
        name = f"executor {told['executor']} on {told['host']}"
        _compare_python(found, name, here, told)
        _look_at_machine(found, name, told)
        for trial in trials:
            why = told["places"].get(trial.address)
            if why is not None and trial.wrong is None and told["packages"].get("windrow") is not None:
                found.wrong.append(f"{_place(trial)} cannot be {trial.needed.use} from {name}: {why}")
    return found


def _place(trial: Trial) -> str:
    return f"{trial.needed.what}: {trial.needed.address}"


def _compare_python(found: Findings, name: str, here: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    python, packages = f"its Python is {told['program']}", told["packages"]
    if packages["windrow"] is None:
        found.wrong.append(f"{name} has no Windrow: {python}\n  hint: {PACK}")
        return
    if told["code"] != here["code"]:
        other = f"{packages['windrow']}, and the driver {here['packages']['windrow']}"
        same = packages["windrow"] == here["packages"]["windrow"]
        said = f"has other code of Windrow {packages['windrow']} than the driver" if same else f"has Windrow {other}"
        found.wrong.append(f"{name} {said}: {python}\n  hint: {PACK}")
    lacking = [package for package in PACKAGES if packages[package] is None]
    if lacking:
        found.wrong.append(f"{name} lacks {', '.join(lacking)}: {python}\n  hint: {PACK}")
    elif told["broken"] is not None:
        found.wrong.append(f"{name} cannot load Windrow: {told['broken']}\n  hint: {PACK}")
    for package in PACKAGES[1:]:
        there, ours = packages[package], here["packages"][package]
        if there is not None and there != ours:
            text = f"{name} has {package} {there}, and the driver {ours}"
            (found.wrong if package == "pyspark" else found.remarks).append(text)


def _look_at_machine(found: Findings, name: str, told: Mapping[str, Any]) -> None:
    skew = skew_seconds(told["ahead"])
    if abs(skew) > SKEW_SECONDS:
        found.remarks.append(
            f"the clock of {name} is {abs(skew):.1f} s {'ahead' if skew > 0 else 'behind'}: logs and leases go by"
            " clocks; see that it is set by the network (NTP)"
        )
    if told["disk_bytes"] < DISK_BYTES:
        found.remarks.append(f"{name} has little free disk: shuffles and state need some; spark.local.dir says where")
    if told["memory_bytes"] is not None and told["memory_bytes"] < MEMORY_BYTES:
        found.remarks.append(f"{name} has little free memory: Python workers need some beside the JVM's")
    if told["packages"]["windrow"] is not None and not told["numba_cache"]["writable"]:
        found.remarks.append(
            f"{name} cannot keep compiled loops in {told['numba_cache']['place'] or 'any folder'}: each worker compiles"
            " anew; spark.executorEnv.NUMBA_CACHE_DIR names a folder that can be written"
        )


def skew_seconds(ahead: Sequence[float]) -> float:
    """How far a clock is off at least, if it is ahead of ours by something between two bounds.

    >>> skew_seconds((-0.4, 0.1)), skew_seconds((3.0, 3.5)), skew_seconds((-7.5, -7.0))
    (0.0, 3.0, -7.0)
    """
    low, high = ahead
    return low if low > 0 else high if high < 0 else 0.0
