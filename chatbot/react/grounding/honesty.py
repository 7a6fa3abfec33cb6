"""Words that say plainly: not found, not known, could not be checked."""

from __future__ import annotations

from chatbot.react.grounding.lexicon import word_list

_NEGATIVE = word_list(r"""
    无法
    不能
    没能
    未能
    查不到
    没(?:有)?(?:找到|查到|查询到|查出|搜到)
    找不到
    未(?:找到|查到|查询到)
    暂无
    尚无
    暂未
    还没
    没有
    未显示
    不清楚
    不知道
    不确定
    不了解
    超时
    失败
    未提供
    不存在
    不可用
    未能
    核对
    尚未
    还未
    并未
    未知
    无(?:记录|结果|信息)
    查询不到
    不支持
    不属于
    \b(?:could ?n[o']?t|can ?n[o']?t|unable|cannot|cant|couldnt|not|n't|no|none|without
        |unknown|unavailable|timed out|failed|doesn't|doesnt|didn't|didnt|isn't|isnt
        |hasn't|hasnt|haven't|wasn't|don't|dont|nothing|missing|yet to)\b
    n't\b
""")
_PERSON = word_list(r"""
    人工
    客服
    专员
    同事
    真人
    \b(?:human|person|people|agent|colleague|team|representative|staff|someone)\b
""")


def is_negative(text: str) -> bool:
    return bool(_NEGATIVE.search(text))


def negative_spots(text: str) -> list[int]:
    return [match.start() for match in _NEGATIVE.finditer(text)]


def names_person(text: str) -> bool:
    """Whether the text speaks of a person who could help."""
    return bool(_PERSON.search(text))
