"""The Celery app: workers adopt runs whose process died, and run what may wait."""

from __future__ import annotations

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatbot.settings")

app = Celery("waybill")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # What goes through the queue shows that the workers hear it; see watchdog.py.
    "sweep": {
        "task": "chatbot.chat.tasks.sweep_runs",
        "schedule": 5.0,
        "options": {"expires": 60},
    },
    # A hint as well: whichever process looks at the day first, it is done once.
    "retention": {
        "task": "chatbot.chat.tasks.look_at_the_day",
        "schedule": 3_600.0,
        "options": {"expires": 3_600},
    },
}


@worker_init.connect
def _refuse_unsafe_servers(**_: Any) -> None:
    from chatbot import watchdog  # noqa: F401 - connects itself to the worker's start
    from chatbot.safety_live import worker_problems

    # Celery logs what a signal's handler raises and goes on; not so with an exit.
    if problems := worker_problems():
        sys.exit("Unsafe servers for production:\n- " + "\n- ".join(problems))
