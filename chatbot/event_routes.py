"""Who reacts to which event: dotted event name -> dotted names of handlers.

This table is the only way in which news travels upward: a room records an event and
never imports the room that wants to know.
"""

from __future__ import annotations

_PERFORM = "chatbot.workflow.handlers.perform_action"
_TELL = "chatbot.chat.news.tell_customer"
_MAIL = "chatbot.chat.news.mail_customer"

EVENT_ROUTES: dict[str, tuple[str, ...]] = {
    # The card itself is shown by the transaction that makes the proposal.
    "action.proposed": (),
    # Filled in, and its effect is another one now: it is shown again.
    "action.amended": (_TELL,),
    "action.confirmed": (_TELL,),
    "action.approved": (_PERFORM, _TELL),
    "action.declined": (_TELL, _MAIL),
    "action.withdrawn": (_TELL,),
    "action.expired": (_TELL, _MAIL),
    "action.finished": (_TELL, _MAIL),
    "action.resolved": (_TELL, _MAIL),
    # What a person wrote is shown by its own transaction.
    "staff.wrote": (_MAIL,),
    # A visitor says that an order is theirs.
    "order.claimed": ("chatbot.chat.verify.mail_code",),
    "refund.settled": ("chatbot.workflow.handlers.settle_refund",),
    # A day has begun: what was kept for long enough goes.
    "retention.due": ("chatbot.chat.retention.forget",),
}
