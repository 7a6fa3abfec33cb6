"""The Celery app: workers adopt runs whose process died, and run what may wait."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatbot.settings")

app = Celery("waybill")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
