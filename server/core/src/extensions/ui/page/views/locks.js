// Locks over time: a row for each key, a bar for each holder, lock-delays, refused acquires, and why each lock was lost; and
// a row for each program that says when it believes that it holds a lock.

import { clock, now } from "../core/clock.js";
import { button, el, fill, link, show } from "../core/dom.js";
import { count } from "../core/format.js";
import { addHeld, locks } from "../data/locklog.js";
import { held, sessions, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { semaphores } from "../data/semaphores.js";
import { on } from "../core/signal.js";
import { want } from "../data/wanted.js";
import { keyLink } from "../widgets/links.js";
import { storyPane } from "../widgets/storypane.js";
import { table } from "../widgets/table.js";
import { moveByPointer, timeWindow } from "../widgets/timeline.js";
import { numberOf, track } from "../widgets/track.js";

/** How much of the time is shown at first, and the share of it before the first and after the last that happened. */
const LEAST_SHOWN = 60000;
const MOST_SHOWN = 120000;
const MARGIN = 0.06;
/** How soon what is new is drawn. */
const SOON_MS = 300;
/** How often the story of a lock that is held is read again. */
const STORY_MS = 2000;

/** The rows: keys, and semaphores in place of the keys that they are made of. */
function rowsOf(filter) {
  const rows = [];
  for (const [prefix, one] of semaphores) {
    const holders = one.bars.filter((bar) => bar.to === null).length;
    rows.push({
      ...one,
      key: `${prefix}/.lock`,
      title: prefix,
      note: `${holders} of ${one.limit}`,
      lanes: Math.max(one.limit, 1),
    });
  }
  for (const row of locks.rows.values()) {
    if (semaphores.has(row.key.slice(0, Math.max(0, row.key.lastIndexOf("/"))))) continue;
    rows.push({
      ...row,
      title: row.key,
      note: row.refused.length ? `${row.refused.length.toLocaleString("en")} refused` : "",
    });
  }
  rows.sort((one, other) => (one.title < other.title ? -1 : 1));
  for (const { program, bars } of locks.beliefs.values()) {
    rows.push({ key: `believes ${program}`, title: program, note: "believes that it holds", bars, isBelief: true });
  }
  return rows.filter((row) => row.key.includes(filter));
}

/** When something first and last happened to locks; `null` where nothing has. What is held happens now. */
function eventful(rows) {
  const times = rows
    .flatMap(({ bars, refused = [], delays = [] }) => [
      bars[0]?.from,
      refused[0]?.at,
      delays[0]?.from,
      ...bars.slice(-20).map((bar) => bar.to ?? now()),
      refused.at(-1)?.at,
      delays.at(-1)?.to,
    ])
    .filter((one) => one !== undefined);
  return times.length ? [Math.min(...times), Math.min(now(), Math.max(...times))] : null;
}

const storyOf = (row, bar) =>
  row.isBelief ? href("history", { at: numberOf(bar) }) : href("locks", { lock: row.key, story: numberOf(bar) });

export function mount(root) {
  const life = scope();
  const tracks = new Map();
  let rows = [];
  /** Whether the reader has chosen what is shown. */
  let isChosen = place.query.has("at");
  let timer = 0;
  /** The bar whose story is told. */
  let chosen = null;
  const detail = el("section", { class: "pane", "aria-label": "Story of a lock" });
  const story = storyPane(detail, () => go(href("locks", { key: filter.value })));
  const total = el("span", { class: "quiet", role: "status" });
  const filter = el("input", {
    type: "search",
    placeholder: "Filter keys",
    "aria-label": "Filter keys",
    set: { value: place.query.get("key") ?? "" },
  });
  const view = timeWindow({
    drawn: () => drawTracks(),
    moved: () => {
      for (const one of shown()) one.track.move(view);
    },
  });
  const following = button(
    "Now",
    () =>
      choose(() => {
        view.follows = true;
      }),
    { title: "Follow the server's clock" },
  );
  const rowOf = (key) => rows.find((row) => row.key === key);
  const shown = () => [...tracks.values()].filter((one) => one.track.node.isConnected);

  /** What a row is made of. It stays, so that the focus does. */
  function parts({ key, isBelief }) {
    if (!tracks.has(key)) {
      const own = track(storyOf);
      const records = { kind: "locks", ...(isBelief ? { text: "believes" } : { key }) };
      const note = link("", href("history", records), { class: "quiet small-text", hidden: true });
      const name = isBelief ? el("span", { class: "mono" }) : keyLink(key);
      own.node.addEventListener("click", (event) => {
        if (event.target.closest("a")) return;
        event.stopPropagation();
        const x = event.clientX - own.node.getBoundingClientRect().left;
        const bar = own.barAt(view.from + (x * view.span) / view.width);
        if (bar) go(storyOf(rowOf(key), bar));
      });
      tracks.set(key, { key, track: own, name, note, head: el("div", { class: "lock-name" }, name, note) });
    }
    return tracks.get(key);
  }
  function drawTrack(one) {
    const row = rowOf(one.key);
    if (!row) return;
    if (one.name.textContent !== row.title) one.name.textContent = one.name.title = row.title;
    if (one.note.textContent !== row.note) show(one.note, Boolean(row.note)).textContent = row.note;
    one.track.draw(row, view, chosen);
  }
  const drawTracks = () => shown().forEach(drawTrack);
  const list = table({
    label: "Locks over time",
    rowHeight: 60,
    columns: [
      { name: "Key", width: "clamp(7rem, 22%, 18rem)", class: "lock-key", cell: (row) => parts(row).head },
      {
        name: view.axis,
        width: "minmax(0, 1fr)",
        class: "lock-track",
        cell: (row) => {
          const one = parts(row);
          drawTrack(one);
          return one.track.node;
        },
      },
    ],
    id: (row) => row.key,
    sign: () => "",
    open: (row) => (row.bars.length ? go(storyOf(row, row.bars.at(-1))) : go(href("history", { key: row.key }))),
    keydown: (event) => {
      const act = {
        ArrowLeft: () => view.pan(-0.2),
        ArrowRight: () => view.pan(0.2),
        "+": () => view.zoom(0.5),
        "-": () => view.zoom(2),
      }[event.key];
      if (act) choose(act);
      return Boolean(act);
    },
    empty: "No key has been locked yet. Acquire one, and watch.",
  });

  function drawWindow() {
    following.setAttribute("aria-pressed", String(view.follows));
    view.draw();
  }
  /** Does what the reader chooses to see. */
  function choose(act) {
    isChosen = true;
    act();
    drawWindow();
  }
  function draw() {
    rows = rowsOf(filter.value);
    fill(total, count(rows.length, "key"));
    list.set(locks.isLoaded ? rows : null);
    if (rows.length && clock.known && !isChosen) showLast();
    drawStory();
    drawWindow();
    drawTracks();
  }
  /** Tells the story that the address names. */
  function drawStory() {
    const key = place.query.get("lock");
    const row = key === null ? null : rowsOf(key).find((one) => one.key === key);
    chosen = row?.bars.find((bar) => String(numberOf(bar)) === place.query.get("story")) ?? null;
    root.classList.toggle("has-detail", key !== null);
    if (key !== null) story.show(row, chosen, locks.isLoaded);
    if (chosen && clock.known && !isChosen) {
      isChosen = true;
      view.reveal(chosen.from, chosen.to ?? now());
    }
  }
  function drawPlace() {
    if (place.view !== "locks") return;
    drawStory();
    drawTracks();
  }
  const drawSoon = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      draw();
    }, SOON_MS);
  };
  /** Shows the time from one until another, and follows the clock if that is near. */
  function showFrom(from, to) {
    const span = Math.max(LEAST_SHOWN, to - from) * (1 + 2 * MARGIN);
    view.follows = now() - to < span * MARGIN;
    view.show(to - span * (1 - MARGIN), to + span * MARGIN);
  }
  /** Shows the last minute or two, of now or of when something happened last. */
  function showLast() {
    const times = eventful(rows);
    if (!times) return;
    const [first, last] = times;
    const to = now() - last < LEAST_SHOWN ? now() : last;
    showFrom(Math.max(first, to - MOST_SHOWN), to);
  }
  /** Shows all that happened; also the time that has passed since, unless that is most of it. */
  function fit() {
    const [first, last] = eventful(rows) ?? [now() - LEAST_SHOWN, now()];
    showFrom(first, now() - last > Math.max(LEAST_SHOWN, 3 * (last - first)) ? last : now());
  }

  filter.addEventListener("input", () => {
    go(href("locks", { key: filter.value }), { replaces: true });
    draw();
  });
  root.append(
    el(
      "div",
      { class: "split wide-side on-demand" },
      el(
        "section",
        { class: "side", "aria-label": "All locks" },
        el(
          "div",
          { class: "bar" },
          filter,
          button("−", () => choose(() => view.zoom(2)), { "aria-label": "Zoom out" }),
          button("+", () => choose(() => view.zoom(0.5)), { "aria-label": "Zoom in" }),
          button("‹", () => choose(() => view.pan(-0.5)), { "aria-label": "Earlier" }),
          button("›", () => choose(() => view.pan(0.5)), { "aria-label": "Later" }),
          button("Fit", () => choose(fit)),
          following,
          total,
          el(
            "span",
            { class: "legend" },
            el("span", { class: "swatch held" }),
            "held ",
            el("span", { class: "swatch delay" }),
            "lock-delay ",
            el("span", { class: "swatch refused" }),
            "refused",
          ),
        ),
        el("div", { class: "timeline" }, list.node),
      ),
      detail,
    ),
  );
  const holder = root.querySelector(".timeline");
  moveByPointer(holder, view, () => choose(() => {}));
  holder.addEventListener("focusin", ({ target }) => {
    if (!target.classList.contains("lock-bar")) return;
    for (const { track } of tracks.values()) track.reveal(target, view);
  });
  life.add(
    view.attach(),
    () => clearTimeout(timer),
    want(/^key-/),
    on("locks", drawSoon),
    on("place", drawPlace),
    on("clock", () => {
      if (!isChosen) drawSoon();
    }),
    use(sessions, drawSoon),
    use(held, () => {
      addHeld(held.value ?? [], now(), held.asked);
      drawSoon();
    }),
    on("names", held.refresher.poke),
  );
  life.every(100, view.tick);
  life.every(STORY_MS, () => {
    if (place.query.has("lock")) story.refresh();
  });
  draw();
  const wanted = Number(place.query.get("at"));
  if (wanted) {
    view.follows = false;
    view.show(wanted - LEAST_SHOWN / 2, wanted + LEAST_SHOWN / 2);
    drawWindow();
  }
  return () => life.stop();
}
