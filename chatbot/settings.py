"""Every setting, read from the environment once; docs/settings.md explains them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import django_stubs_ext
from django.utils.translation import gettext_lazy as _

from chatbot.env import (
    address,
    env_bool,
    env_choice,
    env_int,
    env_json,
    env_list,
    env_number,
    env_prices,
    env_seconds,
    env_secret,
    env_text,
)
from chatbot.keys import demo_key
from chatbot.react.types import Limits
from chatbot.stores import broker, channel_layer, database

# Lets admin classes and query sets name their model in brackets, as the types do.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# What this installation makes for itself: the demo database and its key.
VAR_DIR = Path(env_text("VAR_DIR", str(BASE_DIR / "var")))

# ---- where and how this installation runs

ENVIRONMENT = env_choice("ENVIRONMENT", "demo", ("demo", "production"))
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env_bool("DEBUG", False)
LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))

SECRET_KEY = env_secret("SECRET_KEY") or ("" if PRODUCTION else demo_key(VAR_DIR))
# Old keys whose signatures still count while a new one takes over.
SECRET_KEY_FALLBACKS = [key for key in (env_secret("SECRET_KEY_BEFORE"),) if key]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", () if PRODUCTION else LOOPBACK)
# Whole origins (scheme, host, port). In demo a page's own origin is allowed besides.
ALLOWED_ORIGINS = env_list("ALLOWED_ORIGINS")
CSRF_TRUSTED_ORIGINS = ALLOWED_ORIGINS

# ---- limits of one run (chatbot/react)

_run = Limits()
REACT_MAX_STEPS = env_int(
    "REACT_MAX_STEPS", _run.max_steps, low=1, high=50, unit="steps"
)
# These two follow the steps unless they are set themselves.
REACT_MAX_TOOL_CALLS = env_int(
    "REACT_MAX_TOOL_CALLS", REACT_MAX_STEPS, low=1, high=100, unit="calls"
)
REACT_MAX_MODEL_CALLS = env_int(
    "REACT_MAX_MODEL_CALLS", REACT_MAX_STEPS + 2, low=1, high=100, unit="calls"
)
REACT_MAX_TOKENS = env_int(
    "REACT_MAX_TOKENS", _run.max_tokens, low=1_000, high=2_000_000, unit="tokens"
)
REACT_MAX_SECONDS = env_seconds(
    "REACT_MAX_SECONDS", _run.max_seconds, low=1, high=3_600
)
REACT_MAX_IDENTICAL_CALLS = env_int(
    "REACT_MAX_IDENTICAL_CALLS", _run.max_identical_calls, low=1, high=10, unit="calls"
)
REACT_MIN_EVIDENCE = env_int(
    "REACT_MIN_EVIDENCE", _run.min_evidence, low=0, high=10, unit="observations"
)
REACT_MAX_ANSWERS_SENT_BACK = env_int(
    "REACT_MAX_ANSWERS_SENT_BACK",
    _run.max_answers_sent_back,
    low=0,
    high=10,
    unit="answers",
)
REACT_MAX_REFUSALS = env_int(
    "REACT_MAX_REFUSALS", _run.max_refusals, low=1, high=20, unit="proposals"
)
REACT_MAX_WITHOUT_NEW_FACT = env_int(
    "REACT_MAX_WITHOUT_NEW_FACT",
    _run.max_without_new_fact,
    low=1,
    high=20,
    unit="observations",
)
REACT_OBSERVATION_WINDOW = env_int(
    "REACT_OBSERVATION_WINDOW",
    _run.observation_window,
    low=1,
    high=50,
    unit="observations",
)
REACT_MAX_OBSERVATION_BYTES = env_int(
    "REACT_MAX_OBSERVATION_BYTES",
    _run.max_observation_bytes,
    low=512,
    high=65_536,
    unit="bytes",
)

# ---- the model (chatbot/llm); without a key the offline model answers

OPENAI_API_KEY = env_secret("OPENAI_API_KEY", alias="LLM_API_KEY")
OPENAI_BASE_URL = address(
    "OPENAI_BASE_URL",
    env_text("OPENAI_BASE_URL", "", alias="LLM_API_URL"),
    schemes=("http", "https"),
)
LLM_MODEL = env_text("LLM_MODEL", "")
# The system text of this installation, in the form of the product's own.
LLM_INSTRUCTIONS_FILE = env_text("LLM_INSTRUCTIONS_FILE", "")
# Plan-and-Execute for questions of several parts, and the model that plans.
LLM_PLAN_FIRST = env_bool("LLM_PLAN_FIRST", False)
LLM_PLAN_MODEL = env_text("LLM_PLAN_MODEL", "")
# Words what is proved; LLM_MODEL does where none is named.
LLM_WORD_MODEL = env_text("LLM_WORD_MODEL", "")
LLM_STREAM = env_bool("LLM_STREAM", True)
LLM_TOOL_MODE: Literal["native", "json"] = env_choice(
    "LLM_TOOL_MODE", "native", ("native", "json")
)
LLM_EXTRA_BODY = env_json("LLM_EXTRA_BODY")
LLM_CONNECT_SECONDS = env_seconds("LLM_CONNECT_SECONDS", 5, low=0.1, high=60)
LLM_FIRST_TOKEN_SECONDS = env_seconds("LLM_FIRST_TOKEN_SECONDS", 15, low=0.1, high=300)
LLM_SILENCE_SECONDS = env_seconds("LLM_SILENCE_SECONDS", 10, low=0.1, high=300)
LLM_TOTAL_SECONDS = env_seconds("LLM_TOTAL_SECONDS", 45, low=0.1, high=600)
LLM_RETRIES = env_int("LLM_RETRIES", 2, low=0, high=5, unit="retries")
LLM_MAX_CONNECTIONS = env_int(
    "LLM_MAX_CONNECTIONS", 200, low=1, high=10_000, unit="connections"
)

# Per million tokens, in any one currency: {"model": {"prompt": 2, "completion": 8}}.
LLM_PRICES = env_prices("LLM_PRICES")

# ---- what the model may cost; 0 means no limit (chatbot/chat/budget.py)

BUDGET_RUN_MONEY = env_number(
    "BUDGET_RUN_MONEY", 0, low=0, high=100_000, unit="currency units"
)
BUDGET_CUSTOMER_TOKENS = env_int(
    "BUDGET_CUSTOMER_TOKENS", 200_000, low=0, high=1_000_000_000, unit="tokens"
)
BUDGET_CUSTOMER_MONEY = env_number(
    "BUDGET_CUSTOMER_MONEY", 0, low=0, high=100_000, unit="currency units"
)
BUDGET_GUEST_TOKENS = env_int(
    "BUDGET_GUEST_TOKENS", 50_000, low=0, high=1_000_000_000, unit="tokens"
)
BUDGET_ADDRESS_TOKENS = env_int(
    "BUDGET_ADDRESS_TOKENS", 500_000, low=0, high=1_000_000_000, unit="tokens"
)
BUDGET_TOTAL_TOKENS = env_int(
    "BUDGET_TOTAL_TOKENS", 20_000_000, low=0, high=1_000_000_000, unit="tokens"
)
BUDGET_TOTAL_MONEY = env_number(
    "BUDGET_TOTAL_MONEY", 0, low=0, high=100_000, unit="currency units"
)

# ---- tools

TOOLS_BACKEND = env_text("TOOLS_BACKEND", "store")
# Where TOOLS_BACKEND=http_api asks: docs/shop-api.md.
SHOP_API_URL = address(
    "SHOP_API_URL", env_text("SHOP_API_URL", ""), schemes=("http", "https")
)
SHOP_API_KEY = env_secret("SHOP_API_KEY")
SHOP_API_MAX_CONNECTIONS = env_int(
    "SHOP_API_MAX_CONNECTIONS", 50, low=1, high=10_000, unit="connections"
)
TOOL_TIMEOUT_SECONDS = env_seconds("TOOL_TIMEOUT_SECONDS", 5, low=0.1, high=60)
TOOL_LIST_ROWS = env_int("TOOL_LIST_ROWS", 20, low=1, high=100, unit="rows")

# ---- chat

CHAT_MAX_FRAME_BYTES = env_int(
    "CHAT_MAX_FRAME_BYTES", 16_384, low=1_024, high=49_152, unit="bytes"
)
CHAT_MAX_MESSAGE_CHARACTERS = env_int(
    "CHAT_MAX_MESSAGE_CHARACTERS", 2_000, low=50, high=10_000, unit="characters"
)
CHAT_MESSAGES_PER_MINUTE = env_int(
    "CHAT_MESSAGES_PER_MINUTE", 10, low=1, high=1_000, unit="messages"
)
CHAT_MESSAGES_BURST = env_int(
    "CHAT_MESSAGES_BURST", 5, low=1, high=1_000, unit="messages"
)
CHAT_MAX_QUEUED = env_int("CHAT_MAX_QUEUED", 5, low=1, high=100, unit="messages")
CHAT_MAX_SOCKETS = env_int("CHAT_MAX_SOCKETS", 3, low=1, high=100, unit="sockets")
CHAT_NEW_SOCKETS_PER_MINUTE = env_int(
    "CHAT_NEW_SOCKETS_PER_MINUTE", 10, low=1, high=100_000, unit="sockets"
)
CHAT_IDLE_SECONDS = env_seconds("CHAT_IDLE_SECONDS", 900, low=5, high=86_400)
CHAT_ABSOLUTE_SECONDS = env_seconds(
    "CHAT_ABSOLUTE_SECONDS", 43_200, low=60, high=604_800
)
CHAT_LOOKUP_FAILURES = env_int(
    "CHAT_LOOKUP_FAILURES", 5, low=1, high=1_000, unit="lookups"
)
CHAT_LOOKUP_WINDOW_SECONDS = env_seconds(
    "CHAT_LOOKUP_WINDOW_SECONDS", 600, low=1, high=86_400
)
CHAT_LOOKUP_LOCK_SECONDS = env_seconds(
    "CHAT_LOOKUP_LOCK_SECONDS", 900, low=1, high=86_400
)
CHAT_KEEP_DAYS = env_int("CHAT_KEEP_DAYS", 180, low=1, high=3_650, unit="days")
CHAT_POLL_SECONDS = env_seconds("CHAT_POLL_SECONDS", 5, low=0.1, high=60)

RUN_IN = env_choice("RUN_IN", "process", ("process", "worker"))
RUN_MAX_AT_ONCE = env_int("RUN_MAX_AT_ONCE", 600, low=1, high=10_000, unit="runs")
RUN_LEASE_SECONDS = env_seconds("RUN_LEASE_SECONDS", 15, low=1, high=600)
RUN_SWEEP_SECONDS = env_seconds("RUN_SWEEP_SECONDS", 1, low=0.1, high=60)

# Hosts of carriers' own tracking pages: answers link to no other site.
TRACKING_LINK_HOSTS = env_list(
    "TRACKING_LINK_HOSTS",
    (
        "www.sf-express.com",
        "www.zto.com",
        "www.yto.net.cn",
        "www.jdl.com",
        "www.ems.com.cn",
        "www.dhl.com",
        "www.ups.com",
        "www.fedex.com",
        "tools.usps.com",
    ),
)

# ---- visitors who are not signed in

GUEST_CHAT = env_bool("GUEST_CHAT", True)
GUEST_MAX_SOCKETS = env_int("GUEST_MAX_SOCKETS", 2, low=1, high=100, unit="sockets")
GUEST_NEW_PER_HOUR = env_int(
    "GUEST_NEW_PER_HOUR", 30, low=1, high=100_000, unit="visitors"
)
GUEST_ADDRESS_MESSAGES_PER_MINUTE = env_int(
    "GUEST_ADDRESS_MESSAGES_PER_MINUTE", 40, low=1, high=100_000, unit="messages"
)
GUEST_CODE_SECONDS = env_seconds("GUEST_CODE_SECONDS", 600, low=30, high=3_600)
GUEST_CODE_TRIES = env_int("GUEST_CODE_TRIES", 5, low=1, high=10, unit="tries")
GUEST_VERIFIED_SECONDS = env_seconds(
    "GUEST_VERIFIED_SECONDS", 1_800, low=60, high=43_200
)
GUEST_KEEP_DAYS = env_int("GUEST_KEEP_DAYS", 180, low=1, high=3_650, unit="days")

# ---- database

DATABASE_URL = env_secret(
    "DATABASE_URL", "" if PRODUCTION else f"sqlite:///{VAR_DIR / 'waybill.sqlite3'}"
)
# Each thread of tools/database.py keeps one connection: the bound of both.
DATABASE_THREADS = env_int("DATABASE_THREADS", 8, low=1, high=100, unit="threads")
# How many web processes there are, for the check that the database can serve them all.
WEB_PROCESSES = env_int("WEB_PROCESSES", 1, low=1, high=1_000, unit="processes")
DATABASE_STATEMENT_SECONDS = env_seconds(
    "DATABASE_STATEMENT_SECONDS", 3, low=0, high=3_600
)
DATABASE_LOCK_SECONDS = env_seconds("DATABASE_LOCK_SECONDS", 2, low=0, high=3_600)
DATABASES = {
    "default": database(
        DATABASE_URL,
        statement_seconds=DATABASE_STATEMENT_SECONDS,
        lock_seconds=DATABASE_LOCK_SECONDS,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# ---- Redis: wake-ups and tasks, never the truth

REDIS_URL = address("REDIS_URL", env_secret("REDIS_URL"), schemes=("redis", "rediss"))
CHANNEL_LAYERS = {"default": channel_layer(REDIS_URL)}
CELERY_BROKER_URL = broker(
    env_secret("CELERY_BROKER_URL", REDIS_URL or "memory://"), run_in=RUN_IN
)
CELERY_TASK_ALWAYS_EAGER = env_bool("CELERY_TASK_ALWAYS_EAGER", False)
CELERY_TASK_ACKS_LATE = env_bool("CELERY_TASK_ACKS_LATE", True)
CELERY_TASK_REJECT_ON_WORKER_LOST = env_bool("CELERY_TASK_REJECT_ON_WORKER_LOST", True)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = env_list("CELERY_ACCEPT_CONTENT", ("json",))
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "celery"
# Beat has nothing to remember: a file of its own would only be one more thing to keep.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
# A worker that took no task for so long, while some wait, ends itself.
WORKER_DEAF_SECONDS = env_int(
    "WORKER_DEAF_SECONDS", 60, low=10, high=3_600, unit="seconds"
)
CELERY_TASK_TIME_LIMIT = env_int(
    "CELERY_TASK_TIME_LIMIT", 300, low=10, high=7_200, unit="seconds"
)
CELERY_WORKER_CONCURRENCY = env_int(
    "CELERY_WORKER_CONCURRENCY", 4, low=1, high=64, unit="processes"
)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
    # A task that outlives this is given out again while it still runs.
    "visibility_timeout": env_int(
        "CELERY_VISIBILITY_SECONDS", 3_600, low=10, high=86_400, unit="seconds"
    )
}
CELERY_TIMEZONE = "UTC"

# ---- workflow: what leaves the house when something needs a person

ALERT_WEBHOOK_URL = env_secret("ALERT_WEBHOOK_URL")
ALERT_EMAIL = env_text("ALERT_EMAIL", "")
# Mail to customers who have left, and alerts. Without a host the demo prints it, and
# production sends none: what people are told belongs into no log.
EMAIL_HOST = env_text("EMAIL_HOST", "")
EMAIL_PORT = env_int("EMAIL_PORT", 587, low=1, high=65_535, unit="ports")
EMAIL_HOST_USER = env_text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env_text("DEFAULT_FROM_EMAIL", "waybill@localhost")
EMAIL_BACKEND = "django.core.mail.backends." + (
    "smtp.EmailBackend"
    if EMAIL_HOST
    else "dummy.EmailBackend"
    if PRODUCTION
    else "console.EmailBackend"
)
# What the payment provider signs its calls to /hooks/payment/ with; empty: no calls.
PAYMENT_HOOK_KEY = env_secret("PAYMENT_HOOK_KEY")
# Signs the audit chain; of its own, so that neither key gives away the other.
AUDIT_KEY = env_secret("AUDIT_KEY") or ("" if PRODUCTION else demo_key(VAR_DIR))

# ---- Django

INSTALLED_APPS = [
    "chatbot.apps.WaybillConfig",
    "chatbot.accounts",
    "chatbot.chat",
    "chatbot.workflow",
    "chatbot.evals",
    "tools",
    "tools.backends.store",
    "channels",
    "chatbot.staff_site.StaffSiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "chatbot.security.SecurityHeaders",
    "chatbot.security.ContentSecurityPolicy",
    "chatbot.health.Unavailable",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "chatbot.urls"
ASGI_APPLICATION = "chatbot.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
LOGIN_FAILURES = env_int("LOGIN_FAILURES", 5, low=1, high=1_000, unit="log-ins")
LOGIN_WINDOW_SECONDS = env_seconds("LOGIN_WINDOW_SECONDS", 900, low=1, high=86_400)
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
LANGUAGES = [("zh-hans", _("Chinese")), ("en", _("English"))]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Production serves hashed names out of STATIC_ROOT (`manage.py collectstatic`); demo
# serves the files where they lie, with no build step.
_STATIC_STORAGE = (
    "chatbot.static.HashedStaticFiles"
    if PRODUCTION
    else "django.contrib.staticfiles.storage.StaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}
SERVESTATIC_USE_FINDERS = SERVESTATIC_AUTOREFRESH = not PRODUCTION
SERVESTATIC_MAX_AGE = 60 if PRODUCTION else 0
# The page and its files come from one origin; no other site needs them.
SERVESTATIC_ALLOW_ALL_ORIGINS = False

# ---- what a browser and a stranger may do

BODY_MAX_BYTES = 65_536
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX_BYTES
SESSION_COOKIE_AGE = 43_200
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "frame-ancestors": ["'none'"],
        "report-to": ["csp"],
    }
}
if PRODUCTION:
    # The prefix makes a browser refuse the cookie from another host or without TLS.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    LANGUAGE_COOKIE_NAME = "__Host-language"
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
# Preloading binds a whole domain for good: its owner's decision, not a default of ours.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

# ---- logging: one line each to standard error, redacted

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "redacted": {
            "()": "chatbot.logs.RedactingFormatter",
            "format": "{asctime} {levelname} {name} {message}",
            "style": "{",
        }
    },
    "filters": {"refusals": {"()": "chatbot.logs.RefusalWithoutTraceback"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "redacted"}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # These bring handlers of their own, which would not redact.
    "loggers": {
        name: {"handlers": [], "propagate": True}
        for name in ("django", "django.server", "uvicorn", "uvicorn.access", "celery")
    }
    | {"django.request": {"filters": ["refusals"]}}
    # It would say a line for every call of a model or a shop.
    | {"httpx2": {"level": "WARNING"}},
}
