"""Run a command with a PostgreSQL and a Redis of its own:

python -m tests.servers.stores pytest tests/chat
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers.postgres import PostgresServer
from tests.servers.processes import MissingPart
from tests.servers.redis import RedisServer


def main(command: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="waybill-stores-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres, redis = PostgresServer(folder / "pg"), RedisServer(folder / "redis")
        try:
            postgres.start()
            redis.start()
            env = {**os.environ, "DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
            return subprocess.run(command, env=env).returncode
        except MissingPart as missing:
            sys.stderr.write(f"{missing}\n")
            return 1
        finally:
            redis.stop()
            postgres.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
