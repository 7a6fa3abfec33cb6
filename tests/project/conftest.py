from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.product import Product


@pytest.fixture(scope="session")
def demo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A demo with its tables and no shop: enough for headers, limits and origins."""
    installed = Product(tmp_path_factory.mktemp("demo"))
    installed.manage("migrate", "--verbosity", "0")
    installed.start()
    yield installed
    installed.stop()
