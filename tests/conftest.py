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
