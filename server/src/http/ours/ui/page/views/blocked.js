// Requests that wait: who they are, for how long, and what would wake them.

import { countdown, countup } from "../core/clock.js";
import { el, fill } from "../core/dom.js";
import { count } from "../core/format.js";
import { recordAt, records } from "../data/records.js";
import { blocked, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { table } from "../widgets/table.js";

/** When each request that is blocked began to wait, as far as the records go back. */
function sinces(wanted) {
  const found = new Map();
  for (let at = records.all.length - 1; at >= 0 && found.size < wanted.size; at -= 1) {
    const record = records.all[at];
    if (record.kind === "blocked" && wanted.has(record.request) && !found.has(record.request)) found.set(record.request, record);
  }
  return found;
}

export function mount(root) {
  const life = scope();
  let filter = place.query.get("text") ?? "";
  let since = new Map();
  const total = el("span", { class: "quiet", role: "status" });
  const input = el("input", { type: "search", placeholder: "Filter", "aria-label": "Filter blocked requests", set: { value: filter } });
  const rows = table({
    label: "Blocked requests",
    columns: [
      { name: "Request", cell: (one) => `#${one.request}`, width: "5rem" },
      { name: "Path", cell: (one) => one.target, class: "mono", width: "2fr" },
      { name: "A change wakes it of", cell: (one) => one.read, from: 560, width: "1.5fr" },
      { name: "Past index", cell: (one) => String(one.min_index), width: "6rem", from: 480 },
      { name: "Waits for", cell: (one) => (since.has(one.request) ? countup(since.get(one.request).at_ms) : "?"), width: "6rem", from: 400 },
      { name: "Ends in", cell: (one) => countdown(one.until_ms), width: "6rem" },
      { name: "Client", cell: (one) => one.client ?? "Unix socket", from: 700, width: "8rem" },
    ],
    id: (one) => one.request,
    sign: (one) => `${one.until_ms} ${since.has(one.request)}`,
    open: (one) => {
      const record = since.get(one.request);
      go(href("history", record && recordAt(record.number) ? { at: record.number } : { text: one.target }));
    },
    empty: "No request is blocked.",
  });
  function draw() {
    const all = blocked.value ?? [];
    const found = filter ? all.filter((one) => `${one.target} ${one.read}`.includes(filter)) : all;
    since = sinces(new Set(all.map((one) => one.request)));
    fill(total, blocked.error ? blocked.error.message : count(found.length, "request"));
    rows.set(blocked.value || blocked.error ? found : null);
  }
  input.addEventListener("input", () => { filter = input.value; draw(); });
  root.append(el("div", { class: "bar" }, input, total), rows.node);
  life.add(use(blocked, draw));
  draw();
  return () => life.stop();
}
