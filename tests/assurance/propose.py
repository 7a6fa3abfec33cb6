"""Many customers, each of whom agreed to one change, in a deployment's settings.

``python -m tests.assurance.propose COUNT`` makes the requests through the product's
services, up to the customer's Confirm; executing them is the deployment's own business.
"""

from __future__ import annotations

import asyncio
import sys

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from chatbot.chat.models import Account, Conversation, Run, RunPhase  # noqa: E402
from chatbot.workflow import services  # noqa: E402
from tools.contracts import ActionKind, Actor, Role, ToolCall  # noqa: E402
from tools.database import in_database  # noqa: E402


async def agree(number: int) -> None:
    actor = Actor(Role.CUSTOMER, f"A-{number}")
    conversation, run = await in_database(_conversation, str(actor.customer_id))
    arguments = {"order_id": f"O-{number}", "reason": "no longer needed"}
    call = ToolCall("c", ActionKind.CANCEL_ORDER.value, arguments)
    proposal = await services.work_out(call, actor=actor, said=())
    await in_database(_confirmed, proposal, actor, conversation, run)


def _conversation(customer: str) -> tuple[Conversation, Run]:
    now = timezone.now()
    user = User.objects.create(username=customer)
    account = Account.objects.create(user=user, customer_id=customer)
    conversation = Conversation.objects.create(
        account=account, created_at=now, updated_at=now
    )
    run = Run.objects.create(
        conversation=conversation,
        phase=RunPhase.STOPPED,
        stop_reason="awaiting_approval",
        due_at=now,
        created_at=now,
        stopped_at=now,
    )
    return conversation, run


@transaction.atomic
def _confirmed(
    proposal: services.Proposal, actor: Actor, conversation: Conversation, run: Run
) -> None:
    now = timezone.now()
    request = services.request_approval(
        proposal,
        actor=actor,
        conversation_id=conversation.pk,
        run_id=run.pk,
        now=now,
    )
    services.confirm(
        request,
        actor=actor,
        arguments_hash=request.arguments_hash,
        preview=proposal.preview,
        now=now,
    )


async def main(count: int) -> None:
    for start in range(0, count, 20):
        numbers = range(start, min(count, start + 20))
        await asyncio.gather(*(agree(number) for number in numbers))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
