// One lock over time: a bar for each holder, lock-delays, how often an acquire was refused, and why each bar ended.

import { now } from "../core/clock.js";
import { el } from "../core/dom.js";
import { duration, moment } from "../core/format.js";
import { readable, hueOf, nameFor } from "./links.js";

/** How wide a column of refused acquires is, and how high at most, in pixels. */
const COLUMN = 10;
const HIGHEST = 9;
const ENDS = {
  "the holder let go": "released",
  "the key was deleted": "key deleted",
  "its TTL ran out": "TTL expired",
  "a client destroyed it": "session destroyed",
  "its node was deleted": "node deleted",
};

/** Why a bar ended, in short. */
export function endOf({ cause }) {
  const of = cause.replace("its session ended, ", "").replace(/^the check/, "check");
  return ENDS[of] ?? readable(of);
}

/** Sessions with how often each is there: `worker-4 ×6, worker-2`. */
export function tally(sessions) {
  const counts = new Map();
  for (const session of sessions) counts.set(nameFor(session), (counts.get(nameFor(session)) ?? 0) + 1);
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .map(([name, times]) => (times > 1 ? `${name} ×${times}` : name))
    .join(", ");
}

const isCurrent = (node) => node.getAttribute("aria-current") === "true";

/** Which bar of a row a story tells: the number of the record that it began with; 0 if that is unknown. */
export const numberOf = (bar) => bar.began ?? 0;

function barsOf(row, view, from, to) {
  const parts = [];
  let last = "";
  for (const bar of row.bars) {
    if ((bar.to ?? Infinity) < from || bar.from > to) continue;
    const pixels = `${bar.lane} ${Math.round(view.x(bar.from))} ${Math.round(view.x(bar.to ?? Infinity))}`;
    if (pixels === last) continue;
    last = pixels;
    const name = nameFor(bar.session);
    const does = row.isBelief ? "believed that it held a lock" : `held ${row.title}`;
    const end =
      bar.to === null ? "until now" : `until ${moment(bar.to)} (${duration(bar.to - bar.from)}): ${endOf(bar)}`;
    const lanes = Math.max(1, row.lanes ?? 1);
    const style = { "--hue": hueOf(bar.session), ...(lanes > 1 && { "--lane": bar.lane % lanes, "--lanes": lanes }) };
    parts.push({
      id: `bar ${bar.began ?? bar.from} ${bar.session}`,
      class: `lock-bar${bar.to === null ? " open" : ""}${row.isBelief ? " belief" : ""}`,
      from: bar.from,
      to: bar.to,
      text: name,
      label: `${name} ${does} from ${moment(bar.from)}, ${end}`,
      style,
      bar,
    });
  }
  return parts;
}

/** Why bars ended. The newest reasons come first where there is no room for all. */
function endsOf(bars, view) {
  const parts = [];
  let room = Infinity;
  for (const { bar } of bars.toReversed()) {
    if (bar.to === null) continue;
    const x = view.x(bar.to);
    if (x > room) continue;
    const text = endOf(bar);
    room = x - text.length * 6 - 12;
    parts.push({ id: `end ${bar.began ?? bar.from} ${bar.session}`, class: "lock-cause", from: bar.to, text });
  }
  return parts;
}

/** Refused acquires in columns, as high as there are many. */
function refusedOf(row, view, from, to) {
  const step = (COLUMN * view.span) / view.width;
  const columns = new Map();
  for (const one of row.refused ?? []) {
    if (one.at < from || one.at > to) continue;
    const at = Math.floor(one.at / step);
    if (!columns.has(at)) columns.set(at, []);
    columns.get(at).push(one);
  }
  return [...columns].map(([at, all]) => ({
    id: `refused ${step} ${at}`,
    class: "lock-refused",
    from: at * step,
    to: (at + 0.8) * step,
    style: { height: `${Math.min(HIGHEST, 2 + all.length)}px` },
    label: `${all.length} refused from ${moment(all[0].at)} to ${moment(all.at(-1).at)}: ${tally(all.map((one) => one.session))}; ${readable(all.at(-1).cause)}`,
  }));
}

