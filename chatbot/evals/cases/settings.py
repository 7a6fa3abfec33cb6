"""Settings of a product under attack cases: as they are, but for what a case breaks."""

from __future__ import annotations

import os

from chatbot.settings import *  # noqa: F403
from tools.backends import CHANGING

# The shop behind the line that a case breaks; reads go to it directly.
CHANGING["store"] = "chatbot.evals.cases.shop.CaseShop"
CASES_FAULT = os.environ.get("CASES_FAULT", "")
CASES_FOLDER = os.environ.get("CASES_FOLDER", "")
# No mail leaves, and other workers of the same broker get none of these tasks.
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
CELERY_TASK_DEFAULT_QUEUE = os.environ.get("CASES_QUEUE", "celery")
