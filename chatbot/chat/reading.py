"""What staff read of people's words: noted each time, and with a reason where it is
nobody's task.
"""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest

from chatbot.chat.models import Conversation
from chatbot.chat.roles import sight_of
from chatbot.workflow.audit import record_audit
from tools.redaction import redact

REASON_LENGTH = 400
_KEPT = 50  # conversations whose reason a session remembers
_IN_SESSION = "reading_reasons"


def needs_reason(request: HttpRequest, conversation: Conversation) -> bool:
    """Whether this person has to say first why they read what was said in it.

    Not of what was handed over or is in their hands, nor twice in one session. Whoever
    sees no text has nothing to explain.
    """
    if not sight_of(request.user).text or conversation.taken_by_id == request.user.pk:
        return False
    if str(conversation.pk) in request.session.get(_IN_SESSION, {}):
        return False
    return not conversation.handovers.exists()


def give_reason(request: HttpRequest, conversation: Conversation) -> bool:
    """Remember the reason that was posted; False where there is none."""
    reason = redact(request.POST.get("reason", "").strip())[:REASON_LENGTH]
    if not reason:
        return False
    given = request.session.get(_IN_SESSION, {})
    given[str(conversation.pk)] = reason
    request.session[_IN_SESSION] = dict(list(given.items())[-_KEPT:])
    return True


def note_read(
    request: HttpRequest, conversation: Conversation, what: str, *, now: datetime
) -> None:
    """Write into the conversation's chain that its words were shown to this person."""
    if not sight_of(request.user).text:
        return
    reasons = request.session.get(_IN_SESSION, {})
    record_audit(
        f"read.{what}",
        chain=str(conversation.pk),
        actor=request.user.get_username(),
        ids={"reason": reasons.get(str(conversation.pk), "")},
        now=now,
    )
