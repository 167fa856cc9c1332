// The server's clock, which may stand still, run fast, and jump; and elements that count down on it.

import { changes } from "./signal.js";
import { duration } from "./format.js";

export const clock = { known: false, rate: 1, next: null };
let stoodAt = 0;
let seenAt = 0;

/** Takes over what the server says about its clock. */
export function setClock({ now_ms, rate, next_deadline_in_ms }) {
  stoodAt = now_ms;
  seenAt = performance.now();
  clock.known = true;
  clock.rate = rate;
  clock.next = next_deadline_in_ms === null ? null : now_ms + next_deadline_in_ms;
  changes("clock");
}

/** The server's time in milliseconds, as far as it is known. */
export function now() {
  return stoodAt + (performance.now() - seenAt) * clock.rate;
}

function ticking(name, ms) {
  const node = document.createElement("time");
  node.className = "countdown";
  node.dataset[name] = ms;
  tick(node);
  return node;
}

/** An element that counts down to a time of the server's clock. */
export const countdown = (at) => ticking("at", at);

/** An element that counts up from a time of the server's clock. */
export const countup = (since) => ticking("since", since);

function tick(node) {
  const { at, since } = node.dataset;
  const left = at === undefined ? now() - Number(since) : Number(at) - now();
  const text = duration(Math.max(0, left));
  if (node.textContent !== text) node.textContent = text;
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll("time.countdown")) tick(node);
}, 200);
