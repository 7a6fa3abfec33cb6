// One message that is not a run's answer: the customer's, a person's, or a notice.

import { cardView } from "./card_view.js";
import { el, icon, refresh } from "./dom.js";
import { timeOf } from "./run_view.js";
import { verifyView } from "./verify_view.js";

export function messageView(page) {
  const body = el("div", { class: "message-body" });
  const card = cardView(page);
  const form = verifyView(page);
  const element = el("article", {}, body, card.element, form.element);
  return {
    element,
    update(message) {
      card.update(message.card ?? null);
      form.update(message.form ?? null);
      element.className = `message message-${message.speaker}`;
      element.classList.toggle("message-waits", message.pending);
      refresh(body, { ...message, card: null, form: null }, () => contents(message, page));
    },
  };
}

function contents(message, page) {
  const { wording } = page;
  const { words } = wording;
  if (message.speaker === "notice") {
    return [icon("info"), el("p", {}, message.text)];
  }
  const role = words[message.speaker === "customer" ? "you" : message.speaker];
  const name = message.extras?.name ? `${message.extras.name} · ${role}` : role;
  return [
    el(
      "header",
      { class: message.speaker === "customer" ? "unseen" : "run-head" },
      message.speaker === "staff" && icon("person"),
      message.speaker === "assistant" && icon("mark", "mark-sign mark-small"),
      el("strong", {}, name ?? message.speaker),
    ),
    el("p", { class: "message-text" }, message.text),
    el("footer", { class: "message-foot" }, ...foot(message, page)),
  ];
}

function foot(message, { wording, resend, discard }) {
  const { words } = wording;
  if (message.problem) {
    return [
      el("span", { class: "message-problem" }, message.problem),
      el(
        "button",
        { type: "button", class: "link-button", onclick: () => resend(message) },
        words.retry,
      ),
      el(
        "button",
        { type: "button", class: "link-button", onclick: () => discard(message) },
        words.dismiss,
      ),
    ];
  }
  if (message.pending) return [el("span", { class: "when" }, words.sending)];
  return message.at ? [timeOf(message.at, wording)] : [];
}
