// The sheet that shows what was really read: opened from a chip under an answer.

import { el, icon } from "./dom.js";
import { fieldList } from "./fields.js";

export function evidenceSheet(wording) {
  const { words } = wording;
  // Long evidence is scrolled with the keys as well.
  const body = el("div", {
    class: "sheet-body",
    role: "group",
    tabindex: "0",
    "aria-labelledby": "sheet-title",
  });
  const title = el("h2", { id: "sheet-title", tabindex: "-1" }, words.evidence_title);
  const close = el(
    "button",
    {
      type: "button",
      class: "button button-quiet button-icon",
      "aria-label": words.dismiss,
      onclick: () => dialog.close(),
    },
    icon("close"),
  );
  const dialog = el(
    "dialog",
    { class: "sheet", "aria-labelledby": "sheet-title" },
    el("header", { class: "sheet-head" }, title, close),
    body,
  );
  // A press on the backdrop hits the dialog itself, never its children.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);

  return {
    /** `step` is the observation with its call, or null when this page lacks it. */
    open(proof, step) {
      body.replaceChildren(...contents(proof, step, wording));
      dialog.showModal();
      body.scrollTop = 0;
      title.focus();
    },
  };
}

function contents(proof, step, wording) {
  const { words } = wording;
  const row = (name, value) =>
    el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, value));
  const facts = Array.isArray(proof.facts) ? proof.facts : [];
  return [
    el(
      "div",
      { class: "ticket" },
      el("p", { class: "ticket-call" }, step ? wording.call(step) : proof.tool),
      el(
        "dl",
        { class: "facts" },
        row(words.source, wording.source(proof.source)),
        row(words.observed, wording.exactTime(proof.observed_at)),
      ),
    ),
    facts.length > 0 && el("h3", {}, words.evidence_facts),
    facts.length > 0 &&
      el(
        "dl",
        { class: "facts facts-used" },
        facts.map((fact) => row(nameOf(fact.path, wording), valueOf(fact, wording))),
      ),
    el("h3", {}, words.evidence_all),
    step ? fieldList(step.fields, wording) : el("p", { class: "mute" }, words.evidence_gone),
  ].filter(Boolean);
}

// "parcels[].tracking_id", "events[0].at" -> the last name of the path.
const lastName = (path) => String(path ?? "").split(".").at(-1).replace(/\[\d*\]$/, "");
const nameOf = (path, wording) => wording.fieldName(lastName(path));

function valueOf(fact, wording) {
  const value = fact.value ?? fact.text;
  return typeof value === "object" && value !== null && !("amount" in value)
    ? String(fact.text ?? "")
    : wording.value(lastName(fact.path), value);
}
