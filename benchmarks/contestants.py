"""What is measured, started as it would be deployed, each on ports of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.scenario import FIRST, PLACES
from tests.servers.processes import Process, free_port, port_answers
from tests.servers.product import ROOT, UVICORN, Product

# The limits on one customer would be measured otherwise, not the work.
UNLIMITED = {
    "CHAT_MAX_SOCKETS": "100",
    "CHAT_NEW_SOCKETS_PER_MINUTE": "100000",
    "CHAT_MESSAGES_PER_MINUTE": "1000",
    "CHAT_MESSAGES_BURST": "1000",
    "LOG_LEVEL": "WARNING",
}


@dataclass
class Door:
    """Where one run is asked for: an address, a cookie, and the order to ask about."""

    url: str
    number: int
    origin: str = ""
    session: str = ""


@dataclass
class Contestant:
    """``doors`` are used up: each run gets a conversation of its own."""

    name: str
    process: Process
    port: int
    product: bool = False
    spare: dict[int, list[Door]] = field(default_factory=dict)

    @property
    def pids(self) -> Sequence[int]:
        return [self.process.pid]

    def doors(self, seat: int, count: int) -> list[Door]:
        if not self.product:
            url = f"ws://127.0.0.1:{self.port}/"
            return [Door(url, FIRST + seat) for _ in range(count)]
        return [self.spare[seat].pop() for _ in range(count)]


def bare(
    name: str,
    loop: str,
    folder: Path,
    env: Mapping[str, str],
    *,
    python: str = sys.executable,
) -> Contestant:
    """A loop behind the bare websocket, in the interpreter that has it."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    process = Process(
        [
            *(python, "-m", "uvicorn", "benchmarks.bare:application"),
            *("--host", "127.0.0.1", "--port", str(port), *UVICORN),
            *("--log-level", "warning"),
        ],
        log=folder / "log",
        ready=lambda: port_answers(port),
        env={"PATH": os.environ["PATH"], "LOOP": loop, **env},
        cwd=ROOT,
    )
    process.start()
    return Contestant(name, process, port)


def product(
    name: str, folder: Path, env: Mapping[str, str], *, conversations: Sequence[int]
) -> Contestant:
    """The whole product; seat n gets ``conversations[n]`` empty conversations."""
    installed = Product(folder, {**UNLIMITED, **env})
    installed.prepare()
    made = Contestant(name, installed.web, installed.port, product=True)
    code = _SEATS.format(counts=list(conversations), first=FIRST, places=PLACES)
    done = installed.manage("shell", "--no-imports", "--verbosity", "0", "-c", code)
    rows = json.loads(done.stdout.strip().splitlines()[-1])
    for seat, (session, keys) in enumerate(rows):
        made.spare[seat] = [
            Door(
                f"ws://127.0.0.1:{made.port}/ws/chat/{key}/",
                FIRST + seat,
                origin=installed.url,
                session=session,
            )
            for key in keys
        ]
    installed.start()
    return made


_SEATS = """
import json
from datetime import timedelta
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from chatbot.chat.models import Account, Conversation
from tools.backends.store.models import (
    Carrier, Customer, Order, OrderLine, Parcel, TrackingEvent
)
now = timezone.now()
carrier = Carrier.objects.first()
rows = []
for seat, count in enumerate({counts}):
    number = {first} + seat
    place = {places}[number % len({places})]
    customer = Customer.objects.create(id=f"C-BENCH-{{seat}}", name="Bench")
    order = Order.objects.create(
        number=f"O-{{number}}", customer=customer, status="shipped", total=19900,
        city="Berlin", placed_at=now - timedelta(days=3),
        paid_at=now - timedelta(days=3), shipped_at=now - timedelta(days=2),
    )
    line = OrderLine.objects.create(order=order, title="Mug", quantity=2, price=9950)
    parcel = Parcel.objects.create(
        order=order, carrier=carrier, tracking_number=f"N-{{number}}",
        status="in_transit", shipped_at=now - timedelta(days=2),
        estimated_delivery_at=now + timedelta(days=2),
    )
    parcel.lines.add(line)
    for hours, text in ((30, "Collected"), (5, "On its way")):
        TrackingEvent.objects.create(
            parcel=parcel, at=now - timedelta(hours=hours), status="in_transit",
            place=place, text=text,
        )
    user = get_user_model().objects.create_user(f"bench-{{seat}}")
    account = Account.objects.create(
        user=user, customer_id=customer.pk, language="en"
    )
    client = Client()
    client.force_login(user)
    made = Conversation.objects.bulk_create(
        Conversation(account=account, created_at=now, updated_at=now)
        for _ in range(count)
    )
    rows.append([client.cookies["sessionid"].value, [str(one.pk) for one in made]])
print(json.dumps(rows))
"""
