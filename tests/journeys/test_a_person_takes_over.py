"""A person takes a conversation over, and both sides read along as it is written."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.journeys.conftest import Visitor
from tests.servers.product import Product


def test_a_person_takes_over_and_gives_back(product: Product, visitor: Visitor) -> None:
    lin = visitor(product, "lin")
    lin.chat.ask("I want to talk to a person")
    conversation = lin.chat.conversation()
    who = lin.page.locator("[data-who]")
    expect(who).to_contain_text("assistant")

    ada = visitor(product, "ada")
    ada.open(f"/admin/chat/conversation/{conversation}/change/")
    ada.page.get_by_role("button", name="Take over").click()
    expect(who).to_contain_text("a person")
    reply = ada.page.get_by_label("Write to the customer")
    reply.fill("Good morning, I am looking at it.")
    ada.page.get_by_role("button", name="Send").click()
    expect(lin.page.locator(".message-staff")).to_contain_text("I am looking at it")

    # What is being typed stays when the customer's line comes in.
    reply.fill("half a sentence")
    answers = lin.chat.answers.count()
    lin.chat.say("Has order O-204 shipped?")
    expect(ada.page.locator(".said-customer").last).to_contain_text("O-204 shipped")
    expect(reply).to_have_value("half a sentence")
    expect(lin.chat.answers).to_have_count(answers)
    lin.page.reload()
    expect(who).to_contain_text("a person")

    ada.page.get_by_role("button", name="Give back").click()
    expect(who).to_contain_text("assistant")
    assert "O-204" in lin.chat.ask("Has order O-204 shipped?")
