"""What the database holds of the conversations, read past the product's own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

MAX_STEPS, MAX_TOKENS, MAX_SECONDS = 8, 60_000, 90
# A run is stopped at its limit, then its end is worded and saved.
GRACE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Records:
    """A connection of its own to the database of a deployment."""

    url: str

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, connect_timeout=5) as connection:
            return connection.execute(statement, values).fetchall()

    def number(self, statement: str, *values: Any) -> int:
        return int(self.rows(statement, *values)[0][0])

    def unfinished_runs(self) -> int:
        return self.number("SELECT count(*) FROM chat_run WHERE phase <> 'stopped'")

    def log(self, conversation: str) -> list[tuple[int, str]]:
        """The ``seq`` and kind of every entry, in order."""
        return [
            (int(seq), str(kind))
            for seq, kind in self.rows(
                "SELECT seq, 'message' FROM chat_message WHERE conversation_id = %s"
                " UNION ALL SELECT seq, kind FROM chat_step WHERE conversation_id = %s"
                " ORDER BY 1",
                conversation,
                conversation,
            )
        ]

    def client_ids(self) -> Counter[str]:
        found = self.rows("SELECT client_id FROM chat_message WHERE client_id <> ''")
        return Counter(row[0] for row in found)

    def stop_reasons(self) -> dict[str, int]:
        rows = self.rows("SELECT stop_reason, count(*) FROM chat_run GROUP BY 1")
        return {reason or "none": int(count) for reason, count in sorted(rows)}

    def runs_over_a_limit(self) -> int:
        """By their own steps, not by what the run's row says of itself."""
        return self.number(
            "SELECT count(*) FROM chat_run WHERE steps_used > %s"
            " OR prompt_tokens + completion_tokens > %s OR duration_ms > %s"
            " OR (SELECT count(*) FROM chat_step s WHERE s.run_id = chat_run.id"
            "     AND s.kind = 'acted') > %s",
            MAX_STEPS,
            MAX_TOKENS,
            (MAX_SECONDS + GRACE_SECONDS) * 1000,
            MAX_STEPS,
        )

    def runs_with_two_ends(self) -> int:
        return self.number(
            "SELECT count(*) FROM (SELECT run_id FROM chat_step WHERE kind = 'stopped'"
            " GROUP BY 1 HAVING count(*) > 1) twice"
        )

    def calls_completed_twice(self) -> int:
        """Reads whose result was stored and that were made once more all the same."""
        return self.number(
            "SELECT count(*) FROM (SELECT run_id, body->'observation'->>'call_id'"
            " FROM chat_step WHERE kind = 'observed' GROUP BY 1, 2"
            " HAVING count(*) > 1) twice"
        )

    def crashes_survived(self) -> int:
        return self.number("SELECT coalesce(sum(crashes), 0) FROM chat_run")


def differences(
    log: Sequence[dict[str, Any]], stored: Sequence[tuple[int, str]]
) -> int:
    """How many entries of a page's log and of the database do not fit each other."""
    seqs = [int(entry["seq"]) for entry in log]
    kinds = ["message" if e["type"] == "message" else "step" for e in log]
    kept = [seq for seq, _ in stored]
    kept_kinds = ["message" if kind == "message" else "step" for _, kind in stored]
    unlike = sum(int(a != b) for a, b in zip(seqs, kept, strict=False))
    unlike += sum(int(a != b) for a, b in zip(kinds, kept_kinds, strict=False))
    return unlike + abs(len(log) - len(stored))
