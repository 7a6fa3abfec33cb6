"""Settings of the suite: the offline model, no network, the database as a file."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# One folder a process, so that two runs never meet in one database.
_scratch = Path(tempfile.mkdtemp(prefix="waybill-tests-"))
atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
# Whatever the developer's shell has set, the suite runs on the defaults.
for _name in list(os.environ):
    if _name.startswith(("REACT_", "LLM_", "OPENAI_", "CHAT_", "RUN_", "TOOL")):
        del os.environ[_name]
os.environ["VAR_DIR"] = str(_scratch)

from chatbot.settings import *  # noqa: E402, F403
from chatbot.settings import DATABASES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # In memory, SQLite shares one cache and fails where a file would wait.
    DATABASES["default"]["TEST"] = {"NAME": str(_scratch / "test.sqlite3")}
else:
    # Emptying and dropping a whole test database takes its time on a busy machine.
    DATABASES["default"]["OPTIONS"]["options"] += " -c statement_timeout=60000"

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Every test's client would begin by looking through all static files. Whoever wants one
# asks a real process.
SERVESTATIC_USE_FINDERS = SERVESTATIC_AUTOREFRESH = False
SERVESTATIC_USE_STATIC_ROOT = False
