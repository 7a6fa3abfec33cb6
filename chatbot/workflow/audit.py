"""The audit chain: who did what, so that a changed or missing row shows."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from chatbot.workflow.models import AuditEntry

JsonIds = Mapping[str, str | int]


# How often a writer gives way to others of the same chain before it fails.
MOST_TRIES = 20


def record_audit(
    kind: str, *, chain: str, actor: str, ids: JsonIds, now: datetime
) -> AuditEntry:
    """Append to a chain, inside the transaction of what it records.

    Two writers of one chain meet at the unique position: the later one waits for the
    other's commit and takes the next position, so that a chain never forks.
    """
    for _ in range(MOST_TRIES - 1):
        try:
            with transaction.atomic():
                return _append(kind, chain, actor, ids, now)
        except IntegrityError:
            continue
    return _append(kind, chain, actor, ids, now)


def _append(
    kind: str, chain: str, actor: str, ids: JsonIds, now: datetime
) -> AuditEntry:
    last = AuditEntry.objects.filter(chain=chain).order_by("-position").first()
    entry = AuditEntry(
        chain=chain,
        position=last.position + 1 if last else 1,
        kind=kind,
        actor=actor,
        ids=dict(ids),
        at=now,
        previous_digest=last.digest if last else "",
    )
    entry.digest = digest_of(entry)
    entry.save(force_insert=True)
    return entry


def digest_of(entry: AuditEntry) -> str:
    """HMAC-SHA256 over the entry's facts: whoever can write rows can't forge it."""
    facts = [
        entry.chain,
        entry.position,
        entry.kind,
        entry.actor,
        entry.ids,
        entry.at.astimezone(UTC).isoformat(),
        entry.previous_digest,
    ]
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    key = settings.AUDIT_KEY.encode()
    return hmac.new(key, canonical.encode(), hashlib.sha256).hexdigest()


def broken_links(chain: str) -> Iterator[int]:
    """Positions whose digest, order or predecessor does not fit, lowest first.

    A cut tail can't be seen from the chain alone: compare its length with the facts
    (requests, decisions) that must each have an entry.
    """
    expected, previous = 1, ""
    for entry in AuditEntry.objects.filter(chain=chain).order_by("position"):
        intact = (
            entry.position == expected
            and entry.previous_digest == previous
            and hmac.compare_digest(entry.digest, digest_of(entry))
        )
        if not intact:
            yield entry.position
        expected, previous = entry.position + 1, entry.digest
