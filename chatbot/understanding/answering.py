"""What a short message means as an answer to the shop's line before it."""

from __future__ import annotations

import re

from chatbot.understanding.kinds import Need
from chatbot.understanding.lexicon import rule_names
from chatbot.understanding.text import plain_text

# Longer messages say themselves what they are about.
_LONGEST = 24
_ANYTHING_ELSE = re.compile(
    r"(?:其他|其它|别的|还有).{0,14}(?:帮|问题|服务|需要|疑问|效劳)"
    r"|\banything else\b|\b(?:other|further) (?:question|help)"
)
_NOTHING_ELSE = re.compile(
    r"^(?:暂时|目前|嗯+|好的?|哦|行|那)?[\s,，。]*(?:没(?:有|啦|了|事)?|不用|不需要|谢|感谢|好的?|可以了)"
    r"|^(?:no|nope|nothing|thats all|thanks|thank you)\b"
)
# "How?", "then I can still change it?": asks, and names nothing.
_POINTS = re.compile(
    r"^(?:那|具体|这|所以|请问|到时候|以后)?.{0,8}"
    r"(?:怎么(?:办|弄|改|修改|操作|申请|处理|做)|如何(?:操作|申请|修改)|在哪(?:里|儿)?(?:申请|改|弄|看|操作)"
    r"|什么方式|要多久|多久|几天|才能改|能改|可以改|能修改|改到|改成|改下|什么时候(?:能|可以)?(?:好|弄好|处理)?)"
)
# What a line is about, the surest first.
_SUBJECTS: tuple[tuple[str, Need], ...] = (
    ("invoice", Need.INVOICE),
    ("change_address", Need.CHANGE_ADDRESS),
    ("refund", Need.REFUND_STATUS),
    ("policy", Need.POLICY),
    ("return", Need.RETURN),
    ("cancel", Need.CANCEL),
)


def declines_more(plain: str, previous_agent: str) -> bool:
    """Whether the text says "no, thank you" to "anything else?"."""
    return (
        len(plain) <= _LONGEST
        and not re.search(r"[?]|吗|怎么|什么|但|可是", plain)
        and bool(_NOTHING_ELSE.search(plain))
        and bool(_ANYTHING_ELSE.search(plain_text(previous_agent)))
    )


def subject_pointed_at(plain: str, previous_agent: str) -> Need | None:
    """What the shop's line is about, where the text asks about that and names nothing.

    None where the line is about nothing, or the text speaks for itself.
    """
    if not previous_agent or len(plain) > _LONGEST or not _POINTS.search(plain):
        return None
    rules = rule_names(plain_text(previous_agent))
    return next((need for name, need in _SUBJECTS if name in rules), None)
