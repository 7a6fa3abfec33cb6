// The end of a run: the answer with its proof, links and choices, and what one can do next.

import { cardView } from "./card_view.js";
import { el, icon, refresh } from "./dom.js";
import { verifyView } from "./verify_view.js";
import { say } from "./wording.js";

const MOST = 3; // facts named on a chip; the sheet shows all

export function answerView(page) {
  const text = el("p", { class: "answer-text" });
  const proof = el("div", { class: "proof" });
  const links = el("div", { class: "answer-links" });
  const options = el("div", { class: "options" });
  const ending = el("div", { class: "ending" });
  const card = cardView(page);
  const form = verifyView(page);
  const feedback = feedbackView(page);
  const element = el(
    "div",
    { class: "answer" },
    text,
    card.element,
    form.element,
    proof,
    links,
    options,
    ending,
    feedback.element,
  );
  return {
    element,
    update(part) {
      const { answer, stopped } = part;
      const extras = answer?.extras ?? {};
      element.hidden = !answer && !stopped;
      refresh(text, answer?.text, () => answer?.text);
      text.hidden = !answer;
      card.update(part.card ?? null);
      form.update(part.form ?? null);
      const evidence = list(extras.evidence);
      refresh(proof, evidence, () => chips(evidence, part, page));
      proof.hidden = evidence.length === 0;
      const safe = list(extras.links).filter((link) => safeAddress(link?.url));
      refresh(links, safe, () => safe.map((link) => linkTo(link, page)));
      links.hidden = safe.length === 0;
      const open = part.newest ? list(extras.options) : [];
      refresh(options, open, () => choices(open, page));
      options.hidden = open.length === 0;
      const what = [stopped, part.newest, Boolean(answer)];
      refresh(ending, what, () => endingOf(part, page));
      ending.hidden = !ending.hasChildNodes();
      feedback.update(part);
    },
  };
}

function chips(evidence, part, page) {
  const { wording } = page;
  const buttons = evidence.map((proof) => {
    const facts = list(proof.facts).map((fact) => fact.text || String(fact.value ?? ""));
    const label = [...new Set(facts)].filter(Boolean).slice(0, MOST).join(", ") || proof.tool;
    return el(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-haspopup": "dialog",
        "aria-label": say(wording.words.evidence_open, { text: label }),
        title: facts.join(", "),
        onclick: (event) => page.openEvidence(part.run, proof, event.currentTarget),
      },
      icon("check"),
      el("span", { class: "chip-text" }, label),
      el("span", { class: "chip-from" },
        `${wording.source(proof.source)} · ${wording.clock(proof.observed_at)}`),
    );
  });
  return [el("span", { class: "proof-label" }, wording.words.evidence), ...buttons];
}

/** Same origin, or https elsewhere: the server's allow-list has already decided which. */
export function safeAddress(url) {
  if (typeof url !== "string") return false;
  try {
    const target = new URL(url, location.origin);
    return target.origin === location.origin || target.protocol === "https:";
  } catch {
    return false;
  }
}

function linkTo(link, { wording }) {
  const target = new URL(link.url, location.origin);
  const foreign = target.origin !== location.origin;
  return el(
    "a",
    {
      href: target.href,
      class: "answer-link",
      target: "_blank",
      rel: foreign ? "noopener noreferrer nofollow" : "noopener",
    },
    icon(foreign ? "external" : "help"),
    el("span", {}, link.text || target.hostname),
    foreign && el("span", { class: "mute" }, target.hostname),
    el("span", { class: "unseen" }, `(${wording.words.new_window})`),
  );
}

function choices(options, page) {
  return el(
    "div",
    { role: "group", "aria-label": page.wording.words.options, class: "options-row" },
    options.map((option) =>
      el(
        "button",
        { type: "button", class: "button button-small", onclick: () => page.send(option) },
        option,
      ),
    ),
  );
}

function endingOf(part, page) {
  const { stopped, answer } = part;
  const { words } = page.wording;
  if (!stopped) return [];
  const handOver = stopped.hand_over;
  return [
    stopped.reason === "cancelled" && !answer && el("p", { class: "mute" }, words.cancelled),
    handOver === "made" &&
      el(
        "div",
        { class: "handed" },
        icon("person"),
        el(
          "div",
          {},
          el("strong", {}, words.handed_title),
          el("p", {}, page.guest ? words.handed_guest : words.handed_text),
        ),
      ),
    part.newest &&
      (stopped.can_retry || handOver === "offered") &&
      el(
        "div",
        { class: "ending-row" },
        stopped.can_retry &&
          el(
            "button",
            { type: "button", class: "button button-small", onclick: () => page.retry(part.run) },
            icon("retry"),
            words.retry,
          ),
        handOver === "offered" &&
          el(
            "button",
            {
              type: "button",
              class: "button button-small",
              onclick: () => page.send(words.ask_person_text),
            },
            icon("person"),
            words.ask_person,
          ),
      ),
  ];
}

function feedbackView(page) {
  const element = el("div", { class: "feedback" });
  let rated = null;
  let asking = false;
  let thanked = false;
  let current = null;

  const rate = (helpful, comment = "") => {
    rated = helpful;
    asking = !comment;
    thanked = !asking;
    page.rate(current.answer.id, helpful, comment);
    show();
  };
  const finish = (comment) => {
    if (comment) {
      rate(rated, comment);
      return;
    }
    asking = false;
    thanked = true;
    show();
  };
  const thumb = (helpful) =>
    el(
      "button",
      {
        type: "button",
        class: "button button-quiet button-icon thumb",
        "aria-pressed": String(rated === helpful),
        "aria-label": helpful ? page.wording.words.helpful : page.wording.words.not_helpful,
        title: helpful ? page.wording.words.helpful : page.wording.words.not_helpful,
        onclick: () => rate(helpful),
      },
      icon(helpful ? "up" : "down"),
    );

  function show() {
    const { words } = page.wording;
    const hadFocus = element.contains(document.activeElement);
    element.replaceChildren(
      el("div", { class: "feedback-row" }, thumb(true), thumb(false),
        thanked &&
          el("span", { class: "mute", role: "status" }, words.feedback_thanks)),
      ...(asking ? [commentForm(words, finish)] : []),
    );
    const next = element.querySelector(asking ? "textarea" : `[aria-pressed="true"]`);
    if (hadFocus) next?.focus();
  }

  return {
    element,
    update(part) {
      current = part;
      element.hidden = !part.answer || !part.stopped;
      const ready = !element.hidden && !element.hasChildNodes();
      if (!ready) return;
      rated = page.ratings.get(part.answer.id) ?? null;
      show();
    },
  };
}

function commentForm(words, finish) {
  const field = el("textarea", {
    class: "input",
    rows: "2",
    maxlength: "1000",
    "aria-label": words.feedback_ask,
    placeholder: words.feedback_ask,
  });
  const submit = (event) => {
    event.preventDefault();
    finish(field.value.trim());
  };
  return el(
    "form",
    { class: "feedback-form", onsubmit: submit },
    field,
    el("button", { type: "submit", class: "button button-small" }, words.feedback_send),
  );
}

const list = (value) => (Array.isArray(value) ? value : []);
