"""P2, P3, P6 and P7: a thousand changes on bad lines, by processes that are killed.

The shop is somebody else's server with a ledger of its own. In the end three records
are held against each other: its ledger, the requests, and what was announced.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from tests.assurance.deployment import scratch_folder
from tests.assurance.report import Finding, percentile
from tests.servers.product import ROOT, Product
from tests.servers.records import Records
from tests.servers.shop_server import KEY, ShopServer
from tests.servers.stack import Stack

ENDED = "('succeeded', 'refused', 'resolved', 'declined', 'expired', 'withdrawn')"
# Each attempt of a change meets one of these, or none.
FAULTS = ("before", "after", "slow", "garbage")
FAULT_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Size:
    changes: int = 1_000
    kills: int = 15
    web_processes: int = 2
    # Between a kill and the next, and until all must have ended after the last.
    pause: tuple[float, float] = (1.0, 3.0)
    patience: float = 240


async def survive_changes(*, seed: int, size: Size) -> Finding:
    return await asyncio.to_thread(_survive, seed, size)


def _survive(seed: int, size: Size) -> Finding:
    finding = Finding("changes", seed)
    began = time.monotonic()
    rng = random.Random(seed)
    with ShopServer(_shop(size.changes)) as shop, scratch_folder() as folder:
        shop.faults = _faults(rng, size.changes * 3)
        stack = Stack(folder, _settings(shop), webs=size.web_processes, workers=1)
        try:
            stack.prepare()
            _propose(stack.product, size.changes)
            for web in stack.webs:
                web.start()
            for worker in stack.workers:
                worker.start()
            records = Records(stack.postgres.url)
            kills = _kill_while_they_work(stack, rng, size)
            _wait_until_ended(records, size.patience)
            _judge(finding, records, shop, size, kills)
        finally:
            stack.stop()
    finding.seconds = time.monotonic() - began
    return finding


def _shop(count: int) -> dict[str, Any]:
    numbers = [f"O-{number}" for number in range(count)]
    return {
        "owners": {number: f"A-{number[2:]}" for number in numbers},
        "orders": [{"order_id": number} for number in numbers],
        "shipments": [],
    }


def _faults(rng: random.Random, attempts: int) -> dict[int, str]:
    return {
        attempt: rng.choice(FAULTS)
        for attempt in range(1, attempts)
        if rng.random() < FAULT_SHARE
    }


def _settings(shop: ShopServer) -> dict[str, str]:
    return {
        "TOOLS_BACKEND": "http_api",
        "SHOP_API_URL": shop.url,
        "SHOP_API_KEY": KEY,
        # Shorter than a slow answer of the shop: its outcome is then unknown.
        "TOOL_TIMEOUT_SECONDS": "0.5",
    }


def _propose(product: Product, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.assurance.propose", str(count)],
        cwd=ROOT,
        env={**product.env, "TOOL_TIMEOUT_SECONDS": "20"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"no requests were made:\n{done.stderr[-2000:]}")


def _kill_while_they_work(stack: Stack, rng: random.Random, size: Size) -> int:
    kills = 0
    for _ in range(size.kills):
        time.sleep(rng.uniform(*size.pause))
        process = rng.choice([*(web.web for web in stack.webs), *stack.workers])
        if process.alive:
            process.kill()
            kills += 1
        process.start()
    return kills


def _open(records: Records) -> int:
    return records.number(
        "SELECT count(*) FROM tools_actionrequest"
        f" WHERE state NOT IN {ENDED} AND state <> 'unknown'"
    )


def _wait_until_ended(records: Records, patience: float) -> None:
    until = time.monotonic() + patience
    while _open(records) and time.monotonic() < until:
        time.sleep(1)
    # What is unknown is looked up by the sweep, and what ended is announced by it.
    time.sleep(5)


def _judge(
    finding: Finding, records: Records, shop: ShopServer, size: Size, kills: int
) -> None:
    states = dict(
        records.rows("SELECT state, count(*) FROM tools_actionrequest GROUP BY 1")
    )
    succeeded = {
        str(row[0])
        for row in records.rows(
            "SELECT id FROM tools_actionrequest WHERE state = 'succeeded'"
        )
    }
    unknown = {
        str(row[0])
        for row in records.rows(
            "SELECT id FROM tools_actionrequest WHERE state = 'unknown'"
        )
    }
    done = set(shop.effects)
    seconds = [
        float(row[0])
        for row in records.rows(
            "SELECT extract(epoch FROM ended_at - approved_at)"
            " FROM tools_actionrequest WHERE ended_at IS NOT NULL"
        )
    ]
    unannounced = records.number(
        "SELECT count(*) FROM tools_actionrequest r WHERE state = 'succeeded' AND NOT"
        " EXISTS (SELECT 1 FROM workflow_event e WHERE e.name = 'action.finished'"
        " AND e.ids->>'request' = r.id::text)"
    )
    twice = sum(count > 1 for count in shop.effects.values())
    finding.faults = {
        "kills": kills,
        **shop.happened,
        "found_by_key": shop.found_by_key,
    }
    finding.wanted_faults = {
        "kills": max(1, size.kills * 2 // 3),
        **{fault: max(1, size.changes // 50) for fault in FAULTS},
        "found_by_key": 1,
    }
    finding.figures = {
        "changes": size.changes,
        "states": {str(state): int(count) for state, count in states.items()},
        "effects": len(done),
        "effects_more_than_once": twice,
        "absorbed_repeats": shop.repeats + shop.found_by_key,
        "attempts": shop.attempts,
        "succeeded_without_effect": len(succeeded - done),
        "effect_told_as_not_done": len(done - succeeded - unknown),
        "not_ended": _open(records),
        "unannounced": unannounced,
        "seconds_to_end_p50": percentile(seconds, 0.5),
        "seconds_to_end_p95": percentile(seconds, 0.95),
    }
    finding.must(twice == 0, f"{twice} changes were made more than once")
    finding.must(not succeeded - done, "a change was told that never was")
    finding.must(not done - succeeded - unknown, "a change was made and told as not")
    finding.must(_open(records) == 0, f"{_open(records)} requests never ended")
    finding.must(unannounced == 0, f"{unannounced} outcomes were told to nobody")
    finding.must(len(done) > size.changes // 2, "hardly any change was made")