function partsOf(row, view) {
  const [from, to] = view.reach();
  const delays = (row.delays ?? [])
    .filter((delay) => delay.to >= from && delay.from <= to)
    .map((delay) => ({
      id: `delay ${delay.number}`,
      class: "lock-delay",
      from: delay.from,
      to: delay.to,
      label: `Lock-delay from ${moment(delay.from)} to ${moment(delay.to)} (${duration(delay.to - delay.from)})`,
    }));
  const bars = barsOf(row, view, from, to);
  return [...delays, ...bars, ...(row.lanes > 1 ? [] : endsOf(bars, view)), ...refusedOf(row, view, from, to)];
}

/** Makes the track of a lock. `hrefOf(row, bar)` is where a bar leads to; without it nothing leads anywhere. */
export function track(hrefOf = null) {
  const layer = el("div", { class: "layer" });
  const node = el("div", { class: "track" }, layer);
  const drawn = new Map();
  /** The bar that is reached by Tab: the others by the arrows. */
  let current = null;
  let row = null;
  const bars = () =>
    [...drawn.values()].filter((one) => one.part.bar).sort((one, other) => one.part.from - other.part.from);

  function drawPart(one, part, view) {
    const { bar, ...seen } = part;
    const looks = JSON.stringify([seen, view.origin, view.span]);
    one.part = part;
    if (one.looks === looks) return;
    one.looks = looks;
    one.node.className = part.class;
    one.node.textContent = part.text ?? "";
    if (part.label) one.node.title = part.label;
    if (bar && hrefOf) one.node.setAttribute("aria-label", part.label);
    for (const [name, value] of Object.entries(part.style ?? {})) one.node.style.setProperty(name, value);
    view.put(one.node, part.from, part.to ?? null);
  }
  function rove(to) {
    if (current && drawn.has(current)) drawn.get(current).node.tabIndex = -1;
    current = to;
    if (current) drawn.get(current).node.tabIndex = 0;
  }

  const self = {
    node,
    /** Draws a row: only what is new, so that focus stays. `chosen` is the bar whose story is told. */
    draw(next, view, chosen = null) {
      row = next;
      const gone = new Set(drawn.keys());
      for (const part of partsOf(row, view)) {
        gone.delete(part.id);
        let one = drawn.get(part.id);
        if (!one) {
          const isLink = part.bar && hrefOf;
          one = {
            node: isLink ? el("a", { href: hrefOf(row, part.bar), tabindex: "-1", draggable: "false" }) : el("span"),
          };
          drawn.set(part.id, one);
          layer.append(one.node);
        }
        drawPart(one, part, view);
        if (isCurrent(one.node) !== (part.bar === chosen))
          one.node.setAttribute("aria-current", String(part.bar === chosen));
      }
      for (const id of gone) {
        drawn.get(id).node.remove();
        drawn.delete(id);
      }
      if (hrefOf && !drawn.has(current)) rove(bars().at(-1)?.part.id ?? null);
      self.move(view);
    },
    /** Moves to where the window is: what is held grows, and names stay in sight. */
    move(view) {
      view.move(layer);
      for (const { node: bar, part } of drawn.values()) {
        if (!part.bar) continue;
        if (part.to === null) view.put(bar, part.from, now());
        const indent =
          part.from < view.from && (part.to ?? now()) > view.from ? `${(6 - view.x(part.from)).toFixed(0)}px` : "";
        if (bar.style.textIndent !== indent) bar.style.textIndent = indent;
      }
    },
    /** Brings a bar into sight. */
    reveal(target, view) {
      const one = bars().find((other) => other.node === target);
      if (one) view.reveal(one.part.from, one.part.to ?? now());
    },
    /** The last bar that had begun at a time. */
    barAt: (at) => row?.bars.findLast((bar) => bar.from <= at) ?? null,
  };

  node.addEventListener("keydown", (event) => {
    const all = bars();
    const at = all.findIndex((one) => one.node === event.target);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    if (!all[to]) return;
    rove(all[to].part.id);
    all[to].node.focus({ preventScroll: true });
  });
  return self;
}
