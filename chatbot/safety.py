"""What production refuses: settings that would lose work or let strangers in.

``refuse_unsafe_settings()`` stops every process before it serves or works;
``check_settings()`` says the same to ``manage.py check --deploy``, from demo too. What
only the running servers can tell is in ``chatbot/safety_live.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured

from chatbot.env import unread_names

SECRET_KEY_CHARACTERS = 50
# Earlier ones leave the size of a frame's parts, or of headers, without a bound.
OLDEST_UVICORN = (0, 54)


def refuse_unsafe_settings() -> None:
    """Raise with every problem named, in production only."""
    if settings.PRODUCTION:
        refuse(tuple(problems(settings)))


def refuse(found: tuple[str, ...]) -> None:
    if found:
        raise ImproperlyConfigured(
            "Unsafe settings for production:\n- " + "\n- ".join(found)
        )


def check_settings(**kwargs: Any) -> list[CheckMessage]:
    return [
        Error(problem, id=f"waybill.E{number:03}")
        for number, problem in enumerate(problems(settings), start=1)
    ]


def check_names(**kwargs: Any) -> list[CheckMessage]:
    return [
        Warning(
            f"{name} is set, but no setting has this name.",
            hint="docs/settings.md lists them.",
            id="waybill.W001",
        )
        for name in unread_names()
    ]


def problems(conf: Any) -> Iterator[str]:
    """Each unsafe setting in one sentence that begins with its name."""
    yield from _secrets(conf)
    yield from _hosts(conf)
    yield from _stores(conf)
    yield from _tasks(conf)
    yield from _budgets(conf)
    yield from _server(conf)


def _secrets(conf: Any) -> Iterator[str]:
    if conf.DEBUG:
        yield "DEBUG is on: error pages would show settings and data."
    for name in ("SECRET_KEY", "AUDIT_KEY"):
        key = getattr(conf, name)
        if len(key) < SECRET_KEY_CHARACTERS or len(set(key)) < 5:
            yield (
                f"{name} is missing or too weak: give at least {SECRET_KEY_CHARACTERS}"
                " random characters."
            )
        elif key.startswith("django-insecure-"):
            yield f"{name} is a default one: make one of your own."
    if conf.AUDIT_KEY == conf.SECRET_KEY:
        yield "AUDIT_KEY is the same as SECRET_KEY: one key for each purpose."


def _hosts(conf: Any) -> Iterator[str]:
    if not conf.ALLOWED_HOSTS:
        yield "ALLOWED_HOSTS is empty: name the hosts that this site answers for."
    if any("*" in host or host.startswith(".") for host in conf.ALLOWED_HOSTS):
        yield "ALLOWED_HOSTS holds a wildcard: name each host."
    if not conf.ALLOWED_ORIGINS:
        yield "ALLOWED_ORIGINS is empty: no page could open a socket."
    for origin in conf.ALLOWED_ORIGINS:
        if "*" in origin:
            yield f"ALLOWED_ORIGINS holds a wildcard: {origin}."
        elif not _is_https_origin(origin):
            yield f"ALLOWED_ORIGINS holds {origin}: it must read https://host[:port]."


def _is_https_origin(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        _ = parts.port
    except ValueError:
        return False
    host_is_plain = bool(parts.hostname) and not str(parts.hostname).startswith(".")
    bare = not (parts.path or parts.query or parts.fragment or parts.username)
    return parts.scheme == "https" and host_is_plain and bare


def _stores(conf: Any) -> Iterator[str]:
    if conf.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield "DATABASE_URL names SQLite: use PostgreSQL."
    if conf.DATABASE_STATEMENT_SECONDS == 0:
        yield "DATABASE_STATEMENT_SECONDS is 0: a query could hold a thread for ever."
    if conf.DATABASE_LOCK_SECONDS == 0:
        yield "DATABASE_LOCK_SECONDS is 0: a lock could hold a thread for ever."
    if not conf.REDIS_URL:
        yield "REDIS_URL is not set: processes could not wake each other."
    elif not urlsplit(conf.REDIS_URL).password:
        yield "REDIS_URL has no password."


def _tasks(conf: Any) -> Iterator[str]:
    broker = urlsplit(conf.CELERY_BROKER_URL)
    if broker.scheme == "memory":
        yield "CELERY_BROKER_URL is in memory: a task would die with its process."
    elif not broker.password:
        yield "CELERY_BROKER_URL has no password."
    if conf.CELERY_TASK_ALWAYS_EAGER:
        yield "CELERY_TASK_ALWAYS_EAGER is on: tasks would run inside requests."
    if set(conf.CELERY_ACCEPT_CONTENT) != {"json"}:
        yield "CELERY_ACCEPT_CONTENT must be json alone: others can run code."
    if not conf.CELERY_TASK_ACKS_LATE:
        yield "CELERY_TASK_ACKS_LATE is off: a killed worker would lose its task."
    if not conf.CELERY_TASK_REJECT_ON_WORKER_LOST:
        yield (
            "CELERY_TASK_REJECT_ON_WORKER_LOST is off: a killed child would lose its"
            " task."
        )
    visibility = conf.CELERY_BROKER_TRANSPORT_OPTIONS.get("visibility_timeout", 0)
    if visibility <= conf.CELERY_TASK_TIME_LIMIT:
        yield (
            "CELERY_VISIBILITY_SECONDS is not above CELERY_TASK_TIME_LIMIT: a running"
            " task would be given out again."
        )


def _budgets(conf: Any) -> Iterator[str]:
    for name in ("BUDGET_RUN_MONEY", "BUDGET_CUSTOMER_MONEY", "BUDGET_TOTAL_MONEY"):
        if getattr(conf, name) and not conf.LLM_PRICES:
            yield f"{name} is set, but LLM_PRICES names no price."


def _server(conf: Any) -> Iterator[str]:
    if not conf.LLM_TOTAL_SECONDS:
        yield "LLM_TOTAL_SECONDS is not set: a model call could last for ever."
    installed = tuple(int(part) for part in version("uvicorn").split(".")[:2])
    if installed < OLDEST_UVICORN:
        yield "uvicorn is older than 0.54: install the pinned requirements."
