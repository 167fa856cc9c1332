// The window of a timeline: which part of the time is shown, and how it is moved.

import { now } from "../core/clock.js";
import { el, fill } from "../core/dom.js";
import { moment } from "../core/format.js";

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000,
  1800000, 3600000, 7200000, 21600000, 86400000, 604800000, 2592000000, 31536000000];
const LEAST_SPAN = 50;

/** Makes a window. `drawn` is called when other bars may be in sight. */
export function timeWindow(drawn) {
  const axis = el("div", { class: "axis", "aria-hidden": "true" });
  const one = { axis, from: 0, span: 30000, follows: true, scale: 1, width: 600, bucket: "" };
  let holder = null;

  one.attach = (node) => { holder = node; };

  /** Where a time is drawn, for deciding what overlaps. */
  one.x = (at) => (at - one.from) * one.scale;

  /** Draws the window. Bars move by the style of what holds them, without being drawn again. */
  one.draw = () => {
    one.width = axis.clientWidth || one.width;
    if (one.follows) one.from = now() - one.span * 0.94;
    one.scale = one.width / one.span;
    if (!holder) return;
    holder.style.setProperty("--from", one.from.toFixed(1));
    holder.style.setProperty("--scale", String(one.scale));
    holder.style.setProperty("--now", now().toFixed(1));
    const step = STEPS.find((ms) => ms * one.scale >= 100) ?? STEPS.at(-1);
    const ticks = [];
    for (let at = Math.max(0, Math.ceil(one.from / step) * step); at < one.from + one.span; at += step) {
      const tick = el("span", { class: "tick" }, moment(at).replace(/\.000$/, ""));
      tick.style.left = `${one.x(at)}px`;
      ticks.push(tick);
    }
    fill(axis, ticks);
    const bucket = `${one.scale.toFixed(9)} ${Math.floor(one.from / one.span)}`;
    if (bucket !== one.bucket) {
      one.bucket = bucket;
      drawn();
    }
  };

  one.zoom = (by, at = one.from + one.span * (one.follows ? 0.94 : 0.5)) => {
    const share = (at - one.from) / one.span;
    one.span = Math.min(STEPS.at(-1), Math.max(LEAST_SPAN, one.span * by));
    one.from = at - share * one.span;
    one.draw();
  };
  one.pan = (share) => {
    one.follows = false;
    one.from += share * one.span;
    one.draw();
  };
  one.show = (from, to) => {
    one.span = Math.max(LEAST_SPAN, to - from);
    one.from = from;
    one.draw();
  };
  return one;
}

/** Lets a timeline be dragged, and zoomed by the wheel with Ctrl. */
export function moveByPointer(node, one, changed) {
  let dragged = null;
  node.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("a, button") || !event.target.closest(".track, .axis")) return;
    dragged = { x: event.clientX, from: one.from };
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    one.follows = false;
    one.from = dragged.from - (event.clientX - dragged.x) / one.scale;
    one.draw();
    changed();
  });
  for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => { dragged = null; });
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const x = event.clientX - one.axis.getBoundingClientRect().left;
    one.zoom(event.deltaY > 0 ? 1.25 : 0.8, one.from + x / one.scale);
    changed();
  }, { passive: false });
}
