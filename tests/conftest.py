"""One Spark session a process for all tests that need Spark, and tests that leave nothing behind, in any order."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from drawn_cases import drawn_cases
from drawn_order import drawn
from left_behind import ModuleState, ProcessState, SparkState, stop_streams
from quick_spark import SHORT_LIVED, see_tests, use_installed_modules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LONGEST = ("test_kill.py", "test_maintenance.py", "test_changes.py", "test_replay.py", "test_arrival_time.py")
LONGEST += ("test_benchmarks.py", "test_command_run.py", "test_change_queries.py")
LONGEST += ("test_parquet_by_name.py", "test_windows_over_windows.py")

UNUSED = pytest.StashKey[SparkState]()
"""The Spark session of this process as it was before any test."""

USUAL_EXAMPLES = 6
"""Of a hundred that a property is tried with when all are asked for."""

ALL_CASES = 50
"""So many of a hundred examples ask for all cases of every test, too."""


def draw_examples(count: int) -> None:
    """No test asserts a time. What passes once passes again: the seed is the same, unless a run is given another.

    Hypothesis would also draw the constants of all modules that this process has imported by then, which are others in
    another order of tests.
    """
    quiet = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("windrow", quiet, max_examples=count)
    settings.load_profile("windrow")
    providers._get_local_constants = lambda: providers._local_constants  # none


draw_examples(USUAL_EXAMPLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--order", metavar="SEED", help="Run files, and the tests of each, in an order drawn from SEED.")
    parser.addoption("--examples", type=int, default=USUAL_EXAMPLES, help="Of each property's examples, in percent.")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    draw_examples(config.getoption("examples"))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("order")
    return None if seed is None else f"order: drawn from {seed}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw some of many cases. Begin with what takes longest, so that no process ends long before the other; or draw an order."""
    seed = config.getoption("order")
    if not _asks_for_all(config):
        every = [(item, one_in.args[0] if (one_in := item.get_closest_marker("one_in")) else None) for item in items]
        kept = {id(item) for item in drawn_cases(every, seed or "0")}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = [item for item in items if id(item) in kept]
    if seed is None:
        last = len(LONGEST)
        order = {name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: (order.get(item.path.name, last), item.path.parent.name != "spark"))
    else:
        items[:] = drawn(items, seed)


def _asks_for_all(config: pytest.Config) -> bool:
    """Whoever names tests, or asks for many examples, gets all cases."""
    named = any("::" in arg for arg in config.args) or config.option.keyword or config.option.markexpr != "not slow"
    return bool(named) or config.getoption("examples") >= ALL_CASES


def pytest_collection_finish(session: pytest.Session) -> None:
    """What thousands of tests are made of stays to the end: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Some libraries look, as the process ends, whether all of theirs was collected."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def quick_processes() -> None:
    """What tests start by themselves starts fast, too."""
    see_tests()
    if "SPARK_HOME" not in os.environ:
        use_installed_modules()


@pytest.fixture(scope="session")
def spark(quick_processes: None, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    from windrow.spark.packages import with_packages
    from windrow.spark.settings import local_spark

    options = with_packages(SHORT_LIVED, [], fetched=["kafka", "avro", "postgresql"])
    session = local_spark("local[2]", options)
    request.config.stash[UNUSED] = SparkState(session)
    yield session
    session.stop()


@pytest.fixture(scope="module", autouse=True)
def spark_as_it_was(request: pytest.FixtureRequest) -> Iterator[None]:
    """A file finds the Spark session as it was in the beginning, whatever earlier files have set on it."""
    yield
    unused = request.config.stash.get(UNUSED, None)
    if unused is not None:
        unused.restore()


@pytest.fixture(scope="module", autouse=True)
def nothing_left_in_modules() -> Iterator[None]:
    """A file ends with the names in Windrow's modules as it found them."""
    import windrow.expressions.evaluate  # noqa: F401  its functions register themselves as they are loaded

    modules = ModuleState()
    yield
    left = modules.changes()
    assert not left, f"the tests of this file leave behind: {'; '.join(left)}"


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test ends with its process as it found it, and no stream that it started runs on.

    It is the first to be set up for a test and the last to be torn down: what fixtures of the test undo is undone.
    """
    spark = request.getfixturevalue("spark") if "spark" in request.fixturenames else None
    process = ProcessState()
    yield
    left = process.changes() + (stop_streams(spark) if spark is not None else [])
    assert not left, f"the test leaves behind: {'; '.join(left)}"
