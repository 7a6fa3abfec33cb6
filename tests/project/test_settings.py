from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from chatbot.env import DECLARED, Declared
from chatbot.keys import demo_key
from chatbot.react.types import Limits
from tests.servers.product import ROOT, Product

SETTINGS = Path(__file__).parents[2] / "chatbot" / "settings.py"
NUMBERS = [one for one in DECLARED.values() if one.high is not None]


def read_settings() -> dict[str, Any]:
    """The settings as a process that starts now would have them."""
    return runpy.run_path(str(SETTINGS))


def test_every_folder_of_the_repository_that_a_setting_names_is_there() -> None:
    named = [
        (name, folder)
        for name, value in read_settings().items()
        for folder in _folders(value)
        if folder.is_relative_to(ROOT) and not folder.is_relative_to(ROOT / "var")
    ]
    assert {name for name, _ in named} >= {"STATICFILES_DIRS", "TEMPLATES"}
    assert [(name, folder) for name, folder in named if not folder.exists()] == []


def _folders(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, dict):
        yield from (folder for one in value.values() for folder in _folders(one))
    elif isinstance(value, list | tuple):
        yield from (folder for one in value for folder in _folders(one))


def test_there_are_settings_to_test() -> None:
    assert len(NUMBERS) > 30


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda one: one.name)
def test_a_number_out_of_bounds_stops_the_start_by_name(
    setting: Declared, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setting.high is not None
    for wrong in (f"{setting.high + 1:.0f}", "-1", "ten"):
        monkeypatch.setenv(setting.name, wrong)
        with pytest.raises(
            ImproperlyConfigured, match=rf"^{setting.name} is '{wrong}'"
        ):
            read_settings()


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda one: one.name)
def test_each_bound_itself_is_allowed(
    setting: Declared, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in (setting.low, setting.high):
        monkeypatch.setenv(setting.name, f"{bound:g}" if bound else "0")
        if f"{bound:g}".count("e"):
            monkeypatch.setenv(setting.name, f"{bound:.0f}")
        read_settings()


@pytest.mark.parametrize(
    "name", ["ENVIRONMENT", "RUN_IN", "LLM_TOOL_MODE", "DEBUG", "LLM_EXTRA_BODY"]
)
def test_a_wrong_word_stops_the_start_by_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "neither")
    with pytest.raises(ImproperlyConfigured, match=name):
        read_settings()


def test_the_limits_of_a_run_default_to_those_of_the_loop() -> None:
    found, limits = read_settings(), Limits()
    for field in Limits.__dataclass_fields__:
        assert found[f"REACT_{field.upper()}"] == getattr(limits, field), field


def test_calls_follow_the_steps_unless_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_MAX_STEPS", "3")
    found = read_settings()
    assert (found["REACT_MAX_TOOL_CALLS"], found["REACT_MAX_MODEL_CALLS"]) == (3, 5)
    monkeypatch.setenv("REACT_MAX_TOOL_CALLS", "9")
    assert read_settings()["REACT_MAX_TOOL_CALLS"] == 9


@pytest.mark.parametrize(
    "url", ["mysql://a:hush@b/c", "nonsense-hush", "redis://:hush@h"]
)
def test_an_unfit_database_is_refused_and_its_password_not_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as caught:
        read_settings()
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (name, value)
        for name in ("OPENAI_BASE_URL", "SHOP_API_URL", "REDIS_URL")
        for value in ("hush", "ftp://hush", "http:///hush", "redis://:hush@:1", "://")
    ]
    + [
        ("LLM_API_URL", "127.0.0.1:8091/hush"),
        ("OPENAI_BASE_URL", "http://model host/hush"),
        ("OPENAI_BASE_URL", "http://model:99999/hush"),
        ("REDIS_URL", "redis://:hush@h:port/0"),
        ("REDIS_URL", "https://:hush@h/0"),
        ("CELERY_BROKER_URL", "hush"),
        ("CELERY_BROKER_URL", "redis://:hush@/0"),
        ("DATABASE_URL", "postgres://"),
        ("DATABASE_URL", "postgres://u:hush@h:99999/name"),
    ],
)
def test_what_is_no_address_stops_the_start_by_name_and_is_not_repeated(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    setting = name.replace("LLM_API", "OPENAI_BASE")
    with pytest.raises(ImproperlyConfigured, match=f"^{setting} ") as caught:
        read_settings()
    assert "hush" not in str(caught.value)


def test_work_for_workers_needs_a_broker_that_they_can_hear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RUN_IN", "worker")
    with pytest.raises(ImproperlyConfigured, match=r"^RUN_IN is 'worker'"):
        read_settings()
    monkeypatch.setenv("REDIS_URL", "redis://:p@127.0.0.1:6379/0")
    assert read_settings()["CELERY_BROKER_URL"].startswith("redis:")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RUN_IN", "worker"),
        ("OPENAI_BASE_URL", "127.0.0.1:1"),
        ("VAR_DIR", "/dev/null/var"),
        ("DATABASE_URL", "sqlite:////dev/null/var/db.sqlite3"),
        ("DATABASE_URL", f"sqlite:///{SETTINGS}"),
    ],
)
def test_a_demo_that_cannot_start_says_so_in_one_line(
    name: str, value: str, tmp_path: Path
) -> None:
    done = Product(tmp_path, {name: value}).manage("bootstrap", check=False)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_server_that_cannot_start_says_so_in_one_line(tmp_path: Path) -> None:
    installed = Product(tmp_path, {"VAR_DIR": "/dev/null/var"})
    with pytest.raises(RuntimeError, match="did not start"):
        installed.start()
    (line,) = installed.web.output.splitlines()
    assert line.startswith("Waybill does not start: VAR_DIR names /dev/null/var")


