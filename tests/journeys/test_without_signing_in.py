"""A visitor asks a rule, then an order; proves it by the mailed code; no other one."""

from __future__ import annotations

import re
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.journeys.conftest import Visitor
from tests.journeys.pages import PATIENCE, Visit
from tests.servers.product import Product

WORDS = {
    "en-GB": {
        "rule": "How do I return something?",
        "article": "How to return an item",
        "order": "Has order O-204 shipped, and where is it now?",
        "other": "And where is O-305?",
        "change": "Cancel O-204",
        "log_in": "Log in",
        "code": r"Your code is (\d{6})",
        "answer": "Parcel N-88 (SF Express) is in transit",
    },
    "zh-CN": {
        "rule": "怎么退货？",
        "article": "退货流程",
        "order": "订单 O-204 发货了吗？现在运到哪儿了？",
        "other": "那订单 O-305 到哪了？",
        "change": "取消订单 O-204",
        "log_in": "登录",
        "code": r"您的验证码是 (\d{6})",
        "answer": "包裹 N-88（顺丰速运）正在运输中",
    },
}


def come_in(visit: Visit) -> None:
    visit.open("/accounts/login/")
    visit.page.locator(".guest-form button").click()
    visit.page.wait_for_url(lambda url: urlsplit(url).path.startswith("/chat/"))


def form_of(visit: Visit) -> Locator:
    return visit.page.locator(".verify:visible")


def codes(product: Product, pattern: str) -> list[str]:
    return re.findall(pattern, product.web.output)


def mailed_code(product: Product, pattern: str, before: int) -> str:
    """The code of the mail that the demo prints, once it is there."""
    deadline = time.monotonic() + PATIENCE / 1000
    while len(found := codes(product, pattern)) <= before:
        assert time.monotonic() < deadline, "no code was mailed"
        time.sleep(0.05)
    return found[-1]


@pytest.mark.parametrize("locale", WORDS)
@pytest.mark.parametrize("width", [360, 1280])
def test_a_visitor_proves_an_order_and_sees_that_one_alone(
    locale: str, width: int, product: Product, visitor: Visitor
) -> None:
    words = WORDS[locale]
    size = {"width": width, "height": 800}
    visit = visitor(product, locale=locale, viewport=size)
    come_in(visit)
    chat = visit.chat
    assert words["article"] in chat.ask(words["rule"])

    first = chat.ask(words["order"])
    assert "N-88" not in first
    form = form_of(visit)
    expect(form.locator("[name=order]")).to_have_value("O-204")
    form.locator("[name=contact]").fill("c-lin@example.com")
    before = len(codes(product, words["code"]))
    form.get_by_role("button").first.click()

    field = form.locator("[name=code]")
    field.fill("wrong")
    field.press("Enter")
    expect(form.get_by_role("alert")).to_be_visible()
    answered = chat.answers.count()
    field.fill(mailed_code(product, words["code"], before))
    field.press("Enter")
    expect(chat.answers).to_have_count(answered + 1)
    expect(form).to_have_count(0)
    assert words["answer"] in chat.answers.last.inner_text()

    assert chat.ask(words["other"]) == first
    expect(form.locator("[name=order]")).to_have_value("O-305")
    chat.ask(words["change"])
    link = form.get_by_role("link", name=words["log_in"])
    assert link.get_attribute("href") == "/accounts/login/"
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not visit.page.evaluate(wide)

    visit.page.reload()
    chat.ready()
    assert words["answer"] in chat.everything()
    assert "c-lin@example.com" not in chat.everything()


def test_signing_in_does_not_take_the_visit_along(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product)
    come_in(visit)
    visit.chat.ask("How do I return something?")
    path = urlsplit(visit.page.url).path
    visit.open("/accounts/login/")
    expect(visit.page.get_by_role("main")).to_contain_text("stays with this visit")
    visit.page.get_by_label("User name").fill("mei")
    visit.page.get_by_label("Password").fill("waybill-demo")
    visit.page.get_by_role("main").get_by_role("button", name="Log in").click()
    visit.page.wait_for_url(lambda url: urlsplit(url).path.startswith("/chat/"))
    assert urlsplit(visit.page.url).path != path
    expect(visit.page.locator(".side")).not_to_contain_text("How do I return")
    assert visit.page.request.get(visit.url + path).status == 404


def test_another_visitor_has_no_way_in(product: Product, visitor: Visitor) -> None:
    one, two = visitor(product), visitor(product)
    for visit in (one, two):
        come_in(visit)
    path = urlsplit(one.page.url).path
    assert two.page.request.get(two.url + path).status == 404


def test_people_see_a_guest_and_may_take_over(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product)
    come_in(visit)
    visit.chat.ask("I want to talk to a person")
    conversation = visit.chat.conversation()
    ada = visitor(product, "ada")
    ada.open(f"/admin/chat/conversation/{conversation}/change/")
    expect(ada.page.locator("#content")).to_contain_text("Guest")
    ada.page.get_by_role("button", name="Take over").click()
    expect(visit.page.get_by_text("has joined and answers")).to_be_visible()
    visit.chat.say("hello?")
    ada.page.reload()
    expect(ada.page.locator("#content")).to_contain_text("hello?")
