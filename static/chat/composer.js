// Where the customer writes. Enter sends, except while an input method composes.

import { say } from "./wording.js";

/**
 * `send(text)` takes a message, `stop()` ends the run. The draft is kept per conversation,
 * so that a reload loses no half-written line.
 */
export function composer(form, { wording, conversation, limit, send, stop }) {
  const field = form.querySelector("textarea");
  const sendButton = form.querySelector("[data-send]");
  const stopButton = form.querySelector("[data-stop]");
  const counter = form.parentElement.querySelector("[data-counter]");
  const draftKey = `waybill.draft.${conversation}`;
  let longest = limit;

  field.value = load(draftKey);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", () => {
    save(draftKey, field.value);
    settle();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    submit();
  });
  stopButton.addEventListener("click", () => {
    stop();
    field.focus();
  });
  settle();

  function submit() {
    const text = field.value.trim();
    if (!text || length(text) > longest) return;
    send(text);
    field.value = "";
    save(draftKey, "");
    settle();
    field.focus();
  }

  function settle() {
    const over = length(field.value.trim()) - longest;
    sendButton.disabled = !field.value.trim() || over > 0;
    counter.textContent = over > 0 ? say(wording.words.too_long, { n: over }) : "";
    field.setAttribute("aria-invalid", String(over > 0));
    // CSSOM, not a style attribute: the page's policy allows no inline style.
    field.style.blockSize = "auto";
    field.style.blockSize = `${Math.min(field.scrollHeight, innerHeight * 0.35)}px`;
  }

  return {
    focus: () => field.focus(),
    /** Puts a text back that could not be sent. */
    restore(text) {
      field.value = field.value ? `${text}\n${field.value}` : text;
      save(draftKey, field.value);
      settle();
    },
    setLimit(characters) {
      longest = characters;
      settle();
    },
    setRunning(running, stopping) {
      stopButton.hidden = !running;
      stopButton.disabled = stopping;
    },
  };
}

// 229 is what older engines report for a key that an input method took (Safari sends
// the closing Enter after compositionend, with isComposing already false).
const composing = (event) => event.isComposing || event.keyCode === 229;

// The server counts code points, as Python does, not UTF-16 units.
const length = (text) => Array.from(text).length;

function load(key) {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function save(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Storage is off: the draft lives as long as the page.
  }
}
