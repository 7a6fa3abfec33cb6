// One message that is not a run's answer: the customer's, a person's, or a notice.

import { el, icon, refresh } from "./dom.js";
import { timeOf } from "./run_view.js";

export function messageView(page) {
  const element = el("article", {});
  return {
    element,
    update(message) {
      element.className = `message message-${message.speaker}`;
      element.classList.toggle("message-waits", message.pending);
      refresh(element, message, () => contents(message, page));
    },
  };
}

function contents(message, page) {
  const { wording } = page;
  const { words } = wording;
  if (message.speaker === "notice") {
    return [icon("info"), el("p", {}, message.text)];
  }
  const name = words[message.speaker === "customer" ? "you" : message.speaker];
  return [
    el(
      "header",
      { class: message.speaker === "customer" ? "unseen" : "run-head" },
      message.speaker !== "customer" && icon("person"),
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
