from collections.abc import Iterator

import pytest

import windrow.expressions.families  # noqa: F401  which a test would leave behind, loaded by its job

from .broker import Broker, needed, running_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    needed("broker", "kafka")
    with running_broker(tmp_path_factory.mktemp("broker")) as found:
        yield found
