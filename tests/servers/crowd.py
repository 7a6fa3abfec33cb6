"""Many customers at once: who they are, and a model that answers each about their own.

Every seat has an order with one parcel on its way, so that "Has it shipped, and where
is it now?" takes two dependent looks and an answer that can be proved.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chatbot.evals.model_server import Entry, call, say
from tests.servers.product import Product

_MAKE = """
import json
from django.contrib.auth import get_user_model
from django.db.models import Count
from django.test import Client
from django.utils import timezone
from chatbot.chat.models import Account
from chatbot.chat.services import start_conversation
from tools.backends.store.models import Order
orders = Order.objects.annotate(count=Count("parcels")).filter(
    count=1, status="shipped", parcels__status="in_transit",
    parcels__tracking_number__gt="",
).exclude(customer_id__in=["C-LIN", "C-MEI"]).order_by("customer_id", "number")
first = {}
for order in orders:
    first.setdefault(order.customer_id, order.number)
seats = []
for customer, number in list(first.items())[:WANTED]:
    user = get_user_model().objects.create_user(customer.lower())
    account = Account.objects.create(user=user, customer_id=customer, language="en")
    client = Client()
    client.force_login(user)
    conversation = start_conversation(account=account, now=timezone.now())
    session = client.cookies["sessionid"].value
    seats.append([customer, number, session, str(conversation.pk)])
print(json.dumps(seats))
"""


@dataclass(frozen=True, slots=True)
class Seat:
    """One signed-in customer with a conversation and an order on its way."""

    customer: str
    order: str
    session: str
    conversation: str

    @property
    def question(self) -> str:
        return f"Has {self.order} shipped, and where is it now?"


def take_seats(product: Product, wanted: int) -> list[Seat]:
    code = _MAKE.replace("WANTED", str(wanted))
    done = product.manage("shell", "--no-imports", "--verbosity", "0", "-c", code)
    seats = [Seat(*row) for row in json.loads(done.stdout.strip().splitlines()[-1])]
    assert len(seats) == wanted, f"only {len(seats)} customers have such an order"
    return seats


def two_looks(rng: random.Random, *, seconds: float = 0) -> Callable[..., Entry]:
    """A model that asks for the order, then for its parcel, then answers from both.

    Each reply takes up to ``seconds``, as ``rng`` has it.
    """

    def reply(request: dict[str, Any]) -> Entry:
        messages = request["messages"]
        # What came after the last answer: this run, also where messages joined it.
        told = [n for n, m in enumerate(messages) if _is_answer(m)]
        run = messages[told[-1] + 1 :] if told else messages
        asked = " ".join(m["content"] for m in run if m["role"] == "user")
        number = _last(r"\b([A-Z]+-?[0-9][0-9A-Z-]*)\b", asked)
        seen = [m["content"] for m in run if m["role"] == "tool"]
        pause = {"delay": rng.uniform(0, seconds)}
        if not seen:
            return {**call("get_order", order_id=number), **pause}
        parcel = _last(r'"tracking_id": ?"([^"]+)"', seen[0])
        if len(seen) == 1:
            return {**call("track_shipment", tracking_id=parcel), **pause}
        place = _last(r'"place": ?"([^"]+)"', seen[-1])
        text = f"Yes, {number} has shipped. Parcel {parcel} is in transit at {place}."
        return say(text, **pause)

    return reply


def _is_answer(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text)
    return str(found[-1]) if found else ""
