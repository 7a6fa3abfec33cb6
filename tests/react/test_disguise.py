"""What a reader sees and a check of words would not: hidden, twin and split letters."""

from __future__ import annotations

import pytest

from chatbot.react.grounding.disguise import disguised
from tests.react.world import cover, order, shipment

ASKED = "Has O-204 shipped, and where is it now?"
TRUE = "O-204 has shipped. Parcel N-88 is in transit; it is now at Lyon hub. "


@pytest.mark.parametrize(
    "said",
    [
        "It will arrive to\u200bmorrow.",
        "Its place is B\u00aderlin.",
        "It is in B\u2060er\ufe0flin.",
        "It is in \u202enilreB\u202c.",
        "It is in B\u0336e\u0336r\u0336l\u0336i\u0336n\u0336.",
        "It is in \u0412erlin.",
        "It is in \u0299erlin.",
        "It is in B\u200aerlin.",
        "It is in Ber**lin**.",
        "It is in B.e.r.l.i.n now.",
        "包裹在岳\u200b阳。",
        "包裹在石 家 庄。",
    ],
)
def test_a_disguised_word_is_refused_whatever_it_says(said: str) -> None:
    coverage = cover(ASKED, TRUE + said, order(), shipment())
    assert not coverage.passed
    assert "disguised" in [one.why for one in coverage.unsupported]


@pytest.mark.parametrize(
    "said",
    [
        "Enjoy your café, naïve façade, Köln and cafe\u0301.",
        "Good news \U0001f468\u200d\U0001f469\u200d\U0001f467 1\ufe0f\u20e3!",
        "e.g. i.e. the U.S.A. and 10\u202fkg",
        "**Status:** shipped",
        "中文，English 和 2026 年",
    ],
)
def test_plain_writing_is_no_disguise(said: str) -> None:
    assert disguised(said, ()) == ""


def test_what_the_data_or_the_customer_wrote_so_may_be_quoted() -> None:
    assert (
        disguised(
            "Your \u0412\u0430\u0437\u0430 is packed.", ["\u0412\u0430\u0437\u0430"]
        )
        == ""
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Arrival: Dec. twenty-ninth.", "not_observed"),
        ("It arrives on the twenty-ninth of December.", "not_observed"),
        ("It arrives on the twenty-ninth.", "not_observed"),
        ("Your pickup code is 1934.", "not_observed"),
        ("取件码 8-2-1934。", "not_observed"),
        ("It went to 12 Main Street.", "not_observed"),
        ("Customs is holding the parcel.", "not_observed"),
        ("It's lost.", "not_observed"),
        ("包裹已破损。", "not_observed"),
        ("由邻居代收。", "not_observed"),
        ("Your refund is on its way.", "not_observed"),
        ("Please scan the QR code to pay.", "nothing_backs_it"),
        ("Please verify your bank card.", "nothing_backs_it"),
        ("Shipping was free of charge.", "nothing_backs_it"),
    ],
)
def test_further_inventions_are_named(said: str, why: str) -> None:
    coverage = cover(ASKED, TRUE + said, order(), shipment())
    assert why in [one.why for one in coverage.unsupported]
    assert cover(ASKED, TRUE, order(), shipment()).passed
