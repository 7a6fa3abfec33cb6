from __future__ import annotations

from chatbot.settings import *  # noqa: F403
from tools.backends import BACKENDS

BACKENDS["silent"] = "tests.journeys.silent_carrier.SilentCarrier"
TOOLS_BACKEND = "silent"
