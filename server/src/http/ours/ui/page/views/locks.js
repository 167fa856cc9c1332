// Locks over time: a row for each key, a bar for each holder, lock-delays, refused acquires, and why each lock was lost.

import { clock, now } from "../core/clock.js";
import { button, el, fill, link } from "../core/dom.js";
import { count, duration, hue, moment } from "../core/format.js";
import { addHeld, locks } from "../data/locklog.js";
import { held, sessions, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { semaphores } from "../data/semaphores.js";
import { on } from "../core/signal.js";
import { want } from "../data/wanted.js";
import { keyLink, nameOf } from "../widgets/links.js";
import { table } from "../widgets/table.js";
import { moveByPointer, timeWindow } from "../widgets/timeline.js";

const nameFor = (session) => nameOf(session) || session.slice(0, 8);

/** Why a bar ends, in short. */
function endOf({ cause }) {
  if (cause === "the holder let go") return "released";
  const of = cause.replace("its session ended, ", "");
  return of === "a client destroyed it" ? "its session was destroyed" : of;
}

/** Puts an element at a time of the axis; `to` is `null` for what goes on. */
function at(node, from, to = undefined) {
  node.style.setProperty("--at", from);
  if (to !== undefined && to !== null) node.style.setProperty("--to", to);
  return node;
}

function barNode(bar, key, lanes) {
  const name = nameFor(bar.session);
  const end = bar.to === null ? "still holds it" : `until ${moment(bar.to)} (${duration(bar.to - bar.from)}): ${endOf(bar)}`;
  const words = `${name} held ${key} from ${moment(bar.from)}, ${end}`;
  // A lock that was lost leads to why it was lost.
  const number = bar.ended ?? bar.began;
  const node = link(name, href("history", { key, at: number, ms: number ? null : Math.round(bar.from) }), {
    class: `lock-bar${bar.to === null ? " open" : ""}`, title: words, "aria-label": words,
  });
  node.style.setProperty("--hue", hue(bar.session));
  if (lanes > 1) {
    node.style.setProperty("--lane", bar.lane % lanes);
    node.style.setProperty("--lanes", lanes);
  }
  return at(node, bar.from, bar.to);
}

/** What is in sight of a row, without what would be drawn at the same pixel. */
function trackNode(row, view) {
  const from = view.from - view.span;
  const to = view.from + 2 * view.span;
  const parts = [];
  for (const delay of row.delays ?? []) {
    if (delay.to < from || delay.from > to) continue;
    const words = `Lock-delay from ${moment(delay.from)} to ${moment(delay.to)} (${duration(delay.to - delay.from)})`;
    parts.push(at(link("", href("history", { key: row.key, at: delay.number }), { class: "lock-delay", title: words, "aria-label": words }), delay.from, delay.to));
  }
  let lastEnd = -Infinity;
  const bars = row.bars.filter((bar) => (bar.to ?? Infinity) >= from && bar.from <= to);
  let drawnLast = "";
  for (const bar of bars) {
    const looks = `${bar.lane} ${Math.round(view.x(bar.from))} ${Math.round(view.x(bar.to ?? now()))}`;
    if (looks === drawnLast) continue;
    drawnLast = looks;
    parts.push(barNode(bar, row.key, row.lanes ?? 1));
  }
  // The newest reasons come first where there is no room for all.
  let room = Infinity;
  for (const bar of bars.toReversed()) {
    if (bar.to === null || row.lanes > 1) continue;
    const x = view.x(bar.to);
    if (x > room) continue;
    const cause = endOf(bar);
    room = x - cause.length * 6 - 12;
    parts.push(at(link(cause, href("history", { key: row.key, at: bar.ended }), { class: "lock-cause" }), bar.to));
  }
  for (const mark of row.refused ?? []) {
    if (mark.at < from || mark.at > to) continue;
    const x = view.x(mark.at);
    if (x - lastEnd < 3) continue;
    lastEnd = x;
    const words = `${nameFor(mark.session)} was refused at ${moment(mark.at)}: ${mark.cause}`;
    parts.push(at(link("", href("history", { key: row.key, at: mark.number }), { class: "lock-refused", title: words, "aria-label": words }), mark.at));
  }
  return el("div", { class: "track" }, parts);
}

/** The rows: keys, and semaphores in place of the keys that they are made of. */
function rowsOf(filter) {
  const rows = [];
  for (const [prefix, one] of semaphores) {
    const holders = one.bars.filter((bar) => bar.to === null).length;
    rows.push({ ...one, key: `${prefix}/.lock`, title: prefix, note: `${holders} of ${one.limit}`, lanes: Math.max(one.limit, 1) });
  }
  for (const row of locks.rows.values()) {
    const isPart = row.key.endsWith("/.lock") || semaphores.has(row.key.slice(0, Math.max(0, row.key.lastIndexOf("/"))));
    if (isPart && (semaphores.has(row.key.replace(/\/[^/]*$/, "")))) continue;
    rows.push({ ...row, title: row.key, note: row.refused.length ? `${row.refused.length} refused` : "" });
  }
  return rows.filter((row) => row.key.includes(filter)).sort((one, other) => (one.title < other.title ? -1 : 1));
}

export function mount(root) {
  const life = scope();
  /** How often names of sessions have become known. */
  let names = 0;
  let isFitted = place.query.has("at");
  const total = el("span", { class: "quiet", role: "status" });
  const filter = el("input", { type: "search", placeholder: "Filter keys", "aria-label": "Filter keys", set: { value: place.query.get("key") ?? "" } });
  const view = timeWindow(() => list.redraw());
  const following = button("Now", () => { view.follows = true; drawWindow(); }, { title: "Follow the server's clock" });
  const list = table({
    label: "Locks over time", rowHeight: 54,
    columns: [
      { name: "Key", width: "clamp(6.5rem, 22%, 18rem)", class: "lock-key", cell: (row) => el("div", {}, keyLinkFor(row), el("div", { class: "quiet small-text" }, row.note)) },
      { name: view.axis, width: "minmax(0, 1fr)", class: "lock-track", cell: (row) => trackNode(row, view) },
    ],
    id: (row) => row.key, sign: (row) => `${row.version} ${view.bucket} ${row.note} ${names}`,
    open: (row) => go(href("history", { key: row.key })),
    keydown: (event) => {
      const act = { ArrowLeft: () => view.pan(-0.2), ArrowRight: () => view.pan(0.2), "+": () => view.zoom(0.5), "-": () => view.zoom(2) }[event.key];
      act?.();
      drawWindow();
      return Boolean(act);
    },
    empty: "No key has been locked yet. Acquire one, and watch.",
  });
  const keyLinkFor = (row) => {
    const node = keyLink(row.key);
    node.textContent = row.title;
    return node;
  };

  function drawWindow() {
    following.setAttribute("aria-pressed", String(view.follows));
    view.draw();
  }
  function draw() {
    const rows = rowsOf(filter.value);
    fill(total, count(rows.length, "key"));
    list.set(locks.isLoaded ? rows : null);
    if (rows.length && clock.known && !isFitted) fit();
    drawWindow();
  }
  function fit() {
    isFitted = true;
    let from = Infinity;
    for (const row of rowsOf(filter.value)) from = Math.min(from, ...[row.bars[0]?.from, row.refused?.[0]?.at, row.delays?.[0]?.from].filter((one) => one !== undefined));
    if (from === Infinity) from = now() - 30000;
    const span = Math.max(60000, (now() - from) * 1.12);
    view.follows = true;
    view.show(now() - span * 0.94, now() + span * 0.06);
    drawWindow();
  }

  filter.addEventListener("input", () => { go(href("locks", { key: filter.value }), { replaces: true }); draw(); });
  root.append(
    el("div", { class: "bar" }, filter,
      button("−", () => { view.zoom(2); drawWindow(); }, { "aria-label": "Zoom out" }),
      button("+", () => { view.zoom(0.5); drawWindow(); }, { "aria-label": "Zoom in" }),
      button("‹", () => { view.pan(-0.5); drawWindow(); }, { "aria-label": "Earlier" }),
      button("›", () => { view.pan(0.5); drawWindow(); }, { "aria-label": "Later" }),
      button("Fit", fit), following, total,
      el("span", { class: "legend" }, el("span", { class: "swatch held" }), "held ", el("span", { class: "swatch delay" }), "lock-delay ", el("span", { class: "swatch refused" }), "refused")),
    el("div", { class: "timeline" }, list.node));
  const holder = root.querySelector(".timeline");
  view.attach(holder);
  moveByPointer(holder, view, drawWindow);
  life.add(want(/^key-/), on("locks", draw), on("clock", () => { if (!isFitted) draw(); }), use(sessions, () => { names += 1; draw(); }), use(held, () => {
    addHeld(held.value ?? [], now(), held.asked);
    draw();
  }), on("names", held.refresher.poke));
  life.every(100, () => { if (view.follows) drawWindow(); });
  draw();
  const wanted = Number(place.query.get("at"));
  if (wanted) {
    view.follows = false;
    requestAnimationFrame(() => { view.show(wanted - 15000, wanted + 15000); drawWindow(); });
  }
  return () => life.stop();
}
