"""Cards over the socket: shown by the run that stops for them, agreed to by a frame."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from chatbot.chat import services
from chatbot.chat.launch import Launcher
from chatbot.chat.models import Conversation
from chatbot.llm.scripted_model import call
from chatbot.workflow.sweep import Sweeper
from tests.cast import Person
from tests.chat.conftest import Browser, Page, World, say, until, until_stopped
from tests.react.play import Shop
from tools.actions.states import RequestState
from tools.backends.store.models import StoreEffect
from tools.backends.store.seeding.shop import seed_the_named
from tools.database import in_database
from tools.models import ActionRequest


@pytest.fixture
async def shop(world: World) -> AsyncIterator[Shop]:
    """The demo shop, a model that wants to cancel O-205, and the sweep of a process."""
    await in_database(seed_the_named, now=timezone.now())
    world.shop = Shop({"cancel_order:O205": {"eligible": True, "order_id": "O-205"}})
    world.plays(call("cancel_order", order_id="O-205"))
    sweeper = Sweeper()
    sweeper.start()
    yield world.shop
    await sweeper.stop()


async def proposed(page: Page, text: str = "Please cancel O-205") -> dict[str, Any]:
    """The card that the run which answers ``text`` puts on its answer."""
    await page.say(text)
    await page.hear_until("run.stopped")
    answer = next(e for e in reversed(page.log) if e["type"] == "message")
    card: dict[str, Any] = answer["extras"]["card"]
    return card


async def news(page: Page, *states: str) -> list[str]:
    """What the page is told until a card comes in one of these states."""
    texts = []
    while True:
        entry = await page.hear_until("message")
        texts.append(entry["text"])
        if entry["extras"].get("card", {}).get("state") in states:
            return texts


async def effects() -> int:
    return await in_database(StoreEffect.objects.count)


async def state_of(card: dict[str, Any]) -> str:
    row = await in_database(ActionRequest.objects.get, pk=card["request"])
    return str(row.state)


async def test_a_run_that_stops_for_a_change_shows_its_card(
    browser: Browser, conversation: Conversation, shop: Shop
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    assert page.log[-1]["reason"] == "awaiting_approval"
    assert (card["kind"], card["order"], card["state"]) == (
        "cancel_order",
        "O-205",
        "proposed",
    )
    assert card["amount"] == {"amount": "207.00", "currency": "CNY"}
    assert [field["name"] for field in card["fields"]] == ["reason"]
    assert await effects() == 0


async def test_confirm_makes_the_change_once_and_tells_it(
    browser: Browser, conversation: Conversation, shop: Shop
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    frame = {
        "request": card["request"],
        "hash": card["hash"],
        "fields": {"reason": "no longer needed"},
    }
    for _ in range(3):
        await page.send("card.confirm", **frame)
    texts = await news(page, "succeeded")
    assert any("O-205" in text for text in texts)
    assert await effects() == 1


async def test_saying_yes_makes_nothing(
    browser: Browser, conversation: Conversation, shop: Shop
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    for text in ("yes", "确认", "I confirm, do it now"):
        await proposed(page, text)
    assert await state_of(card) == RequestState.PROPOSED
    assert await effects() == 0


async def test_not_now_ends_the_card(
    browser: Browser, conversation: Conversation, shop: Shop
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    await page.send("card.withdraw", request=card["request"])
    await news(page, "withdrawn")
    frame = {"request": card["request"], "hash": card["hash"]}
    await page.send("card.confirm", **frame, fields={"reason": "no longer needed"})
    await page.send("ping")
    await page.hear_until("pong", "error")
    assert (await state_of(card), await effects()) == ("withdrawn", 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"hash": "0" * 64}, "card_changed"),
        ({"fields": {}}, "card_incomplete"),
        ({"fields": {"order_id": "O-204"}}, "card_incomplete"),
        ({"fields": {"reason": "because"}}, "card_refused"),
        ({"request": str(uuid4())}, "no_such_card"),
        ({"request": "x"}, "bad_frame"),
        ({"hash": 5}, "bad_frame"),
        ({"fields": []}, "bad_frame"),
        ({"fields": {"reason": 5}}, "bad_frame"),
        ({"fields": {"reason": "x" * 201}}, "bad_frame"),
        ({"fields": {"reason": "a\u0007b"}}, "bad_frame"),
        ({"fields": {"items": [1]}}, "bad_frame"),
        ({"fields": {f"f{n}": "" for n in range(21)}}, "bad_frame"),
    ],
)
async def test_a_confirm_that_is_not_right_is_refused_with_its_reason(
    browser: Browser,
    conversation: Conversation,
    shop: Shop,
    change: dict[str, Any],
    code: str,
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    frame = {
        "request": card["request"],
        "hash": card["hash"],
        "fields": {"reason": "no longer needed"},
    }
    await page.send("card.confirm", **{**frame, **change})
    error = await page.hear_until("error")
    assert error["code"] == code
    assert error["text"]
    assert "{" not in error["text"]
    assert (await state_of(card), await effects()) == ("proposed", 0)


async def test_a_card_of_another_conversation_is_no_card(
    browser: Browser, conversation: Conversation, shop: Shop, mei: Person
) -> None:
    page = await browser.opened(conversation)
    card = await proposed(page)
    hers = await in_database(Browser, mei)
    other = await in_database(
        services.start_conversation, account=mei.account, now=timezone.now()
    )
    foreign = await hers.opened(other)
    frame = {"request": card["request"], "hash": card["hash"]}
    await foreign.send("card.confirm", **frame, fields={"reason": "no longer needed"})
    assert (await foreign.hear_until("error"))["code"] == "no_such_card"
    await foreign.send("card.withdraw", request=card["request"])
    assert (await foreign.hear_until("error"))["code"] == "no_such_card"
    await foreign.leave()
    assert (await state_of(card), await effects()) == ("proposed", 0)


async def test_what_the_rules_forbid_meanwhile_is_said_instead_of_a_card(
    world: World, conversation: Conversation, shop: Shop
) -> None:
    world.shop = Shop({"cancel_order:O204": {"eligible": True, "order_id": "O-204"}})
    world.scripts = [[call("cancel_order", order_id="O-204")]]
    await say(conversation, "Please cancel O-204")
    run = await until_stopped(conversation)
    answer = await in_database(conversation.messages.filter(speaker="assistant").get)
    assert run.stop_reason == "refused_action"
    assert "card" not in answer.extras
    assert answer.text.startswith("Nothing was changed.")
    assert "shipped" in answer.text
    assert await in_database(ActionRequest.objects.count) == 0


async def test_a_suspended_run_is_over_whatever_happens_to_its_processes(
    world: World, conversation: Conversation, shop: Shop
) -> None:
    """A restart, a sweep, an approval: nothing is asked of model or tools again."""
    await say(conversation, "Please cancel O-205")
    run = await until_stopped(conversation)
    before = (len(world.models), list(shop.calls))
    restarted = Launcher()
    restarted.sweep(hands_on=False)

    async def swept() -> bool:
        return await restarted.sweep_once() == 0

    await until(swept)
    assert restarted.start(run.pk) is not None

    async def idle() -> bool:
        return restarted.carried == 0

    await until(idle)
    await restarted.drain()
    assert (len(world.models), shop.calls) == before
    assert await in_database(run.steps.filter(kind="stopped").count) == 1
    assert await in_database(ActionRequest.objects.count) == 1
