// Requests that wait: who they are, for how long, and what would wake them.

import { countdown, countup } from "../core/clock.js";
import { el, fill } from "../core/dom.js";
import { count } from "../core/format.js";
import { blocked, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { table } from "../widgets/table.js";

export function mount(root) {
  const life = scope();
  let filter = place.query.get("text") ?? "";
  const total = el("span", { class: "quiet", role: "status" });
  const input = el("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": "Filter blocked requests",
    set: { value: filter },
  });
  const rows = table({
    label: "Blocked requests",
    columns: [
      { name: "Request", cell: (one) => `#${one.request}`, by: (one) => one.request, width: "5rem" },
      { name: "Path", cell: (one) => one.target, by: (one) => one.target, class: "mono", width: "2fr" },
      { name: "Waiting for", cell: (one) => one.read, from: 560, width: "1.5fr" },
      { name: "Index >", cell: (one) => String(one.min_index), by: (one) => one.min_index, width: "6rem", from: 480 },
      { name: "Waited", cell: (one) => countup(one.since_ms), by: (one) => -one.since_ms, width: "6rem", from: 400 },
      { name: "Ends in", cell: (one) => countdown(one.until_ms), by: (one) => one.until_ms, width: "6rem" },
      { name: "Client", cell: (one) => one.client ?? "Unix socket", from: 700, width: "8rem" },
    ],
    id: (one) => one.request,
    sign: (one) => `${one.since_ms} ${one.until_ms}`,
    open: (one) => go(href("history", { at: one.record })),
    empty: "No request is blocked.",
  });
  function draw() {
    const all = blocked.value ?? [];
    const found = filter ? all.filter((one) => `${one.target} ${one.read}`.includes(filter)) : all;
    fill(total, blocked.error ? blocked.error.message : count(found.length, "request"));
    rows.set(blocked.value || blocked.error ? found : null);
  }
  input.addEventListener("input", () => {
    filter = input.value;
    draw();
  });
  root.append(el("div", { class: "bar" }, input, total), rows.node);
  life.add(use(blocked, draw));
  // A client that gives up leaves no record that says so but its answer, and those are many.
  life.every(1000, blocked.refresher.poke);
  draw();
  return () => life.stop();
}
