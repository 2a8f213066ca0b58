from collections.abc import Iterator

import pytest

from .broker import Broker, needed, running_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    needed("broker", "kafka")
    with running_broker(tmp_path_factory.mktemp("broker")) as found:
        yield found
