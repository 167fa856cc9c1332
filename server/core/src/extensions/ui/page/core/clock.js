// The server's clock, which may stand still, run fast, and jump; and elements that count down on it.

import { changes } from "./signal.js";
import { duration, moment } from "./format.js";

/** How times are shown. */
export const TIMES = { start: "Since start", ago: "Ago", utc: "UTC", local: "Local time" };
const SHOWS = "times";

/** `epoch` is the server's wall clock when its own began, in milliseconds; `null` while it is not known. */
export const clock = { known: false, rate: 1, next: null, epoch: null, shows: localStorage.getItem(SHOWS) ?? "start" };
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
  node.className = name === "moment" ? name : "countdown";
  node.dataset[name] = ms;
  tick(node);
  return node;
}

/** An element that counts down to a time of the server's clock. */
export const countdown = (at) => ticking("at", at);

/** An element that counts up from a time of the server's clock. */
export const countup = (since) => ticking("since", since);

/** Shows all times in this way, in later visits, too. */
export function showTimes(name) {
  clock.shows = name;
  localStorage.setItem(SHOWS, name);
  for (const node of document.querySelectorAll("time.moment")) tick(node);
}

/** A time of the server's clock in the way that was chosen. The wall clock is the server's: as the machine's, until it is moved. */
export function timeText(ms) {
  if (clock.shows === "ago") return `${duration(Math.max(0, now() - ms))} ago`;
  if (clock.epoch === null || clock.shows === "start") return moment(ms);
  const wall = new Date(clock.epoch + ms);
  if (clock.shows === "utc") return wall.toISOString().slice(11);
  return `${wall.toTimeString().slice(0, 8)}.${String(wall.getMilliseconds()).padStart(3, "0")}`;
}

/** An element that shows a time of the server's clock. */
export const timeAt = (ms) => ticking("moment", ms);

function tickMoment(node) {
  const ms = Number(node.dataset.moment);
  const text = timeText(ms);
  if (node.textContent !== text) node.textContent = text;
  if (clock.epoch === null || node.dateTime) return;
  node.dateTime = new Date(clock.epoch + ms).toISOString();
  node.title = `${moment(ms)} since start, ${node.dateTime}`;
}

function tick(node) {
  if (node.dataset.moment !== undefined) return tickMoment(node);
  const { at, since } = node.dataset;
  const left = at === undefined ? now() - Number(since) : Number(at) - now();
  const text = duration(Math.max(0, left));
  if (node.textContent !== text) node.textContent = text;
  return undefined;
}

setInterval(() => {
  if (document.hidden) return;
  for (const node of document.querySelectorAll(clock.shows === "ago" ? "time" : "time.countdown")) tick(node);
}, 200);
