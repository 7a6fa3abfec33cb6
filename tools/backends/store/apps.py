from __future__ import annotations

from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "tools.backends.store"
    label = "store"
    verbose_name = "Shop"
