// A table that draws only the rows in sight, so that it stays quick with a hundred thousand. It is a grid for the
// keyboard: arrows move, Enter opens.

import { el } from "../core/dom.js";

let tables = 0;

/**
 * Makes a table. `columns` have a `name`, a `cell(item)`, a `width` in CSS, and `from`: the least width of the table in
 * pixels at which they are shown, and `by(item)` what rows are sorted by where a reader may. `id(item)` tells items apart, `sign(item)` says whether a row looks the same, and
 * `open(item)` opens one. `keydown(event, item)` may handle other keys. `scrolledBack()` is called when the reader scrolls up.
 */
export function table({
  label,
  columns,
  id,
  sign,
  open,
  keydown,
  rowHeight = 34,
  role = "grid",
  attributes,
  scrolledBack,
  empty = "",
}) {
  const name = `t${++tables}`;
  const head = el("div", { class: "head", role: "rowgroup" });
  const body = el("div", { class: "rows", role: "rowgroup" });
  const nothing = el("p", { class: "nothing", hidden: true });
  const node = el("div", { class: "table", role, "aria-label": label, tabindex: "0" }, head, body);
  const outer = el("div", { class: "table-frame" }, node, nothing);
  const drawn = new Map();
  let all = [];
  let items = all;
  /** What the reader sorts by: a column, and whether the largest comes first. */
  let order = null;
  let shown = columns;
  let selected = null;
  let cursor = -1;
  let lastTop = 0;
  let isPlanned = false;

  const rowId = (item) => `${name}-${id(item)}`.replace(/\s/g, "_");

  function arrange() {
    const { column, isDown } = order ?? {};
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    items = order ? all.toSorted((one, other) => (isDown ? -1 : 1) * compare(column.by(one), column.by(other))) : all;
  }

  /** The head of a column. Each press sorts: up, down, and as before. */
  function headCell(column) {
    const isOrder = order?.column === column;
    const cell = el(
      "div",
      {
        class: `cell ${column.class === "end" ? "end" : ""}`,
        role: "columnheader",
        "aria-sort": column.by && sortOf(isOrder),
      },
      column.by ? null : column.name,
    );
    if (!column.by) return cell;
    cell.append(
      el(
        "button",
        {
          type: "button",
          class: "sort",
          on: {
            click: () => {
              order =
                order?.column !== column ? { column, isDown: false } : order.isDown ? null : { column, isDown: true };
              for (const one of head.querySelectorAll("[aria-sort]"))
                one.setAttribute("aria-sort", sortOf(one === cell && order));
              arrange();
              plan();
            },
          },
        },
        column.name,
      ),
    );
    return cell;
  }
  const sortOf = (isOrder) => (!isOrder ? "none" : order.isDown ? "descending" : "ascending");

  function layOut() {
    const width = node.clientWidth || 1000;
    const fitting = columns.filter((column) => !column.from || width >= column.from);
    if (fitting.length === shown.length && head.childElementCount) return;
    shown = fitting;
    node.style.setProperty("--columns", shown.map((column) => column.width ?? "1fr").join(" "));
    const cells = shown.map(headCell);
    head.replaceChildren(el("div", { class: "row", role: "row" }, cells));
    for (const row of drawn.values()) row.node.remove();
    drawn.clear();
  }

  function drawRow(item, at) {
    const key = id(item);
    let row = drawn.get(key);
    if (!row) {
      row = { node: el("div", { class: "row", role: "row", id: rowId(item) }), sign: null };
      drawn.set(key, row);
      body.append(row.node);
    }
    row.item = item;
    row.at = at;
    const looks = sign ? sign(item) : null;
    if (looks === null || row.sign !== looks) {
      row.sign = looks;
      const cells = shown.map((column, place) => {
        const content = column.cell(item);
        const isText = typeof content === "string" || typeof content === "number";
        const cell = el("div", { class: `cell ${column.class ?? ""}`, role: "gridcell", "data-place": place }, content);
        if (isText) cell.title = content;
        return cell;
      });
      row.node.replaceChildren(...cells);
    }
    row.node.style.transform = `translateY(${at * rowHeight}px)`;
    row.node.setAttribute("aria-rowindex", at + 2);
    row.node.setAttribute("aria-selected", String(key === selected));
    row.node.classList.toggle("cursor", at === cursor);
    for (const [attribute, value] of Object.entries(attributes?.(item) ?? {})) {
      if (value === null) row.node.removeAttribute(attribute);
      else row.node.setAttribute(attribute, value);
    }
  }

  function draw() {
    isPlanned = false;
    layOut();
    const top = node.scrollTop;
    const height = node.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / rowHeight) - 4);
    const to = Math.min(items.length, Math.ceil((top + height) / rowHeight) + 4);
    body.style.height = `${items.length * rowHeight}px`;
    node.setAttribute("aria-rowcount", items.length + 1);
    nothing.hidden = items.length > 0 || !nothing.textContent;
    const kept = new Set();
    for (let at = from; at < to; at += 1) {
      kept.add(id(items[at]));
      drawRow(items[at], at);
    }
    for (const [key, row] of drawn) {
      if (!kept.has(key)) {
        row.node.remove();
        drawn.delete(key);
      }
    }
    const active = cursor >= from && cursor < to ? rowId(items[cursor]) : null;
    if (active) node.setAttribute("aria-activedescendant", active);
    else node.removeAttribute("aria-activedescendant");
  }

  function plan() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(draw);
  }

  function reveal(at) {
    const headHeight = head.offsetHeight;
    const top = at * rowHeight;
    if (top < node.scrollTop) node.scrollTop = top;
    else if (top + rowHeight + headHeight > node.scrollTop + node.clientHeight) {
      node.scrollTop = top + rowHeight + headHeight - node.clientHeight;
    }
  }

  function move(to) {
    cursor = Math.max(0, Math.min(items.length - 1, to));
    reveal(cursor);
    plan();
  }

  node.addEventListener(
    "scroll",
    () => {
      if (node.scrollTop < lastTop - 1) scrolledBack?.();
      lastTop = node.scrollTop;
      plan();
    },
    { passive: true },
  );
  new ResizeObserver(plan).observe(node);
  node.addEventListener("keydown", (event) => {
    if (event.target !== node || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(node.clientHeight / rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    // Without a cursor the rows in sight are where one begins.
    const top = node.scrollTop / rowHeight;
    const from =
      cursor >= 0 ? cursor : event.key in steps && steps[event.key] > 0 ? Math.floor(top) - 1 : Math.ceil(top) + page;
    if (event.key in steps) move(from + steps[event.key]);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(items.length - 1);
    else if (event.key === "Enter" && items[cursor] !== undefined) open?.(items[cursor]);
    else if (!(items[cursor] !== undefined && keydown?.(event, items[cursor]))) return;
    event.preventDefault();
  });
  body.addEventListener("click", (event) => {
    if (event.target.closest("button, a, input")) return;
    const rowNode = event.target.closest(".row");
    for (const row of drawn.values()) {
      if (row.node !== rowNode) continue;
      cursor = row.at;
      open?.(row.item);
      plan();
    }
  });

  return {
    node: outer,
    /**
     * Shows these items; `null` while they are not known. `why` says why there are none. Of the items of before `dropped` are
     * gone from the head: what is in sight stays there.
     */
    set(next, why = empty, dropped = 0) {
      if (dropped) lastTop = node.scrollTop -= dropped * rowHeight;
      if (dropped && cursor >= 0) cursor -= dropped;
      nothing.textContent = next ? why : "Reading …";
      all = next ?? [];
      arrange();
      if (cursor >= items.length) cursor = items.length - 1;
      plan();
    },
    /** Marks an item as the one that is open; `null` for none. */
    select(key) {
      selected = key;
      plan();
    },
    /** Brings an item into sight. */
    reveal(key) {
      requestAnimationFrame(() => {
        const at = items.findIndex((item) => id(item) === key);
        if (at < 0) return;
        draw();
        const y = at * rowHeight - node.scrollTop;
        if (y < 0 || y > node.clientHeight - 2 * rowHeight) node.scrollTop += y - node.clientHeight / 2;
        cursor = at;
        plan();
      });
    },
    scrollToEnd() {
      node.scrollTop = items.length * rowHeight;
      plan();
    },
    redraw: plan,
  };
}
