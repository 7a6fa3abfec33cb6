// One run on the page: who answers, the steps as stops on a route, the answer, its proof.

import { el, icon, keyed, refresh } from "./dom.js";
import { answerView } from "./answer_view.js";
import { fieldList } from "./fields.js";
import { tone } from "./wording.js";

const TOOL_ICONS = {
  get_order: "order",
  list_my_orders: "list",
  track_shipment: "truck",
  get_refund: "refund",
  search_help: "help",
  cancel_order: "order",
  change_address: "pin",
  change_profile_address: "pin",
  change_payment: "refund",
  change_items: "order",
  return_items: "back",
  exchange_items: "back",
  request_refund: "refund",
  check_action: "order",
};
const SIDE_ICONS = { refused: "block", sent_back: "back", note: "info" };

/** `page` carries wording and what buttons do: openEvidence, send, retry, rate. */
export function runView(page) {
  const head = el("header", { class: "run-head" });
  const summary = el("summary", { class: "route-summary" });
  const stops = el("ol", { class: "route", role: "list", "aria-live": "off" });
  const route = el("details", { class: "route-box", open: true }, summary, stops);
  const live = el("p", { class: "run-live", "aria-live": "off" });
  const answer = answerView(page);
  const element = el("article", { class: "run" }, head, route, live, answer.element);
  let folded = false;
  let touched = false;
  summary.addEventListener("click", () => (touched = true));

  return {
    element,
    update(part) {
      element.dataset.run = part.run;
      element.classList.toggle("run-is-live", part.live);
      element.classList.toggle("run-follows", !part.first);
      refresh(head, [part.model, part.modelKind, part.at], () => heading(part, page));
      route.hidden = part.steps.length === 0;
      keyed(stops, part.steps, (step) => step.key, () => stopView(page));
      refresh(summary, [part.steps.length, part.stopped, part.live], () =>
        routeSummary(part, page),
      );
      refresh(live, liveText(part, page), () => liveRow(part, page));
      live.hidden = !part.live;
      answer.update(part);
      // The newest run keeps its steps in view; older ones fold, unless someone chose.
      if (part.older && !folded && !touched) route.open = false;
      folded = Boolean(part.older);
    },
  };
}

function heading(part, { wording }) {
  const { words } = wording;
  const name = part.modelKind === "offline" ? words.offline_model : part.model;
  return [
    icon("mark", "mark-sign mark-small"),
    el("strong", {}, words.assistant),
    name && el("span", { class: "run-model" }, name),
    part.at && timeOf(part.at, wording),
  ];
}

export function timeOf(at, wording) {
  return el(
    "time",
    { datetime: at, title: wording.exactTime(at), class: "when" },
    wording.clock(at),
  );
}

function routeSummary(part, { wording }) {
  const took = part.stopped ? wording.seconds(part.stopped.duration_ms ?? 0) : "";
  const facts = [wording.counted("steps", part.steps.length), took];
  return [
    icon("chevron", "icon chevron"),
    el("span", {}, facts.filter(Boolean).join(" · ")),
    part.stopped && el("span", { class: "route-end" }, wording.reason(part.stopped.reason)),
  ];
}

function liveText(part, { wording, stopping }) {
  const { words } = wording;
  if (!part.live) return "";
  if (stopping()) return words.stopping;
  const last = part.steps.at(-1);
  if (!last) return part.model ? words.reading : words.thinking;
  if (last.kind === "call" && !last.observed) return words.waiting;
  return last.kind === "call" ? words.writing : words.thinking;
}

function liveRow(part, page) {
  return [
    el("span", { class: "pulse", "aria-hidden": "true" }),
    el("span", {}, liveText(part, page)),
  ];
}

function stopView(page) {
  const element = el("li", { class: "stop" });
  let open = false;
  return {
    element,
    update(step) {
      refresh(element, step, () => [
        el(
          "span",
          { class: `stop-dot stop-${tone(step)}`, "aria-hidden": "true" },
          icon(step.kind === "call" ? (TOOL_ICONS[step.tool] ?? "info") : SIDE_ICONS[step.kind]),
        ),
        step.kind === "call" ? callDetails(step, page) : sideLine(step, page),
      ]);
      const box = element.querySelector("details");
      if (!box) return;
      box.open = open;
      box.addEventListener("toggle", () => (open = box.open));
    },
  };
}

function sideLine(step, { wording }) {
  return el(
    "p",
    { class: "stop-side" },
    el("span", {}, wording.side(step)),
    timeOf(step.at, wording),
  );
}

function callDetails(step, { wording }) {
  const { words } = wording;
  const row = (name, value) =>
    value && el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, value));
  return el(
    "details",
    { class: "stop-box" },
    el(
      "summary",
      {},
      el("span", { class: "stop-call" }, wording.call(step)),
      el(
        "span",
        { class: `stop-outcome stop-outcome-${tone(step)}` },
        step.observed ? wording.outcome(step) : "",
      ),
      timeOf(step.at, wording),
      icon("chevron", "icon chevron"),
    ),
    el(
      "div",
      { class: "stop-details" },
      step.thought && el("p", { class: "stop-note" }, step.thought),
      el(
        "dl",
        { class: "facts" },
        row(words.tool, el("code", { class: "mono" }, step.tool)),
        row(words.arguments, fieldList(step.arguments, wording)),
        step.observed && row(words.result, words.value[step.status] ?? step.status),
        step.source && row(words.source, wording.source(step.source)),
        step.observed_at && row(words.observed, wording.exactTime(step.observed_at)),
        step.observed && row(words.duration, wording.seconds(step.duration_ms ?? 0)),
      ),
      step.repeated && el("p", { class: "mute" }, words.repeated),
      step.observed && Object.keys(step.fields ?? {}).length > 0
        ? fieldList(step.fields, wording)
        : null,
    ),
  );
}
