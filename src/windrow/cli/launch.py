"""From the arguments of a command to a session on a Spark that keeps quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.compile.read_choose import read_choose
from windrow.errors import SettingsError, WindrowError
from windrow.language import CreateSink, CreateStream, CreateTable, parse_script
from windrow.language.variables import with_variables
from windrow.plan.expiry import read_expiry
from windrow.plan.idle_clock import IdleClock, read_beat
from windrow.plan.memory import DEFAULT_BYTES, read_memory
from windrow.plan.nodes.kept import PARTIALS, ROWS

if TYPE_CHECKING:  # Spark takes a second to load, and a command that only finds a mistake needs none
    from windrow.session import Session

SHARDS, MEMORY, KEEP, EXPIRY, CHOOSE, BEAT = "shards", "memory", "keep", "expiry", "choose.", "beat"


@dataclass(frozen=True, slots=True)
class Launch:
    """Which Spark to start, with which options, into how many shards state is cut, and what each keeps in memory."""

    master: str = "local[*]"
    options: dict[str, str] = field(default_factory=dict)
    shards: int | None = None
    memory_bytes: int = DEFAULT_BYTES
    keep: str | None = None
    expiry: str | None = None
    choose: dict[str, str] = field(default_factory=dict)
    beat: str | None = None


def read_launch(master: str, choices: Sequence[str]) -> Launch:
    """The arguments `--master` and `--set` of a command.

    >>> launch = read_launch("local[2]", ["shards=4", "memory=256 MB", "spark.driver.memory=4g"])
    >>> launch.options, launch.shards, launch.memory_bytes
    ({'spark.driver.memory': '4g'}, 4, 256000000)
    """
    options: dict[str, str] = {}
    shards, memory_bytes, keep, expiry, beat = None, DEFAULT_BYTES, None, None, None
    choose: dict[str, str] = {}
    for choice in choices:
        name, _, value = (part.strip() for part in choice.partition("="))
        if not (name and value):
            raise SettingsError(f"--set {choice}: an option and its value are needed, such as shards=4")
        if name == SHARDS:
            if not value.isdigit() or int(value) == 0:
                raise SettingsError(f"--set {choice}: shards is a whole number from 1")
            shards = int(value)
        elif name == MEMORY:
            try:
                memory_bytes = read_memory(value)
            except SettingsError as error:
                raise SettingsError(f"--set {choice}: {error}") from None
        elif name == KEEP:
            if value not in (ROWS, PARTIALS):
                raise SettingsError(f"--set {choice}: keep is rows or partials")
            keep = value
        elif name == EXPIRY:
            try:
                read_expiry(value)
            except SettingsError as error:
                raise SettingsError(f"--set {choice}: {error}") from None
            expiry = value
        elif name == BEAT:
            try:
                IdleClock(beat_us=read_beat(value))
            except WindrowError as error:
                raise SettingsError(f"--set {choice}: {error}") from None
            beat = value
        elif name.startswith(CHOOSE):
            choose[name.removeprefix(CHOOSE)] = value.strip("\"'")
            try:
                read_choose(choose)
            except SettingsError as error:
                raise SettingsError(f"--set {choice}: {str(error).removeprefix('choose: ')}") from None
        elif "." not in name:
            raise SettingsError(
                f"--set {choice}: there is no option {name!r}: shards, memory, keep, expiry, beat, choose.maintenance"
                " and others that windrow choices lists, or one of Spark's, such as spark.driver.memory"
            )
        else:
            options[name] = value
    return Launch(master, options, shards, memory_bytes, keep, expiry, choose, beat)


def with_jars(launch: Launch, text: str, packages: Sequence[str] = ()) -> Launch:
    """What to start for a script: with `packages`, and the jars of what it reads and writes, where they are here."""
    from windrow.spark.packages import with_packages

    named = [each for each in parse_script(text) if isinstance(each, CreateStream | CreateSink | CreateTable)]
    used = {each.format.lower() for each in named}
    fetched: list[str] = [package for package, formats in _PACKAGES_OF.items() if used & formats]
    return replace(launch, options=with_packages(launch.options, packages, fetched=fetched))


_PACKAGES_OF = {"kafka": {"kafka"}, "avro": {"kafka", "avro"}, "postgresql": {"jdbc"}}
"""Packages, and the formats that may need them."""


def read_wishes(settings: Sequence[str]) -> dict[str, str]:
    """The arguments `--set` of a command that takes wishes alone.

    >>> read_wishes(["choose.maintenance='two stacks'"])
    {'maintenance': 'two stacks'}
    """
    others = [choice for choice in settings if not choice.strip().startswith(CHOOSE)]
    if others:
        raise SettingsError(f"--set {others[0]}: a running job takes wishes alone, such as choose.maintenance=DABA")
    return read_launch("", settings).choose


def read_script(path: Path, variables: Sequence[str] = ()) -> str:
    """The text of a script whose statements can be read: what is found without Spark is found at once.

    `variables` are those of --var, as `name=value`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not text in UTF-8") from None
    text = with_variables(text, read_variables(variables))
    parse_script(text)
    return text


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Values by name, of `name=value`.

    >>> read_variables(["minutes=10"])
    {'minutes': '10'}
    """
    variables = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise SettingsError(f"--var {each} is no variable: a name, = and a value, such as --var minutes=10")
        variables[name] = value
    return variables


@contextmanager
def started(launch: Launch) -> Iterator[Session]:
    """A session on a Spark of its own, which ends with the block."""
    from rich.console import Console

    with ExitStack() as stack:
        with Console(file=sys.stderr).status("starting Spark"):
            from windrow.spark.launch import quiet_spark

            spark = stack.enter_context(quiet_spark(launch.master, launch.options, _load_session))
            from windrow.session import Session

            session = Session(
                spark,
                shards=launch.shards,
                memory=launch.memory_bytes,
                keep=launch.keep,
                expiry=launch.expiry,
                choose=launch.choose,
                beat=launch.beat,
            )
        yield session


def _load_session() -> None:
    """Load what declares and runs queries: a second or two, which a JVM takes to come up, too."""
    import windrow.application
    import windrow.session  # noqa: F401
