// The line above the composer: how the connection stands, and errors, kindly.

import { el, icon } from "./dom.js";
import { say } from "./wording.js";

const PATIENCE = 1_200; // ms before a short loss is worth a word

export function banner(place, { wording, loginUrl, guest, reconnect }) {
  const { words } = wording;
  let timer = 0;
  let errorTimer = 0;

  const notice = (kind, sign, text, action) =>
    el(
      "div",
      { class: `notice notice-${kind}` },
      icon(sign),
      el("span", { class: "notice-text" }, text),
      action,
    );
  const button = (text, onclick) =>
    el("button", { type: "button", class: "button button-small", onclick }, text);

  const states = {
    reconnecting: () => notice("warn", "offline", words.reconnecting),
    offline: () => notice("warn", "offline", words.offline),
    crowded: () => notice("warn", "clock", words.too_many_sockets),
    idle: () => notice("info", "clock", words.idle, button(words.continue_here, reconnect)),
    superseded: () =>
      notice("info", "info", words.superseded, button(words.continue_here, reconnect)),
    not_allowed: () => notice("bad", "block", words.not_allowed),
    signed_out: () =>
      notice(
        "bad",
        "leave",
        guest ? words.guest_over : words.signed_out,
        guest
          ? el("a", { class: "button button-small", href: "/" }, words.start_again)
          : el("a", { class: "button button-small", href: loginUrl }, words.log_in_again),
      ),
  };

  return {
    connection(state) {
      clearTimeout(timer);
      const show = () => place.replaceChildren(...(states[state] ? [states[state]()] : []));
      // A quick reconnect should not flicker; the rest is said at once.
      if (state === "reconnecting" && !place.hasChildNodes()) {
        timer = setTimeout(show, PATIENCE);
      } else {
        show();
      }
    },
    error(frame) {
      clearTimeout(errorTimer);
      const text =
        frame.text ||
        (frame.retry_after
          ? say(words.error_retry, { seconds: Math.ceil(frame.retry_after) })
          : words.error);
      const box = notice("bad", "alert", text, button(words.dismiss, () => box.remove()));
      place.querySelector(".notice-bad")?.remove();
      place.append(box);
      errorTimer = setTimeout(() => box.remove(), 12_000);
    },
  };
}
