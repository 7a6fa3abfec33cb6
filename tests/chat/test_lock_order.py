"""Everybody who writes at once: nobody waits for somebody who waits for them.

docs/walk.md says in which order rows are locked. Where two pieces of code differ in it,
PostgreSQL ends one of them by deadlock detection, and this is where it shows.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat import services, takeover
from chatbot.chat.gate import note_seen
from chatbot.chat.journal import Entries, write_together
from chatbot.chat.leases import Claim, claim_run, give_back, renew_leases
from chatbot.chat.lookups import note_failure
from chatbot.chat.models import Account, Conversation, Run, RunPhase, Step
from chatbot.chat.problems import Problem
from chatbot.chat.stored import step_row
from chatbot.react.types import Joined
from chatbot.understanding.needs import read_question
from chatbot.workflow.services import NotPossible
from tests.cast import Person
from tests.chat.conftest import accept, kinds
from tools.contracts import Role

pytestmark = [
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one lock for all"
    ),
    pytest.mark.django_db(transaction=True),
]

OWNER = "this process"
PLACES = 12
ROUNDS = 40

Act: TypeAlias = Callable[[random.Random], object]


class House:
    """Conversations with runs that go on, and everybody who writes into them."""

    def __init__(self, conversations: Sequence[Conversation], staff: User) -> None:
        self.conversations = list(conversations)
        self.accounts = [one.account_id for one in conversations]
        self.staff = staff
        self.claims: dict[UUID, Claim] = {}

    def chosen(self, chance: random.Random) -> Conversation:
        return chance.choice(self.conversations)

    def claim_all(self, chance: random.Random) -> None:
        for run in Run.objects.filter(phase=RunPhase.QUEUED):
            claim = claim_run(run.pk, owner=OWNER, now=timezone.now())
            if claim is not None:
                self.claims[claim.conversation_id] = claim

    def write(self, chance: random.Random) -> None:
        claims = list(self.claims.values())
        chance.shuffle(claims)
        write_together([_entry(claim) for claim in claims])

    def renew(self, chance: random.Random) -> None:
        claims = list(self.claims.values())
        chance.shuffle(claims)
        renew_leases(claims, owner=OWNER, now=timezone.now())

    def give_back(self, chance: random.Random) -> None:
        give_back(list(self.claims.values()), owner=OWNER, now=timezone.now())

    def say(self, chance: random.Random) -> None:
        accept(self.chosen(chance), limited=False)

    def cancel(self, chance: random.Random) -> None:
        conversation = self.chosen(chance)
        run = conversation.runs.exclude(phase=RunPhase.STOPPED).first()
        if run is not None:
            services.cancel_run(
                run.pk,
                conversation_id=conversation.pk,
                account_id=conversation.account_id,
                now=timezone.now(),
            )

    def take_over(self, chance: random.Random) -> None:
        conversation = self.chosen(chance)
        takeover.take_over(conversation.pk, by=self.staff, now=timezone.now())
        takeover.release(conversation.pk, by=self.staff, now=timezone.now())

    def miss(self, chance: random.Random) -> None:
        conversation = self.chosen(chance)
        note_failure(
            [str(chance.randrange(100))],
            account_id=conversation.account_id,
            conversation_id=conversation.pk,
            now=timezone.now(),
        )

    def look(self, chance: random.Random) -> None:
        Account.objects.filter(pk=chance.choice(self.accounts)).update(seen_at=None)
        note_seen(chance.sample(self.accounts, len(self.accounts)))


def _entry(claim: Claim) -> Entries:
    joined = Joined(1, read_question("And O-205?"), timezone.now())
    step = step_row(claim, joined, keep=set())
    return Entries(claim, [step], at=joined.at)


def _act(act: Act, seed: int, begin: threading.Barrier, faults: list[str]) -> None:
    chance = random.Random(seed)
    begin.wait(timeout=30)
    try:
        for _ in range(ROUNDS):
            try:
                act(chance)
            except (Problem, NotPossible):
                pass  # somebody else was first, and said so
            except Exception as error:  # noqa: BLE001 - a thread has nobody to raise to
                faults.append(f"{act}: {error!r}")
    finally:
        connections.close_all()


def _deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        )
        return int(cursor.fetchone()[0])


@pytest.fixture
def house(transactional_db: None, sam: Person, settings: Settings) -> House:
    settings.CHAT_LOOKUP_FAILURES = 1_000
    made = []
    for number in range(PLACES):
        user = User.objects.create_user(f"customer{number}")
        account = Account.objects.create(user=user, role=Role.CUSTOMER)
        now = timezone.now()
        made.append(services.start_conversation(account=account, now=now))
        accept(made[-1], limited=False)
    return House(made, sam.user)


def test_no_two_writers_ever_wait_for_each_other(house: House) -> None:
    house.claim_all(random.Random(0))
    before = _deadlocks()
    acts: list[Act] = [
        *(house.write, house.write, house.renew, house.renew, house.claim_all),
        *(house.say, house.cancel, house.cancel, house.take_over, house.miss),
        *(house.look, house.look, house.give_back),
    ]
    begin = threading.Barrier(len(acts))
    faults: list[str] = []
    threads = [
        threading.Thread(target=partial(_act, act, seed, begin, faults))
        for seed, act in enumerate(acts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, "\n".join(faults)
    assert _deadlocks() == before
    assert Step.objects.filter(kind="joined").exists(), "nobody wrote"
    for conversation in house.conversations:
        kinds(conversation)  # without a gap, whoever was quicker
