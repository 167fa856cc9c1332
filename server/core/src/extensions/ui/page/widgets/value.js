// The value of a key as text, as folded JSON, and as a hex dump.

import { el, fill } from "../core/dom.js";
import { hexLine, size, textOf } from "../core/format.js";
import { table } from "./table.js";
import { tabs } from "./tabs.js";

/** How long a text is shown in full. */
const LONG = 200000;

/**
 * Reads a JSON text as nodes: `{ source }` of a text, number or word, or `{ parts, isList }` with pairs of name and node. Sources
 * are as they were sent: a number may have more digits than JavaScript keeps, and a name may be there twice.
 */
function nodesOf(text) {
  const root = { parts: [], isList: true };
  const open = [root];
  let name = null;
  const add = (node) => {
    const { parts, isList } = open.at(-1);
    parts.push([isList ? String(parts.length) : name, node]);
    name = null;
  };
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "{" || token === "[") {
      const node = { parts: [], isList: token === "[" };
      add(node);
      open.push(node);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === "," || token === ":") continue;
    else if (!open.at(-1).isList && name === null) name = token;
    else add({ source: token });
  }
  return root.parts[0][1];
}

const KINDS = { '"': "string", t: "boolean", f: "boolean", n: "null" };

function jsonNode({ source, parts, isList }, name = null, depth = 0) {
  const label = name === null ? [] : [el("span", { class: "json-name" }, name), ": "];
  if (!parts)
    return el(
      "div",
      { class: "json-line" },
      label,
      el("span", { class: `json-${KINDS[source[0]] ?? "number"}` }, source),
    );
  const summary = isList ? `[ ${parts.length} ]` : `{ ${parts.length} }`;
  const node = el("details", { class: "json" }, el("summary", {}, label, summary));
  const unfold = () => {
    if (!node.open || node.childElementCount > 1) return;
    node.append(...parts.slice(0, 1000).map(([key, part]) => jsonNode(part, key, depth + 1)));
    if (parts.length > 1000) node.append(el("div", { class: "quiet" }, `… and ${parts.length - 1000} more`));
  };
  node.addEventListener("toggle", unfold);
  node.open = depth < 2 && parts.length < 50;
  unfold();
  return node;
}

/** The nodes of a text that is a JSON object or list. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? nodesOf(text) : undefined;
  } catch {
    return undefined;
  }
}

function hexTable(bytes) {
  const dump = table({
    label: "Hex dump",
    rowHeight: 20,
    id: (line) => line,
    sign: (line) => `${line}`,
    columns: [
      { name: "Offset, bytes, letters", class: "mono pre", cell: (line) => hexLine(bytes, line), width: "max-content" },
    ],
  });
  dump.set(Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => line));
  return el("div", { class: "hex" }, dump.node);
}

function textPart(text) {
  const rest = text.length - LONG;
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Text" },
    el("pre", {}, text.slice(0, LONG)),
    rest > 0 && el("p", { class: "quiet" }, `… ${size(rest)} more: see Hex, or download`),
  );
}

/** Shows a value in the form that fits it best. */
export function valueView(bytes) {
  const text = textOf(bytes);
  const json = text === null ? undefined : parsed(text);
  const place = el("div", { class: "value", role: "tabpanel", "aria-label": "Value" });
  const forms = [];
  if (json !== undefined) forms.push(["json", "JSON"]);
  if (text !== null) forms.push(["text", "Text"]);
  forms.push(["hex", "Hex"]);
  const drawn = {
    json: () =>
      el("div", { class: "scroll mono", tabindex: "0", role: "region", "aria-label": "JSON" }, jsonNode(json)),
    text: () => textPart(text),
    hex: () => hexTable(bytes),
  };
  const choice = tabs("Show as", forms, forms[0][0], (name) => fill(place, drawn[name]()));
  fill(place, bytes.length ? drawn[forms[0][0]]() : el("p", { class: "quiet" }, "The value is empty."));
  return el(
    "div",
    { class: "value-view" },
    el("div", { class: "bar" }, choice.node, el("span", { class: "quiet" }, size(bytes.length))),
    place,
  );
}
