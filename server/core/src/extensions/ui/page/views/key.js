// One key: its value, its indexes, its lock, and who waits for it.

import { control } from "../data/api.js";
import { countdown, timeAt } from "../core/clock.js";
import { badge, button, el, facts, fill, link, refill, show } from "../core/dom.js";
import { fromBase64 } from "../core/format.js";
import { deleteKey, getKey, pathOf } from "../data/kv.js";
import { blocked, deadlines, sessions, use } from "../data/resources.js";
import { go, href } from "../core/router.js";
import { scope } from "../core/scope.js";
import { attempt, server, tell } from "../data/server.js";
import { on, refresher } from "../core/signal.js";
import { copyButton, curl } from "../widgets/copy.js";
import { ask } from "../widgets/dialog.js";
import { readable, sessionLink } from "../widgets/links.js";
import { valueView } from "../widgets/value.js";
import { editor, shown } from "./edit.js";

function download(key, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  const a = el("a", { href: url, download: key.split("/").at(-1) || "value" });
  a.click();
  URL.revokeObjectURL(url);
}

/** Shows a key in `root`, and keeps it up to date. */
export function keyPane(root, key) {
  const life = scope();
  const head = el("div", { class: "bar" });
  const lock = el("section", { class: "card", "aria-label": "Lock" });
  const indexes = el("div", {});
  const cards = el(
    "div",
    { class: "key-facts" },
    lock,
    el("section", { class: "card", "aria-label": "Indexes" }, indexes),
  );
  const place = el("div", { class: "value-place" });
  let entry;
  let explained = null;
  let isEditing = null;
  let error = null;

  const remove = async () => {
    if (!(await ask("Delete a key", `“${key}” will be deleted.`, "Delete"))) return;
    await attempt(async () => {
      if (await deleteKey(key, entry.ModifyIndex)) tell(`Deleted ${key}`, "good");
      else tell(`${key} was not deleted: it has changed meanwhile.`, "bad");
    });
  };
  const edit = () => {
    isEditing = editor(key, entry, () => {
      isEditing = null;
      drawValue();
      load.poke();
    });
    fill(place, isEditing.node);
    isEditing.focus();
  };

  function drawHead() {
    refill(head, [entry === undefined, Boolean(entry), server.control], () => [
      button("‹ Keys", () => go(href("kv")), { class: "small back" }),
      el("h2", { class: "mono" }, key),
      el(
        "div",
        { class: "actions" },
        button(entry ? "Edit" : "Create", edit, { disabled: entry === undefined }),
        entry && button("Download", () => download(key, fromBase64(entry.Value))),
        entry && button("Delete", remove, { class: "danger" }),
        server.control && link("Lock over time", href("locks", { key }), { class: "button" }),
        server.control && link("History", href("history", { key }), { class: "button" }),
      ),
    ]);
  }

  function drawLock() {
    const holder = entry?.Session ?? null;
    const known = sessions.value?.find((session) => session.ID === holder);
    const { expiries, delays } = deadlines();
    const delay = delays.get(key);
    const words =
      error && !entry
        ? null
        : holder
          ? badge("held", "good")
          : delay !== undefined
            ? badge("lock-delay", "warn")
            : badge("free", "quiet");
    const since = explained?.held_since_ms ?? null;
    const looks = [
      holder,
      known?.Node,
      words?.textContent,
      since,
      expiries.has(holder),
      entry?.LockIndex,
      explained?.waiting.length,
      explained?.last,
    ];
    refill(lock, looks, () => [
      el("h3", {}, "Lock ", words),
      facts([
        ["Session", holder && sessionLink(holder)],
        ["Id", holder && [el("span", { class: "mono" }, holder), " ", copyButton("Copy id", () => holder)]],
        ["Node", known?.Node],
        ["Held since", since !== null && holder ? timeAt(since) : null],
        ["Expires in", holder && expiries.has(holder) ? countdown(expiries.get(holder)) : null],
        ["Lock-delay ends in", delay === undefined ? null : countdown(delay)],
        ["LockIndex", entry ? String(entry.LockIndex) : null],
        [
          "Waiting for it",
          explained &&
            (explained.waiting.length ? link(String(explained.waiting.length), href("blocked", { text: key })) : "0"),
        ],
        ["Last", explained?.last && readable(explained.last)],
      ]),
    ]);
    const left = lock.querySelector("time.countdown");
    if (left) left.dataset.at = expiries.get(holder) ?? delay;
  }

  function drawValue() {
    if (isEditing) return isEditing.changed(entry);
    // What was last known stays in sight while the server is gone.
    if (error && (error.status || !entry)) return fill(place, el("p", { class: "bad" }, error.message));
    if (entry === undefined) return fill(place, el("p", { class: "nothing" }, "Reading …"));
    if (entry === null) return fill(place, el("p", { class: "nothing" }, "There is no such key."));
    return fill(place, valueView(fromBase64(entry.Value)));
  }

  function draw(isNew) {
    drawHead();
    drawLock();
    // Of a key that may not be read nothing is known.
    show(cards, !error?.status || Boolean(entry));
    refill(
      indexes,
      [entry?.Flags, entry?.CreateIndex, entry?.ModifyIndex],
      () =>
        entry && [
          facts([
            ["Flags", entry.Flags],
            ["CreateIndex", String(entry.CreateIndex)],
            ["ModifyIndex", String(entry.ModifyIndex)],
          ]),
          el(
            "div",
            { class: "actions" },
            copyButton("Copy key", () => key),
            copyButton("Copy value", () => shown(fromBase64(entry.Value))),
            copyButton("Copy as curl", () => curl("GET", pathOf(key))),
          ),
        ],
    );
    if (isNew) drawValue();
  }

  const load = refresher(async () => {
    let found = entry;
    try {
      found = await getKey(key);
      explained = server.control ? await control("GET", `/explain?key=${encodeURIComponent(key)}`) : null;
      error = null;
    } catch (failure) {
      error = failure;
    }
    const isNew = error !== null || found?.ModifyIndex !== entry?.ModifyIndex || found === null || entry === undefined;
    entry = found;
    draw(isNew);
  });

  root.append(head, cards, place);
  draw(true);
  load.poke();
  life.add(() => isEditing?.stop(), on(`key ${key}`, load.poke), on("key trees", load.poke), use(sessions, drawLock));
  if (server.control) life.add(use(blocked, load.poke));
  // Without the control plane any change of any key may be one of this.
  if (!server.control) life.add(on("keys", load.poke));
  return { key, redraw: () => drawLock(), stop: () => life.stop() };
}
