// The few DOM helpers that the page needs. Everything that people or machines wrote goes
// through text nodes; nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";
let sprite = "";

/** Tells icon() where the sprite lives; the address carries a hash in production. */
export function useSprite(address) {
  sprite = address;
}

/**
 * An element with attributes, listeners (`onclick`) and children. Children that are null,
 * undefined or false are left out; strings become text nodes.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child || child === 0));
  return node;
}

export function icon(name, className = "icon") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}

const mounted = new WeakMap();

/**
 * Shows `models` as children of `parent`, in order, keeping the element of each key.
 * `make(model)` gives `{element, update(model)}`; an element stays in place while its key
 * stays, so that focus, selection and open details survive.
 */
export function keyed(parent, models, keyOf, make) {
  const before = mounted.get(parent) ?? new Map();
  const after = new Map();
  let place = parent.firstElementChild;
  for (const model of models) {
    const key = keyOf(model);
    const view = before.get(key) ?? make(model);
    view.update(model);
    after.set(key, view);
    before.delete(key);
    if (view.element === place) place = place.nextElementSibling;
    else parent.insertBefore(view.element, place);
  }
  for (const view of before.values()) view.element.remove();
  mounted.set(parent, after);
}

/** Replaces the children of `node` only when `sign` differs from the last one. */
export function refresh(node, sign, build) {
  const next = JSON.stringify(sign ?? null);
  if (node.dataset.sign === next) return;
  node.dataset.sign = next;
  node.replaceChildren(...[build()].flat().filter(Boolean));
}
