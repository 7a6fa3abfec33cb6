// What a visitor who is not signed in may do next: prove an order by a code that is
// mailed to its buyer, or log in. What is typed here goes over the socket alone.

import { el, icon, refresh } from "./dom.js";
import { say } from "./wording.js";

export function verifyView(page) {
  const element = el("section", { class: "card verify", tabindex: "-1" });
  const typed = {};
  element.addEventListener("input", ({ target }) => (typed[target.name] = target.value));
  let shown = null;
  let again = false;

  const restart = () => {
    again = true;
    page.forgetVerifyProblem();
    show();
    element.querySelector("input")?.focus();
  };
  function show() {
    const form = again && shown.form === "code" ? { form: "verify" } : shown;
    const over = form.form === "code" && new Date(form.until) <= new Date();
    const held = element.contains(document.activeElement);
    const state = [form, over, page.verifying(), page.verifyProblem()];
    element.dataset.form = form.form;
    refresh(element, state, () => contents(form, { page, over, restart, typed }));
    element.setAttribute("aria-label", element.querySelector("h2")?.textContent ?? "");
    if (held && !element.contains(document.activeElement)) {
      (element.querySelector("input") ?? element).focus();
    }
  }

  return {
    element,
    update(form) {
      element.hidden = !form || form.form === "proved";
      if (element.hidden) return;
      if (shown && JSON.stringify(shown) !== JSON.stringify(form)) again = false;
      shown = form;
      show();
    },
  };
}

function contents(form, parts) {
  const draw = { verify: askFor, code: enter, sign_in: signIn }[form.form];
  return draw ? draw(form, parts) : [];
}

function head(sign, title) {
  return el("header", { class: "card-head" }, icon(sign), el("h2", {}, title));
}

function askFor(form, { page, typed }) {
  const { verify: words } = page.wording.words;
  const order = typed.order ?? form.order ?? "";
  return [
    head("shield", words.title),
    sheet(
      (values) => page.askForCode(values),
      field("order", words.order, {
        value: order,
        maxlength: 64,
        autocomplete: "off",
        autocapitalize: "characters",
      }),
      field("contact", words.contact, {
        value: typed.contact ?? "",
        maxlength: 254,
        autocomplete: "email",
        autocapitalize: "none",
        spellcheck: "false",
      }),
      trouble(page),
      el("div", { class: "card-buttons" }, main(words.send, page)),
    ),
    el("p", { class: "card-state mute" }, words.private),
    page.demo &&
      el(
        "p",
        { class: "card-state verify-demo" },
        el("span", {}, words.demo),
        el("span", { class: "verify-try" }, words.demo_try),
      ),
  ];
}

function enter(form, { page, over, restart }) {
  const { verify: words } = page.wording.words;
  const other = el(
    "button",
    { type: "button", class: "button button-small", onclick: restart },
    words.again,
  );
  if (over) {
    return [
      head("shield", words.code_title),
      el("p", { class: "card-state" }, words.over),
      el("div", { class: "card-buttons" }, other),
    ];
  }
  return [
    head("shield", words.code_title),
    sheet(
      ({ code }) => page.enterCode(code.replace(/\s/g, "")),
      field("code", words.code, {
        class: "input verify-code",
        inputmode: "numeric",
        maxlength: 12,
        autocomplete: "one-time-code",
      }),
      trouble(page),
      el("div", { class: "card-buttons" }, main(words.enter, page), other),
    ),
    el(
      "p",
      { class: "card-state mute" },
      say(words.until, { time: page.wording.clock(form.until) }),
    ),
  ];
}

function signIn(form, { page }) {
  const { verify: words } = page.wording.words;
  return [
    head("person", words.sign_in_title),
    el(
      "div",
      { class: "card-buttons" },
      el("a", { class: "button button-main button-small", href: page.loginUrl }, words.log_in),
    ),
  ];
}

function sheet(send, ...children) {
  return el(
    "form",
    {
      class: "card-form",
      onsubmit: (event) => {
        event.preventDefault();
        const inputs = [...event.currentTarget.querySelectorAll("input")];
        send(Object.fromEntries(inputs.map(({ name, value }) => [name, value.trim()])));
      },
    },
    ...children,
  );
}

function field(name, label, attributes) {
  const id = `verify-${name}`;
  return el(
    "div",
    { class: "card-field" },
    el("label", { for: id }, label),
    el("input", { class: "input", type: "text", id, name, required: true, ...attributes }),
  );
}

function main(text, page) {
  return el(
    "button",
    {
      type: "submit",
      class: "button button-main button-small",
      disabled: page.verifying(),
    },
    text,
  );
}

function trouble(page) {
  const problem = page.verifyProblem();
  return problem && el("p", { class: "card-problem", role: "alert" }, problem);
}
