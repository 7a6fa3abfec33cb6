"""What every test may rest on: the cast, real servers, no way out to the network."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.db import connection

from chatbot.evals.scratch import end_other_connections
from tests import emptying
from tests.cast import Person, person
from tests.servers.postgres import PostgresServer
from tests.servers.processes import MissingPart
from tests.servers.product import Product
from tests.servers.redis import RedisServer

# ---- which tests, and in what order

# What a test asks for that uses the servers of DATABASE_URL and REDIS_URL.
STORES = {"db", "transactional_db", "stores"}
# What takes longest, in the order in which it is begun: left to the end, one such file
# would run while nobody else has anything to do.
LONG = (
    "tests/assurance",
    "tests/durability",
    "tests/workflow/test_killed.py",
    "tests/chat/test_processes.py",
    "tests/journeys",
    "tests/evals/test_cases.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stores",
        action="store_true",
        help="only tests that use what DATABASE_URL and REDIS_URL name",
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    items.sort(key=_turn)
    if config.option.stores:
        elsewhere = [item for item in items if not _uses_stores(item)]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if _uses_stores(item)]


def _turn(item: pytest.Item) -> int:
    for turn, name in enumerate(LONG):
        if item.nodeid.startswith(name):
            return turn
    return len(LONG)


def _uses_stores(item: pytest.Item) -> bool:
    if item.get_closest_marker("django_db"):
        return True
    return isinstance(item, pytest.Function) and bool(STORES & {*item.fixturenames})


@pytest.fixture(scope="session")
def stores() -> None:
    """For what reaches the database or Redis by a process of its own."""


# ---- no way out


class OutsideWorld(BaseException):
    """A test tried to leave the machine. No ``except Exception`` may hide it."""


def _is_outside(address: Any) -> bool:
    if not isinstance(address, tuple):
        return False  # a UNIX socket
    host = str(address[0])
    if host in {"", "localhost"}:
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


@pytest.fixture(autouse=True)
def _no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any, *rest: Any) -> Any:
            if _is_outside(address):
                raise OutsideWorld(f"a connection to {address}")
            return method(self, address, *rest)

        return connect

    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and _is_outside((name,)):
            raise OutsideWorld(f"a look-up of {name}")
        return resolve(host, *rest, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


# ---- the cast: see tests/cast.py


@pytest.fixture
def lin(db: None) -> Person:
    """A customer: O-204 (shipped, N-88, in transit) and O-205 (paid) are hers."""
    return person("lin")


@pytest.fixture
def mei(db: None) -> Person:
    """Another customer, who owns O-305 and must never see O-204."""
    return person("mei")


@pytest.fixture
def ada(db: None) -> Person:
    """A support agent."""
    return person("ada")


@pytest.fixture
def sam(db: None) -> Person:
    """A supervisor: may approve."""
    return person("sam")


@pytest.fixture
def olga(db: None) -> Person:
    """An operator: limits and texts, no message text."""
    return person("olga")


# ---- real servers

S = TypeVar("S", PostgresServer, RedisServer, Product)


@pytest.fixture(scope="session")
def postgres_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[PostgresServer]:
    server = PostgresServer(_open_folder(tmp_path_factory, "postgres"))
    yield from _running(server)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    yield from _running(RedisServer(tmp_path_factory.mktemp("redis")))


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The demo as `make run` gives it, once for the whole session."""
    installed = Product(tmp_path_factory.mktemp("product"))
    installed.prepare()
    yield from _running(installed)


def _running(server: S) -> Iterator[S]:
    try:
        server.start()
    except MissingPart as missing:
        pytest.fail(str(missing), pytrace=False)
    yield server
    server.stop()


def _open_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that the lesser user of a server can reach."""
    folder = factory.mktemp(name)
    for parent in (folder, *folder.parents[:3]):
        if parent.owner() == folder.owner() and parent != Path("/tmp"):
            parent.chmod(0o755)
    return folder


# ---- the database

emptying.empty_by_rows()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A test database ends without connections."""
    yield
    with django_db_blocker.unblock():
        end_other_connections()
        connection.close()
