// The window of a timeline: which part of the time is shown, and how it is moved.

import { now } from "../core/clock.js";
import { el, fill } from "../core/dom.js";
import { moment } from "../core/format.js";

const DAY = 86400000;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1000,
  2000,
  5000,
  10000,
  15000,
  30000,
  60000,
  120000,
  300000,
  600000,
  1800000,
  3600000,
  7200000,
  21600000,
  DAY / 2,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  60 * DAY,
  180 * DAY,
  365 * DAY,
];
const LEAST_SPAN = 50;
/** Where the server's time is while the window follows it. */
const NOW_AT = 0.94;
/** How far a press moves before it is a drag, and the time before it is drawn. */
const LEAST_DRAG = 4;
const LEAST_MOVE = 2;

const label = (at, step) => (step >= DAY ? `${Math.round(at / DAY)}d` : moment(at).replace(/\.000$/, ""));

/**
 * Makes a window. What is at a time lies in layers, by shares of their width, so that they move as a whole. `drawn` is called when
 * other parts may be in sight, `moved` when the layers are to move.
 */
export function timeWindow({ drawn = () => {}, moved = () => {} } = {}) {
  const ticks = el("div", { class: "layer" });
  const axis = el("div", { class: "axis", "aria-hidden": "true" }, ticks);
  const one = { axis, from: 0, span: 60000, origin: 0, follows: true, width: 600, bucket: "" };
  let drawnAt = 0;
  let drawnNow = 0;

  const share = (ms) => `${((ms / one.span) * 100).toFixed(4)}%`;
  /** Where a time is drawn, for deciding what overlaps. */
  one.x = (at) => ((at - one.from) * one.width) / one.span;
  /** Puts a part of a layer at a time, and lets it last until another. */
  one.put = (node, from, to = null) => {
    node.style.left = share(from - one.origin);
    if (to !== null) node.style.width = share(to - from);
  };
  /** Moves a layer to where the window is. */
  one.move = (layer) => {
    layer.style.transform = `translateX(${share(one.origin - one.from)})`;
  };
  /** The times that are drawn: some more than are in sight. */
  one.reach = () => [one.from - 0.5 * one.span, one.from + 1.5 * one.span];

  function drawTicks() {
    const step = STEPS.find((ms) => (ms * one.width) / one.span >= 100) ?? STEPS.at(-1);
    const [from, to] = one.reach();
    const nodes = [];
    for (let at = Math.max(0, Math.ceil(from / step) * step); at < to; at += step) {
      const tick = el("span", { class: "tick" }, label(at, step));
      one.put(tick, at);
      nodes.push(tick);
    }
    fill(ticks, nodes);
  }

  /** Draws the window. Its parts are drawn again only where others may be in sight. */
  one.draw = () => {
    drawnAt = performance.now();
    drawnNow = now();
    if (one.follows) one.from = drawnNow - one.span * NOW_AT;
    const bucket = `${one.span} ${one.width} ${Math.floor((one.from / one.span) * 4)}`;
    if (bucket !== one.bucket) {
      const isSame = one.bucket.startsWith(`${one.span} `) && Math.abs(one.from - one.origin) < 20 * one.span;
      if (!isSame) one.origin = Math.floor(one.from);
      one.bucket = bucket;
      drawTicks();
      drawn();
    }
    one.move(ticks);
    moved();
  };
  /** Draws the window once the time has moved enough to be seen. */
  one.tick = () => {
    const moves = (Math.abs(now() - drawnNow) * one.width) / one.span;
    if (moves >= LEAST_MOVE || (moves > 0 && performance.now() - drawnAt > 1000)) one.draw();
  };

  one.zoom = (by, at = one.from + one.span * (one.follows ? NOW_AT : 0.5)) => {
    const part = (at - one.from) / one.span;
    one.span = Math.min(2 * STEPS.at(-1), Math.max(LEAST_SPAN, one.span * by));
    one.from = at - part * one.span;
    one.draw();
  };
  one.pan = (part) => {
    one.follows = false;
    one.from += part * one.span;
    one.draw();
  };
  one.show = (from, to) => {
    one.span = Math.max(LEAST_SPAN, to - from);
    one.from = from;
    one.draw();
  };
  /** Shows what lasts from a time until another, if nothing of it is in sight. */
  one.reveal = (from, to) => {
    if (from <= one.from + one.span && to >= one.from) return;
    one.follows = false;
    one.show(from - one.span / 2, from + one.span / 2);
  };
  /** Follows how wide it is. Returns how to stop. */
  one.attach = () => {
    const observer = new ResizeObserver(() => {
      if (!axis.clientWidth) return;
      one.width = axis.clientWidth;
      one.draw();
    });
    observer.observe(axis);
    return () => observer.disconnect();
  };
  return one;
}

/** Lets a timeline be dragged, and zoomed by the wheel with Ctrl. */
export function moveByPointer(node, one, changed) {
  let dragged = null;
  node.addEventListener("pointerdown", (event) => {
    if (event.button || !event.target.closest(".track, .axis")) return;
    dragged = { x: event.clientX, from: one.from };
  });
  node.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const moved = event.clientX - dragged.x;
    if (!node.hasPointerCapture(event.pointerId)) {
      if (Math.abs(moved) < LEAST_DRAG) return;
      // The press is none of what it began on.
      node.setPointerCapture(event.pointerId);
    }
    one.follows = false;
    one.from = dragged.from - (moved * one.span) / one.width;
    one.draw();
    changed();
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    node.addEventListener(end, () => {
      dragged = null;
    });
  node.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const x = event.clientX - one.axis.getBoundingClientRect().left;
      one.zoom(event.deltaY > 0 ? 1.25 : 0.8, one.from + (x * one.span) / one.width);
      changed();
    },
    { passive: false },
  );
}
