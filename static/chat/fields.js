// What a tool returned, as a list of names and values. Only text nodes, whatever came.

import { el } from "./dom.js";
import { isMoney } from "./wording.js";

const DEEPEST = 5;

/** A description list of `fields`; nested lists and objects become nested lists. */
export function fieldList(fields, wording, depth = 0) {
  const rows = Object.entries(fields ?? {}).map(([name, value]) =>
    el(
      "div",
      { class: "fact" },
      el("dt", {}, wording.fieldName(name)),
      el("dd", { class: plainNumber(name) ? "mono" : null }, ...shown(name, value, wording, depth)),
    ),
  );
  return el("dl", { class: "facts" }, ...rows);
}

function shown(name, value, wording, depth) {
  if (value === null || typeof value !== "object" || isMoney(value)) {
    return [wording.value(name, value)];
  }
  if (depth >= DEEPEST) return [JSON.stringify(value)];
  if (!Array.isArray(value)) return [fieldList(value, wording, depth + 1)];
  if (value.length === 0) return [wording.words.none];
  const items = value.map((item) => el("li", {}, ...shown(name, item, wording, depth + 1)));
  return [el("ol", { class: "fact-items", role: "list" }, ...items)];
}

const plainNumber = (name) => /_id$/.test(name);
