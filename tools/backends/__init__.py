"""Shop systems by the name that ``TOOLS_BACKEND`` gives them."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from tools.backends.base import OrderBackend

# Dotted names: this package is imported before any model may be.
BACKENDS: dict[str, str] = {"store": "tools.backends.store.backend.StoreBackend"}


@cache
def backend() -> OrderBackend:
    """The one shop system of this installation."""
    made: OrderBackend = import_string(BACKENDS[settings.TOOLS_BACKEND])()
    return made
