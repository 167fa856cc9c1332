// The history, live: what happened, why, and what it caused.

import { control } from "../data/api.js";
import { timeAt } from "../core/clock.js";
import { badge, button, el, facts, fill, link } from "../core/dom.js";
import { count, duration } from "../core/format.js";
import { locks } from "../data/locklog.js";
import { causedBy, readAround, recordAt, records, recordsOf } from "../data/records.js";
import { decoded, go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { attempt } from "../data/server.js";
import { on } from "../core/signal.js";
import { want } from "../data/wanted.js";
import { copyButton, curl } from "../widgets/copy.js";
import { ask } from "../widgets/dialog.js";
import { keyLink, readable, recordLink, sessionLink } from "../widgets/links.js";
import { table } from "../widgets/table.js";

/** Kinds by what they are about. */
const GROUPS = {
  "": ["Everything", /./],
  locks: ["Locks", /^(acquire|release|lock-delay|belief)/],
  keys: ["Keys", /^(key-|write-refused|acquire|release|tombstones)/],
  sessions: ["Sessions", /^session-/],
  requests: ["Requests", /^(request|answer|blocked|woken|held)$/],
  catalog: ["Catalog", /^catalog/],
  acl: ["ACLs", /^(access|token|rows)/],
  control: ["Controls", /^control$/],
};

export function tone(kind) {
  if (/refused|denied|unknown|removed|ended$/.test(kind) && kind !== "lock-delay-ended") return "bad";
  if (/^acquired|created|renewed/.test(kind)) return "good";
  if (/^lock-delay|^released|^control/.test(kind)) return "warn";
  return /^(key|catalog)/.test(kind) ? "info" : "quiet";
}

/** The record of the arrival of the request that a record is about or follows from. */
function rootOf(record) {
  if (!record || record.kind === "request") return record;
  const cause = recordAt(record.caused_by);
  if (cause?.kind === "request" && (record.request ?? cause.request) === cause.request) return cause;
  if (record.request === undefined) return null;
  return records.all.find((one) => one.kind === "request" && one.request === record.request) ?? null;
}

const line = (one, ...more) =>
  el("li", {}, recordLink(one.number), " ", more, badge(one.kind, tone(one.kind)), ` ${readable(one.text)}`);

/** How a request went: arrived, blocked, woken, refused, answered, and how long after its arrival. */
function storyNodes(root, record) {
  const lines = recordsOf(root)
    .slice(0, 100)
    .map((one) => {
      const node = line(one, el("span", { class: "quiet" }, `+${duration(one.at_ms - root.at_ms)} `));
      if (one === record) node.setAttribute("aria-current", "true");
      return node;
    });
  return [el("h3", {}, "The whole request"), el("ol", { class: "plain-list request-records" }, lines)];
}

function causeNodes(record) {
  const cause =
    record.caused_by && (recordAt(record.caused_by) ?? { number: record.caused_by, kind: "gone", text: "" });
  return [
    el("h3", {}, "Cause"),
    cause
      ? el("ul", { class: "plain-list" }, line(cause))
      : el("p", { class: "quiet" }, "The server’s clock, or the program that the server is a part of."),
  ];
}

function causedNodes(record) {
  const caused = causedBy(record);
  return [
    el("h3", {}, "Caused"),
    caused.length
      ? el(
          "ul",
          { class: "plain-list" },
          caused.slice(0, 100).map((one) => line(one)),
          caused.length > 100 && el("li", {}, count(caused.length, "record")),
        )
      : el("p", { class: "quiet" }, "Nothing so far."),
  ];
}

function pane(place, record, wanted) {
  if (!record) {
    return fill(
      place,
      el(
        "p",
        { class: "nothing" },
        wanted
          ? `Record #${wanted} is not among those that this page has.`
          : "Choose a record to see its cause and what it caused.",
      ),
    );
  }
  const root = rootOf(record);
  const held =
    record.kind === "acquired" && locks.rows.get(record.key)?.bars.find((bar) => bar.began === record.number);
  const shown = new Set(["number", "at_ms", "index", "kind", "text", "key", "session", "cause", "caused_by"]);
  const rest = Object.entries(record)
    .filter(([name, value]) => !shown.has(name) && value !== null)
    .map(([name, value]) => [name.replaceAll("_", " "), String(value)]);
  return fill(
    place,
    el(
      "div",
      { class: "bar" },
      button("‹ History", () => back(), { class: "small back" }),
      el("h2", {}, `#${record.number} `, badge(record.kind, tone(record.kind))),
    ),
    el("p", {}, readable(record.text)),
    facts([
      ["At", timeAt(record.at_ms)],
      ["Index", String(record.index)],
      ["Key", record.key === undefined ? null : keyLink(record.key)],
      ["Session", record.session ? sessionLink(record.session) : null],
      ["Why", record.cause && readable(record.cause)],
      ["Lost by", held?.ended ? recordLink(held.ended) : null],
      ...rest,
    ]),
    el(
      "div",
      { class: "actions" },
      record.key !== undefined &&
        link("The lock over time", href("locks", { key: record.key, at: Math.round(record.at_ms) }), {
          class: "button small",
        }),
      copyButton("Copy as JSON", () => JSON.stringify(record, null, 2)),
      record.kind === "request" && copyButton("Copy as curl", () => curl(record.method, record.target)),
    ),
    root ? storyNodes(root, record) : causeNodes(record),
    record !== root && causedNodes(record),
  );
}

function back() {
  const query = Object.fromEntries(place.query);
  delete query.at;
  go(href("history", query));
}

/** The key, or the prefix of keys, that a record is about. */
const keyOf = ({ key, prefix, target }) => key ?? prefix ?? decoded(/^\/v1\/kv\/([^?]*)/.exec(target)?.[1] ?? "");

/** Whether a key is the wanted one, or begins with the wanted prefix: one with a slash or a star at its end. */
const isOf = (key, wanted) => (/[/*]$/.test(wanted) ? key.startsWith(wanted.replace(/\*$/, "")) : key === wanted);

export function mount(root) {
  const life = scope();
  let follows = place.query.get("at") === null;
  let isFound = false;
  let asked = null;
  /** The record that the pane shows, and how many records it had caused. */
  let drawnPane = "";
  let seen = { last: 0, key: "", found: [] };
  const total = el("span", { class: "quiet", role: "status" });
  const detail = el("section", { class: "pane", "aria-label": "Record" });
  const group = el(
    "select",
    { "aria-label": "Kind" },
    Object.entries(GROUPS).map(([name, [title]]) => el("option", { value: name }, title)),
  );
  const input = (label, name) =>
    el("input", { type: "search", placeholder: label, "aria-label": label, name, spellcheck: "false" });
  const key = input("Key", "key");
  key.placeholder = "Key, or a*";
  const session = input("Session", "session");
  const text = input("Text", "text");
  const following = button("Following", () => {
    follows = !follows;
    draw();
  });

  const list = table({
    label: "Records",
    rowHeight: 28,
    columns: [
      { name: "#", cell: (one) => String(one.number), width: "5rem" },
      { name: "At", cell: (one) => timeAt(one.at_ms), width: "8rem", class: "mono" },
      { name: "Kind", cell: (one) => badge(one.kind, tone(one.kind)), width: "9.5rem", from: 480 },
      { name: "What", cell: (one) => readable(one.text), width: "minmax(8rem, 1fr)" },
    ],
    id: (one) => one.number,
    sign: () => `${locks.isLoaded}`,
    open: (one) => {
      follows = false;
      go(href("history", { ...Object.fromEntries(place.query), at: one.number }));
    },
    scrolledBack: () => {
      follows = false;
      draw();
    },
    empty: "No such record yet.",
  });

  function matches(record, wanted) {
    return (
      GROUPS[group.value][1].test(record.kind) &&
      (!wanted.key || isOf(keyOf(record), wanted.key)) &&
      (!wanted.session ||
        (record.session ?? "").startsWith(wanted.session) ||
        (record.target ?? "").includes(wanted.session)) &&
      (!wanted.text || `${record.text} ${record.kind} ${record.cause ?? ""}`.toLowerCase().includes(wanted.text))
    );
  }

  /** The records that are wanted. Only new ones are looked at while the filter is the same. */
  function found() {
    const wanted = { key: key.value, session: session.value, text: text.value.toLowerCase() };
    const same = JSON.stringify([wanted, group.value]);
    const [first] = records.all;
    if (same !== seen.key || records.last < seen.last) seen = { last: 0, key: same, found: [] };
    const before = seen.found.length;
    if (first && before && seen.found[0].number < first.number)
      seen.found = seen.found.filter((one) => one.number >= first.number);
    seen.dropped = before - seen.found.length;
    let at = records.all.length;
    while (at > 0 && records.all[at - 1].number > seen.last) at -= 1;
    for (; at < records.all.length; at += 1) if (matches(records.all[at], wanted)) seen.found.push(records.all[at]);
    seen.last = records.last;
    return seen.found;
  }

  function draw() {
    const shown = found();
    following.setAttribute("aria-pressed", String(follows));
    const gone = records.missed ? `, ${records.missed.toLocaleString("en")} left out: too many at once` : "";
    fill(total, `${shown.length.toLocaleString("en")} of ${count(records.all.length, "record")}${gone}`);
    list.set(records.isLoaded ? shown : null, undefined, seen.dropped);
    if (follows) requestAnimationFrame(() => list.scrollToEnd());
  }

  /** Reads a record that a link leads to, and that is older than those that the page has. */
  async function reach(at) {
    if (asked === at || !records.all.length) return;
    asked = at;
    if (!(await readAround(Number(at)).catch(() => false))) return;
    seen = { last: 0, key: "", found: [] };
    drawPlace();
  }

  /** Draws the pane again when a record of it is new. */
  function drawPane(record, at) {
    const root = rootOf(record);
    const looks = record
      ? `${record.number} ${causedBy(record).length} ${root && recordsOf(root).length} ${locks.rows.get(record.key)?.version}`
      : `${at} ${asked}`;
    if (looks === drawnPane) return;
    drawnPane = looks;
    pane(detail, record, at);
  }

  function drawPlace() {
    if (place.view !== "history") return;
    for (const one of [key, session, text]) one.value = place.query.get(one.name) ?? "";
    group.value = GROUPS[place.query.get("kind")] ? place.query.get("kind") : "";
    const at = place.query.get("at");
    const ms = place.query.get("ms");
    root.classList.toggle("has-detail", at !== null);
    if (ms !== null && at === null) {
      follows = false;
      const near = records.all.find((one) => one.at_ms >= Number(ms));
      if (near) requestAnimationFrame(() => list.reveal(near.number));
    }
    const record = at === null ? null : recordAt(Number(at));
    isFound = record !== null;
    if (at !== null && !isFound) reach(at);
    drawPane(record, at);
    list.select(at === null ? null : Number(at));
    draw();
    if (at !== null) {
      follows = false;
      list.reveal(Number(at));
      draw();
    }
  }
  const refilter = () => {
    const query = {
      kind: group.value,
      key: key.value,
      session: session.value,
      text: text.value,
      at: place.query.get("at"),
    };
    go(href("history", query), { replaces: true });
  };
  const clear = async () => {
    if (!(await ask("Clear the history", "The server forgets all records so far.", "Clear"))) return;
    await attempt(async () => {
      await control("DELETE", "/history");
      records.all = [];
      seen = { last: 0, key: "", found: [] };
      draw();
    }, "The history is empty.");
  };
  for (const one of [key, session, text]) one.addEventListener("input", refilter);
  group.addEventListener("change", refilter);
  root.append(
    el(
      "div",
      { class: "split wide-side on-demand" },
      el(
        "section",
        { class: "side", "aria-label": "All records" },
        el(
          "div",
          { class: "bar filters" },
          group,
          key,
          session,
          text,
          following,
          button("Clear", clear, { class: "small" }),
          total,
        ),
        list.node,
      ),
      detail,
    ),
  );
  life.add(
    want(/./),
    on("records", () => {
      // A link may lead to a record that the page has not got yet.
      const at = place.query.get("at");
      if (at !== null && !isFound && (recordAt(Number(at)) || asked !== at)) drawPlace();
      else {
        if (at !== null) drawPane(recordAt(Number(at)), at);
        draw();
      }
    }),
    on("place", drawPlace),
    on("names", drawPlace),
  );
  drawPlace();
  return () => life.stop();
}
