// Making and changing elements. All texts become text nodes: nothing that a server says is ever read as HTML.

const shown = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** Makes an element. `options` are `class`, `on` (listeners), `set` (properties), and attributes by their names. */
export function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "set") {
      Object.assign(node, value);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...shown(children));
  return node;
}

/** Replaces all that an element has. */
export function fill(node, ...children) {
  node.replaceChildren(...shown(children));
  return node;
}

const drawn = new WeakMap();

/**
 * Replaces what an element has by what `make()` gives, if `looks`, the values that it shows, have changed: selected text, the focus
 * and a press that has begun stay where nothing is new.
 */
export function refill(node, looks, make) {
  const text = JSON.stringify(looks);
  if (drawn.get(node) === text && node.childNodes.length) return;
  drawn.set(node, text);
  fill(node, make());
}

/** A button with a text. */
export function button(text, act, options = {}) {
  return el("button", { type: "button", on: { click: act }, ...options }, text);
}

/** A link to a place within the page. */
export function link(text, href, options = {}) {
  return el("a", { href, ...options }, text);
}

/** A field with its label above it. */
export function field(label, input, hint = "") {
  input.id ||= `f${++field.count}`;
  return el("div", { class: "field" }, el("label", { for: input.id }, label), input, hint && el("small", {}, hint));
}
field.count = 0;

/** Shows or hides an element. */
export function show(node, isShown) {
  node.hidden = !isShown;
  return node;
}

/** A list of names and values. Values are texts or elements; rows with `null` are left out. */
export function facts(rows) {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/** A small label, colored by `tone`: good, bad, warn, quiet or info. */
export function badge(text, tone = "quiet") {
  return el("span", { class: `badge ${tone}` }, text);
}
