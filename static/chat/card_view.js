// A card: exactly what would be changed, and the customer's own Confirm. Nothing else
// on the page agrees to anything.

import { el, icon, refresh } from "./dom.js";
import { say } from "./wording.js";

const TONES = {
  succeeded: "good",
  resolved: "good",
  proposed: "open",
  confirmed: "wait",
  approved: "wait",
  executing: "wait",
  retry_wait: "wait",
  unknown: "warn",
  refused: "bad",
  declined: "bad",
};
const WITHDRAWABLE = new Set(["confirmed"]);

export function cardView(page) {
  const element = el("section", { class: "card", tabindex: "-1" });
  // What was typed stays when the card is drawn again.
  const typed = {};
  element.addEventListener("input", ({ target }) => {
    if (target.name && target.type !== "checkbox") typed[target.name] = target.value;
  });
  let asked = null;
  let problem = "";
  let shown = null;

  const send = (work) => {
    problem = "";
    asked = shown.state;
    if (!work()) asked = null;
    show();
  };
  function show() {
    const card = shown;
    element.setAttribute("aria-label", title(card, page));
    element.dataset.state = card.state;
    element.dataset.request = card.request;
    const busy = asked === card.state;
    const held = element.contains(document.activeElement);
    refresh(element, [card, busy, problem], () =>
      contents(card, { page, busy, problem, send, typed }),
    );
    if (held && !element.contains(document.activeElement)) element.focus();
  }

  return {
    element,
    update(card) {
      element.hidden = !card;
      if (!card) return;
      const moved = shown && shown.state !== card.state;
      shown = card;
      const refused = page.cardProblem(card.request);
      if (moved) asked = null;
      else if (refused && refused !== problem) asked = null;
      problem = moved ? "" : refused;
      show();
    },
  };
}

function title(card, { wording }) {
  const { card: words } = wording.words;
  return say(words.title[card.kind] ?? words.title.other, { order: card.order });
}

function contents(card, { page, busy, problem, send, typed }) {
  const { wording } = page;
  const { card: words } = wording.words;
  const form = el(
    "form",
    {
      class: "card-form",
      onsubmit: (event) => {
        event.preventDefault();
        const fields = filledIn(form, card);
        send(() => page.confirm(card, fields));
      },
    },
    ...(card.state === "proposed" ? openFields(card, page, typed) : []),
    problem && el("p", { class: "card-problem", role: "alert" }, problem),
    el("div", { class: "card-buttons" }, ...buttons(card, { page, busy, send })),
  );
  return [
    el(
      "header",
      { class: "card-head" },
      icon(TONES[card.state] === "good" ? "check" : "order"),
      el("h2", {}, title(card, page)),
    ),
    el("dl", { class: "facts card-facts" }, ...effect(card, page)),
    form,
    el(
      "p",
      { class: `card-state card-state-${TONES[card.state] ?? "mute"}`, role: "status" },
      words.state[card.state] ?? card.state,
      card.state === "proposed" &&
        el(
          "span",
          { class: "mute" },
          ` ${say(words.until, { time: wording.time(card.expires_at) })}`,
        ),
    ),
  ];
}

function effect(card, { wording }) {
  const { card: words } = wording.words;
  const row = (name, ...value) =>
    el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, ...value));
  const rows = [];
  if (card.order) rows.push(row(wording.fieldName("order_id"), card.order));
  const items = list(card.items);
  if (items.length) rows.push(row(wording.fieldName("items"), items.join("\n")));
  for (const name of new Set([...keys(card.before), ...keys(card.after)])) {
    rows.push(
      row(
        words.field[name] ?? name,
        card.before?.[name] &&
          el("del", {}, el("span", { class: "unseen" }, `${words.before} `),
            wording.value(name, card.before[name])),
        card.after?.[name] &&
          el("ins", {}, el("span", { class: "unseen" }, `${words.after} `),
            wording.value(name, card.after[name])),
      ),
    );
  }
  if (card.amount) {
    const name = words[card.direction] ?? wording.fieldName("amount");
    rows.push(row(name, el("strong", {}, wording.value("amount", card.amount))));
  }
  return rows;
}

function openFields(card, page, typed) {
  const { card: words } = page.wording.words;
  return list(card.fields).map((field) => {
    const id = `card-${card.request}-${field.name}`;
    const name =
      words.field[`${card.kind}.${field.name}`] ?? words.field[field.name] ?? field.name;
    const options = { id, name: field.name, required: field.required };
    const value = typed[field.name] ?? field.value;
    if (field.many) {
      return el(
        "fieldset",
        { class: "card-field", "data-many": field.name },
        el("legend", {}, name),
        list(field.choices).map((choice) =>
          el(
            "label",
            { class: "card-choice" },
            el("input", { type: "checkbox", name: field.name, value: choice.value }),
            el("span", {}, choice.label),
          ),
        ),
      );
    }
    const input = list(field.choices).length
      ? el(
          "select",
          { class: "input", ...options },
          el("option", { value: "" }, words.choose),
          field.choices.map((choice) =>
            el(
              "option",
              { value: choice.value, selected: choice.value === value },
              words.choice[choice.value] ?? choice.label,
            ),
          ),
        )
      : el("input", {
          class: "input",
          type: "text",
          maxlength: 200,
          autocomplete: "off",
          value,
          ...options,
        });
    return el(
      "div",
      { class: "card-field" },
      el("label", { for: id }, name, !field.required && el("span", { class: "mute" }, ` ${words.optional}`)),
      input,
    );
  });
}

function filledIn(form, card) {
  const fields = {};
  for (const field of list(card.fields)) {
    const inputs = [...form.querySelectorAll("[name]")].filter((one) => one.name === field.name);
    fields[field.name] = field.many
      ? inputs.filter((one) => one.checked).map((one) => one.value)
      : (inputs[0]?.value.trim() ?? "");
  }
  return fields;
}

function buttons(card, { page, busy, send }) {
  const { card: words } = page.wording.words;
  const back = (text) =>
    el(
      "button",
      {
        type: "button",
        class: "button button-small",
        disabled: busy,
        onclick: () => send(() => page.withdraw(card)),
      },
      text,
    );
  if (card.state === "proposed") {
    return [
      el(
        "button",
        { type: "submit", class: "button button-main button-small", disabled: busy },
        words.confirm,
      ),
      back(words.not_now),
    ];
  }
  return WITHDRAWABLE.has(card.state) ? [back(words.withdraw)] : [];
}

const list = (value) => (Array.isArray(value) ? value : []);
const keys = (value) => Object.keys(value ?? {});
