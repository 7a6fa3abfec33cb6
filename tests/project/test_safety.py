from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from chatbot import safety
from tests.project.starts import UNSAFE, production_env, start_with
from tests.servers.postgres import PostgresServer
from tests.servers.product import Product
from tests.servers.redis import RedisServer


def test_the_settings_of_the_checks_start(tmp_path: Path) -> None:
    assert start_with(tmp_path, {}) == (True, "")


@pytest.mark.parametrize(
    ("name", "value"),
    UNSAFE,
)
def test_each_unsafe_setting_stops_production_by_name(
    name: str, value: str | None, tmp_path: Path
) -> None:
    went, said = start_with(tmp_path, {name: value})
    assert not went
    assert said.startswith("ImproperlyConfigured: ")
    assert name in said


def test_no_refusal_tells_a_secret(tmp_path: Path) -> None:
    key = "django-insecure-canary-" + "abcdefghij" * 5
    _, said = start_with(
        tmp_path, {"SECRET_KEY": key, "REDIS_URL": None, "DEBUG": "yes"}
    )
    assert "DEBUG" in said
    assert "canary" not in said
    assert "waybill:waybill" not in said


def test_an_older_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "version", lambda name: "0.53.9")
    conf = SimpleNamespace(LLM_TOTAL_SECONDS=45)
    assert any("uvicorn" in problem for problem in safety._server(conf))


def test_a_model_call_without_an_end_is_refused() -> None:
    found = list(safety._server(SimpleNamespace(LLM_TOTAL_SECONDS=None)))
    assert any("LLM_TOTAL_SECONDS" in problem for problem in found)


def test_the_deployment_check_lists_what_a_demo_lacks(tmp_path: Path) -> None:
    done = Product(tmp_path).manage("check", "--deploy", check=False)
    assert done.returncode != 0
    for name in ("ALLOWED_ORIGINS", "DATABASE_URL", "REDIS_URL"):
        assert name in done.stderr


# ---- what only the running servers can tell


@pytest.fixture(scope="module")
def static_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A VAR_DIR in which the static files are collected."""
    installed = Product(tmp_path_factory.mktemp("collected"), production_env())
    installed.manage("collectstatic", "--noinput", "--verbosity", "0")
    return Path(installed.env["VAR_DIR"])


@pytest.fixture
def production(
    tmp_path: Path,
    static_files: Path,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
) -> Iterator[Product]:
    """A production on real servers, not yet started."""
    env = production_env()
    env |= {"DATABASE_URL": postgres_server.url, "REDIS_URL": redis_server.url}
    installed = Product(tmp_path / "production", {**env, "VAR_DIR": str(static_files)})
    yield installed
    installed.stop()


def start_refused(installed: Product, **changes: str) -> str:
    """What a web process says that must not start."""
    installed.web.env = {**installed.env, **changes}
    with pytest.raises(RuntimeError, match="did not start") as caught:
        installed.start()
    return str(caught.value)


def test_a_production_on_fit_servers_starts_and_keeps_browsers_on_https(
    production: Product,
) -> None:
    production.start()
    assert "Application startup complete" in production.web.output
    answer = production.get("/admin/login/")
    year = 365 * 24 * 60 * 60
    assert answer.headers["strict-transport-security"] == (
        f"max-age={year}; includeSubDomains"
    )
    host = answer.request.headers["host"]
    assert f" wss://{host};" in f"{answer.headers['content-security-policy']};"
    cookies = answer.headers.get_list("set-cookie")
    assert cookies
    for cookie in cookies:
        assert cookie.startswith("__Host-")
        assert {"Secure", "HttpOnly", "SameSite=Lax"} <= {*cookie.split("; ")}
        assert "Domain=" not in cookie
    plain = httpx2.get(
        production.url + "/accounts/login/",
        headers={"Host": host},
    )
    assert (plain.status_code, plain.headers["location"][:8]) == (301, "https://")


def test_a_redis_that_may_evict_stops_the_start(
    production: Product, tmp_path: Path
) -> None:
    forgetful = RedisServer(tmp_path / "forgetful", maxmemory_policy="allkeys-lru")
    forgetful.start()
    try:
        said = start_refused(production, REDIS_URL=forgetful.url)
    finally:
        forgetful.stop()
    assert "maxmemory-policy allkeys-lru" in said


def test_a_worker_asks_its_servers_too(production: Product, tmp_path: Path) -> None:
    forgetful = RedisServer(tmp_path / "forgetful", maxmemory_policy="volatile-ttl")
    forgetful.start()
    try:
        production.env["REDIS_URL"] = forgetful.url
        worker = production.process("worker", "celery", "-A", "chatbot", "worker")
        worker.start()
        assert worker.wait_for_end() != 0
    finally:
        forgetful.stop()
    assert "maxmemory-policy volatile-ttl" in worker.output


def test_more_connections_than_the_database_allows_stop_the_start(
    production: Product,
) -> None:
    said = start_refused(production, WEB_PROCESSES="20")
    assert "WEB_PROCESSES" in said
    assert "the database allows 100" in said


def test_a_database_that_is_away_stops_the_start_without_its_password(
    production: Product,
) -> None:
    away = "postgres://waybill:canary@127.0.0.1:9/waybill"
    assert "canary" not in start_refused(production, DATABASE_URL=away)


def test_static_files_that_were_not_collected_stop_the_start(
    production: Product, tmp_path: Path
) -> None:
    assert "collectstatic" in start_refused(production, VAR_DIR=str(tmp_path / "empty"))
