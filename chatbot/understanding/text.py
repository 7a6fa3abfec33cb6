"""Plain forms of a message: what the rules and the classifier read."""

from __future__ import annotations

import re
import unicodedata

# Needs are read from the beginning and the end of a long paste: people ask there.
_HEAD = 1500
_TAIL = 500
_TAGGED = re.compile(r"https?://\S{1,200}|\[(?:user|url|链接x|NULL)\]|@\w{1,40}", re.I)
_MASKS = re.compile(
    r"\[(?:数字|订单|金额|日期|时间|地址|姓名|站点|组织机构|电话|邮箱)x\]"
)
# What a shop's chat window pastes in front of a question about an order or a product.
_CARD = re.compile(
    r"\[?(?:咨询|查询)?(?:订单(?:编?号|金额|状态)|商品(?:id|编?号)|下单时间)\s?:"
    r"[\s:;¥]{0,4}(?:0|\d[\d\s:.*-]{0,30})[\]，,;]?|顾客通过点击\w{0,20}信息发送:?",
    re.IGNORECASE,
)
# Letters and marks that show nothing: fillers, variation selectors, joiners, a Braille
# cell without dots. Formats and controls have categories of their own.
_SHOWS_NOTHING = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_APOSTROPHES = re.compile(r"['’‘`´]")
_SPACES = re.compile(r"\s+")


def narrow(text: str) -> str:
    """The same text, full-width and decorated letters made plain, of equal length.

    Control and format characters become spaces, so positions still match the original.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_narrow_character(character) for character in text)


def narrow_lines(text: str) -> str:
    """The same, with the ends of lines kept: in an answer they part what is said."""
    plain = narrow(text)
    return (
        plain
        if "\n" not in text
        else "".join(
            "\n" if written == "\n" else shown
            for written, shown in zip(text, plain, strict=True)
        )
    )


def _narrow_character(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) != 1:
        return character
    kind = unicodedata.category(plain)
    if kind == "Pd" or plain == "−":
        return "-"
    return " " if kind[0] in "CZ" else plain


def is_blank(text: str) -> bool:
    """Whether nobody could see anything of it."""
    return not _SHOWS_NOTHING.sub("", narrow(text)).strip()


def plain_text(text: str) -> str:
    """Lower case, plain letters, single spaces, no links; of bounded length."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    text = _MASKS.sub(" 0 ", _TAGGED.sub(" ", narrow(text)))
    text = _CARD.sub(" ", text)
    text = _APOSTROPHES.sub("", text.lower())
    return _SPACES.sub(" ", text).strip()