@pytest.mark.parametrize("kilobytes", [0, 64])
def test_a_full_disk_is_told_in_one_line(kilobytes: int, tmp_path: Path) -> None:
    """No file may grow past a size: full for the key already, or for the tables."""
    shell = f"ulimit -f {kilobytes}; exec {sys.executable} manage.py bootstrap"
    # Python would keep a compiled module cut off at that size, for everybody after it.
    env = {**Product(tmp_path).env, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        ["bash", "-c", shell], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_postgresql_gets_its_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://u:p@127.0.0.1:5432/name")
    default = read_settings()["DATABASES"]["default"]
    assert "statement_timeout=3000" in default["OPTIONS"]["options"]
    assert "lock_timeout=2000" in default["OPTIONS"]["options"]
    assert default["CONN_MAX_AGE"]
    assert default["CONN_HEALTH_CHECKS"]


@pytest.mark.django_db
def test_the_database_of_the_suite_keeps_the_rules_of_its_kind() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA journal_mode")
            assert cursor.fetchone()[0] == "wal"
            assert "memory" not in str(connection.settings_dict["NAME"])
        else:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone()[0] == "2s"


def test_processes_that_start_together_agree_on_the_demo_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(demo_key, [tmp_path] * 32))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    files = list(tmp_path.iterdir())
    assert [file.name for file in files] == ["demo_secret_key"]
    assert files[0].stat().st_mode & 0o077 == 0


def test_every_setting_is_explained_with_its_default_and_bounds() -> None:
    page = (SETTINGS.parents[1] / "docs" / "settings.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([A-Z_]+)`[^|]*\|(.*)$", page, re.MULTILINE))
    read_settings()
    lacking = [one.name for one in DECLARED.values() if one.name not in rows]
    assert not lacking
    # Those that depend on another setting or on where the project lies say so in words.
    worded = {
        "REACT_MAX_TOOL_CALLS",
        "REACT_MAX_MODEL_CALLS",
        "VAR_DIR",
        "DATABASE_URL",
    }
    for one in DECLARED.values():
        row = rows[one.name].replace(",", "")
        wanted = [] if one.name in worded or not one.default else [one.default]
        if one.high is not None:
            wanted += [f"{one.low:g}–{one.high:.0f}", one.unit]
        missing = [word for word in wanted if word.replace(",", "") not in row]
        assert not missing, f"{one.name}: {missing} not in {row}"
    stale = sorted(set(rows) - set(DECLARED) - {"PORT"})
    assert not stale


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"TOOLS_BACKEND": "shopware"}, "TOOLS_BACKEND"),
        ({"TOOLS_BACKEND": "http_api"}, "SHOP_API_URL"),
    ],
)
def test_a_shop_that_cannot_be_asked_stops_the_start_by_name(
    settings: Any, env: dict[str, str], named: str
) -> None:
    for name, value in env.items():
        setattr(settings, name, value)
    with pytest.raises(ImproperlyConfigured, match=named):
        apps.get_app_config("tools").ready()


def test_without_a_model_its_packages_are_not_loaded() -> None:
    """They take a second of each start."""
    loaded = (
        "import sys, chatbot.asgi;"
        "print(*[name for name in ('openai', 'aiohttp') if name in sys.modules])"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "chatbot.settings"}
    environment.pop("OPENAI_API_KEY", None)
    done = subprocess.run(
        [sys.executable, "-c", loaded],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.split() == []
