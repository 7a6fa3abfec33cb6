"""The small things: phone width, languages, keyboard, thumbs, transcript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import Visitor
from tests.servers.product import Product

PHONE = {"width": 360, "height": 740}


def test_a_visitor_meets_the_product_and_tries_it(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product)
    visit.open("/")
    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    visit.page.get_by_role("button", name="Try it as Lin").click()
    visit.chat.ready()
    expect(visit.page.get_by_text("not a person")).to_be_visible()


def test_logging_in_out_and_wrong(product: Product, visitor: Visitor) -> None:
    visit = visitor(product)
    visit.open("/accounts/login/")
    visit.page.get_by_label("User name").fill("lin")
    visit.page.get_by_label("Password").fill("wrong")
    visit.page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(visit.page.get_by_role("alert")).to_be_visible()
    visit.try_as("lin")
    visit.page.get_by_role("button", name="Log out").click()
    expect(visit.page.get_by_role("button", name="Try it as Lin")).to_be_visible()


def test_everything_fits_on_a_phone(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin", viewport=PHONE, has_touch=True)
    visit.chat.ask("Has order O-204 shipped, and where is it now?")
    width = "document.documentElement.scrollWidth"
    assert visit.page.evaluate(width) <= PHONE["width"]
    visit.chat.stops.first.locator("summary").click()
    assert visit.page.evaluate(width) <= PHONE["width"]
    expect(visit.chat.box).to_be_in_viewport()
    visit.chat.run.locator("button.chip").first.click()
    expect(visit.page.get_by_role("dialog")).to_be_in_viewport()
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="Conversations").click()
    drawer = visit.page.get_by_role("dialog", name="Conversations")
    expect(drawer.get_by_role("button", name="New conversation")).to_be_in_viewport()
    visit.page.keyboard.press("Escape")
    for path in ("/", "/help/", "/accounts/login/"):
        visit.context.clear_cookies()
        visit.open(path)
        assert visit.page.evaluate(width) <= PHONE["width"], path


def test_the_page_speaks_the_browsers_language_and_can_be_switched(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin", locale="zh-CN")
    expect(visit.page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(visit.page.get_by_role("button", name="新对话")).to_be_visible()
    visit.page.get_by_role("button", name="English").click()
    expect(visit.page.locator("html")).to_have_attribute("lang", "en")
    expect(visit.page.get_by_role("button", name="New conversation")).to_be_visible()
    visit.page.reload()
    expect(visit.page.locator("html")).to_have_attribute("lang", "en")


def test_enter_sends_except_while_an_input_method_composes(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    chat = visit.chat.ready()
    chat.box.fill("nihao")
    for detail in ("{isComposing: true}", "{keyCode: 229}"):
        chat.box.evaluate(
            "box => box.dispatchEvent(new KeyboardEvent('keydown',"
            f" {{key: 'Enter', bubbles: true, cancelable: true, ...{detail}}}))"
        )
    expect(chat.box).to_have_value("nihao")
    chat.box.press("Shift+Enter")
    chat.box.press("End")
    expect(chat.box).to_have_value("nihao\n")
    chat.box.press("Enter")
    expect(chat.said).to_have_text(["nihao"])
    expect(chat.box).to_have_value("")
    expect(chat.box).to_be_focused()


def test_the_keyboard_alone_is_enough(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin")
    chat = visit.chat
    chat.ask("Has order O-204 shipped, and where is it now?")
    visit.page.locator("body").press("Tab")
    reached: set[str] = set()
    for _ in range(40):
        focused = visit.page.evaluate(
            "[document.activeElement.className, document.activeElement.tagName,"
            " getComputedStyle(document.activeElement).outlineStyle].join('|')"
        )
        reached.add(focused)
        visit.page.keyboard.press("Tab")
    for name in ("chip|BUTTON|solid", "skip|A|solid", "answer-link|A|solid"):
        assert name in reached
    assert any(name.startswith("|SUMMARY|solid") for name in reached)


def test_a_thumb_with_a_comment_is_there_after_a_reload(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    visit.chat.ask("Has order O-204 shipped, and where is it now?")
    down = visit.chat.run.get_by_role("button", name="Not helpful")
    down.click()
    comment = visit.chat.run.get_by_role("textbox")
    expect(comment).to_be_focused()
    comment.fill("I wanted the street")
    visit.chat.run.get_by_role("button", name="Send").click()
    expect(visit.chat.run.get_by_text("Thank you")).to_be_visible()
    visit.page.reload()
    expect(down).to_have_attribute("aria-pressed", "true")


def test_the_transcript_holds_what_was_said_and_its_sources(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    answer = visit.chat.ask("Has order O-204 shipped, and where is it now?")
    with visit.page.expect_download() as download:
        visit.page.get_by_role("link", name="Download this conversation").click()
    text = download.value.path().read_text("utf-8")
    assert download.value.suggested_filename.endswith(".txt")
    assert answer.splitlines()[0] in text
    assert "shop" in text
    mei = visitor(product, "mei")
    theirs = mei.page.request.get(
        f"{product.url}/chat/{visit.chat.conversation()}/transcript/"
    )
    assert theirs.status == 404


def test_history_leads_back_to_an_older_conversation(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "mei")
    visit.chat.ask("Where is O-305?")
    older = visit.chat.conversation()
    visit.page.get_by_role("button", name="New conversation").click()
    expect(visit.page.locator("[data-welcome]")).to_be_visible()
    assert visit.chat.conversation() != older
    visit.page.locator(f'a[href="/chat/{older}/"]').click()
    expect(visit.chat.said.first).to_have_text("Where is O-305?")


def test_asking_for_a_person_hands_over(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "mei")
    visit.chat.ask("I want to talk to a person")
    expect(visit.page.get_by_text("A person will look at this")).to_be_visible()


def test_a_suggestion_is_sent_as_it_reads(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "mei")
    visit.chat.ready()
    suggestion = visit.page.locator("[data-suggest]").first
    text = suggestion.inner_text()
    suggestion.click()
    expect(visit.chat.said).to_have_text([text])


def test_light_and_dark_are_remembered(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin", color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = visit.page.evaluate(paper)
    visit.page.get_by_role("button", name="Light or dark").click()
    dark = visit.page.evaluate(paper)
    assert dark != light
    visit.page.reload()
    assert visit.page.evaluate(paper) == dark


def test_offline_is_said_and_what_is_written_waits(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "mei")
    chat = visit.chat.ready()
    visit.context.set_offline(True)
    expect(visit.page.get_by_text("You are offline")).to_be_visible()
    chat.say("Where is O-305?")
    expect(chat.said).to_have_text(["Where is O-305?"])
    visit.context.set_offline(False)
    expect(chat.answers).to_have_count(1)
    expect(visit.page.get_by_text("You are offline")).to_be_hidden()


def test_a_sign_out_elsewhere_is_said(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin")
    visit.chat.ready()
    other = visit.context.new_page()
    other.goto(visit.page.url)
    other.get_by_role("button", name="Log out").click()
    expect(visit.page.get_by_text("You have been signed out")).to_be_visible()


@pytest.mark.parametrize(
    "path", ["/nothing/", "/chat/00000000-0000-0000-0000-000000000000/"]
)
def test_what_is_not_there_is_said_kindly(
    path: str, product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    answer = visit.page.goto(product.url + path)
    assert answer is not None
    assert answer.status == 404
    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    visit.complaints.clear()  # Chromium logs the 404 itself


@pytest.mark.parametrize("width", [360, 1280])
def test_a_short_message_stands_on_one_line(
    product: Product, visitor: Visitor, width: int
) -> None:
    visit = visitor(product, "lin", viewport={"width": width, "height": 740})
    visit.chat.ask("Where is my order?")
    text = visit.chat.said.last
    lines = text.evaluate(
        "el => { const range = document.createRange(); range.selectNodeContents(el);"
        " return range.getClientRects().length }"
    )
    assert lines == 1
