// Keys: the tree at one side, a key at the other.

import { nothingOf } from "../data/api.js";
import { badge, button, el, fill } from "../core/dom.js";
import { count } from "../core/format.js";
import { childrenOf, keys, useKeys } from "../data/keys.js";
import { deleteTree } from "../data/kv.js";
import { due, held, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { attempt, server } from "../data/server.js";
import { on } from "../core/signal.js";
import { ask } from "../widgets/dialog.js";
import { table } from "../widgets/table.js";
import { keyPane } from "./key.js";
import { newKey } from "./edit.js";

/** The folders that are open. They stay so when the view is left. */
const open = new Set();
let filter = "";

/** The rows in sight of the tree: what is in open folders. */
function rowsBelow(prefix, level, rows) {
  for (const child of childrenOf(prefix)) {
    if (child.folder) {
      rows.push({ ...child, level });
      if (open.has(child.folder)) rowsBelow(child.folder, level + 1, rows);
    } else rows.push({ ...child, level, name: child.name || "(this folder's own key)" });
  }
  return rows;
}

let last = { text: "", version: -1, names: [] };

/** The names that have a text, in any case. A longer text is looked for among those that had the shorter one. */
function filtered(text) {
  const wanted = text.toLowerCase();
  const isLonger = last.version === keys.version && last.text && wanted.includes(last.text);
  const names = (isLonger ? last.names : keys.names).filter((name) => name.toLowerCase().includes(wanted));
  last = { text: wanted, version: keys.version, names };
  return names;
}

/** A row; a name that was filtered becomes one when it is in sight. */
const rowOf = (item) => (typeof item === "string" ? { key: item, name: item, level: 0 } : item);

export function mount(root) {
  const life = scope();
  const holders = new Map();
  const total = el("span", { class: "quiet", role: "status" });
  const input = el("input", {
    type: "search",
    placeholder: "Filter keys",
    "aria-label": "Filter keys",
    spellcheck: "false",
    set: { value: filter },
  });
  const pane = el("section", { class: "pane", "aria-label": "Key" });
  let detail = null;
  /** The row that a link leads to, until it is in sight. */
  let wanted = null;

  const toggle = (row) => {
    if (!row.folder) return go(href("kv", { key: row.key }));
    open[open.has(row.folder) ? "delete" : "add"](row.folder);
    return draw();
  };
  const remove = async (row) => {
    const question = `${count(row.count, "key")} under “${row.folder}” will be deleted.`;
    if (await ask("Delete a tree", question, "Delete"))
      await attempt(() => deleteTree(row.folder), `Deleted ${row.folder}`);
  };
  const nameCell = (row) => {
    const label = el(
      "span",
      { class: `tree ${row.folder ? "folder" : "leaf"}` },
      el("span", { class: "arrow", "aria-hidden": "true" }, row.folder ? (open.has(row.folder) ? "▾" : "▸") : ""),
      el("span", { class: "mono name", title: row.name }, row.name),
    );
    label.style.setProperty("--level", row.level);
    return label;
  };
  const lockCell = (row) => {
    if (!row.folder) return holders.has(row.key) ? badge("held", "good") : "";
    return el(
      "span",
      { class: "tree-end" },
      el("span", { class: "quiet" }, row.count.toLocaleString("en")),
      button("Delete", () => remove(row), {
        class: "small hover",
        "aria-label": `Delete the tree ${row.folder}`,
        tabindex: "-1",
      }),
    );
  };
  const tree = table({
    label: "Keys",
    role: "treegrid",
    rowHeight: 30,
    columns: [
      { name: "Key", cell: (item) => nameCell(rowOf(item)) },
      { name: "Keys, lock", cell: (item) => lockCell(rowOf(item)), width: "9.5rem", class: "end" },
    ],
    id: (item) => item.folder ?? `=${rowOf(item).key}`,
    sign: (item) => {
      const row = rowOf(item);
      return `${row.level} ${row.count} ${open.has(row.folder)} ${holders.get(row.key)} ${row.name}`;
    },
    attributes: (item) => ({
      "aria-level": rowOf(item).level + 1,
      "aria-expanded": item.folder ? String(open.has(item.folder)) : null,
    }),
    open: (item) => toggle(rowOf(item)),
    keydown: (event, item) => {
      const row = rowOf(item);
      const isOpen = open.has(row.folder);
      if ((event.key === "ArrowRight" && row.folder && !isOpen) || (event.key === "ArrowLeft" && isOpen)) toggle(row);
      else if (event.key === "Delete" && row.folder) remove(row);
      else return false;
      return true;
    },
  });

  function draw() {
    const rows = filter ? filtered(filter) : rowsBelow("", 0, []);
    const whole = keys.names.length;
    fill(
      total,
      keys.error
        ? keys.error.message
        : !keys.isLoaded
          ? ""
          : filter
            ? `${rows.length.toLocaleString("en")} of ${count(whole, "key")}`
            : count(whole, "key"),
    );
    total.classList.toggle("bad", Boolean(keys.error));
    tree.set(keys.isLoaded || keys.error ? rows : null, keys.error?.message ?? nothingOf("keys"));
    if (wanted !== null && keys.isLoaded) {
      tree.reveal(wanted);
      wanted = null;
    }
  }

  function drawPlace() {
    if (place.view !== "kv") return;
    const key = place.query.get("key");
    const folder = place.query.get("open");
    for (const path of [key, folder]) {
      for (let at = path?.indexOf("/") ?? -1; at >= 0; at = path.indexOf("/", at + 1)) open.add(path.slice(0, at + 1));
    }
    if (detail?.key === key) return;
    detail?.stop();
    detail = null;
    fill(pane);
    root.classList.toggle("has-detail", key !== null);
    if (key === null) pane.append(el("p", { class: "nothing" }, "Choose a key, or create one."));
    else detail = keyPane(pane, key);
    tree.select(key === null ? null : `=${key}`);
    wanted = key === null ? folder : `=${key}`;
    draw();
  }

  input.addEventListener("input", () => {
    filter = input.value;
    draw();
  });
  root.append(
    el(
      "div",
      { class: "split" },
      el(
        "section",
        { class: "side", "aria-label": "All keys" },
        el(
          "div",
          { class: "bar" },
          input,
          button("New key", () => newKey(place.query.get("open") ?? ""), { class: "primary" }),
          total,
        ),
        tree.node,
      ),
      pane,
    ),
  );
  life.add(useKeys(draw), on("place", drawPlace), () => detail?.stop());
  if (server.control) {
    life.add(
      use(held, () => {
        holders.clear();
        for (const lock of held.value ?? []) holders.set(lock.key, lock.session);
        draw();
      }),
      use(due, () => detail?.redraw()),
    );
  }
  drawPlace();
  draw();
  return () => life.stop();
}
