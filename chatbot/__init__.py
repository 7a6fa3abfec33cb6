from __future__ import annotations

# Without this import a web process would publish its tasks through Celery's default
# app, to a broker that is not there.
from chatbot.celery import app as celery_app

__all__ = ("celery_app",)
