// Who held which key and when, and who believed so, made of the records of locks.

import { control } from "./api.js";
import { changes } from "../core/signal.js";

const LOCK_KINDS = [
  "acquired",
  "acquire-refused",
  "released",
  "lock-delay-began",
  "lock-delay-ended",
  "session-created",
  "session-ended",
  "belief",
  "control",
];
/** How many bars and marks a key keeps. */
const KEPT = 1000;

/** `beliefs` has a row for each program that says what it believes. */
export const locks = { rows: new Map(), beliefs: new Map(), sessions: new Map(), isLoaded: false };
/** Records that came while the older ones were being read. */
let waiting = null;
let last = 0;

function rowOf(key) {
  let row = locks.rows.get(key);
  if (!row) {
    row = { key, bars: [], delays: [], refused: [], version: 0 };
    locks.rows.set(key, row);
  }
  row.version += 1;
  row.touched = performance.now();
  return row;
}

function believe({ number, at_ms: at, program, holds }) {
  if (!locks.beliefs.has(program)) locks.beliefs.set(program, { program, bars: [] });
  const { bars } = locks.beliefs.get(program);
  const bar = open(bars);
  if (holds && !bar) push(bars, { session: program, from: at, to: null, cause: "", began: number, ended: null });
  if (bar && !holds) Object.assign(bar, { to: at, cause: "it said so", ended: number });
}

function push(list, item) {
  list.push(item);
  if (list.length > KEPT) list.splice(0, list.length - KEPT / 2);
}

const open = (list) => {
  const item = list.at(-1);
  return item && item.to === null ? item : null;
};

/** Returns the bar of who holds a key. What `addHeld` added is wrong if a record of before comes after it: records were late. */
function heldBefore({ bars }, at) {
  const bar = open(bars);
  if (bar?.began !== null || at > bar.from) return bar;
  bars.pop();
  return null;
}

function take(record) {
  const { number, at_ms: at, kind, key, session } = record;
  if (number <= last) return;
  last = number;
  if (kind === "session-created") {
    locks.sessions.set(session, { name: record.name, node: record.node });
  } else if (kind === "acquired") {
    const row = rowOf(key);
    const bar = heldBefore(row, at);
    if (bar?.session !== session) {
      if (bar) Object.assign(bar, { to: at, cause: "another session acquired it", ended: number });
      push(row.bars, { session, from: at, to: null, cause: "", began: number, ended: null });
    }
  } else if (kind === "released") {
    const bar = heldBefore(rowOf(key), at);
    if (bar) Object.assign(bar, { to: at, cause: record.cause, ended: number });
  } else if (kind === "acquire-refused") {
    push(rowOf(key).refused, { at, session, cause: record.cause, number });
  } else if (kind === "belief") {
    believe(record);
  } else if (kind === "lock-delay-began") {
    push(rowOf(key).delays, { from: at, to: at + record.lasts_ms, number });
  } else if (kind === "lock-delay-ended") {
    const delay = rowOf(key).delays.at(-1);
    if (delay) delay.to = Math.min(delay.to, at);
  } else if (
    kind === "control" &&
    /^(rollback|reset|restart|state loaded|snapshot)/.test(record.text.replace(/^test: /, ""))
  ) {
    // What was held is not what is held now.
    for (const row of locks.rows.values()) {
      const bar = open(row.bars);
      if (bar) Object.assign(bar, { to: at, cause: record.text, ended: number });
      row.version += 1;
    }
  }
  changes("locks");
}

/** Takes over a record. */
export function addLockRecord(record) {
  if (!LOCK_KINDS.includes(record.kind)) return;
  if (waiting) waiting.push(record);
  else take(record);
}

/** Reads what happened to locks before the page was opened. Returns the last record of each key. */
export async function loadLocks() {
  Object.assign(locks, { rows: new Map(), beliefs: new Map(), sessions: new Map(), isLoaded: false });
  last = 0;
  waiting = [];
  const kinds = LOCK_KINDS.map((kind) => `kind=${kind}`).join("&");
  try {
    const { records } = await control("GET", `/history?${kinds}`);
    records.forEach(take);
    // Of each key once, for who else reads on from there.
    return [...new Map(records.filter((one) => one.key).map((one) => [one.key, one])).values()];
  } finally {
    const rest = waiting;
    waiting = null;
    rest.forEach(take);
    locks.isLoaded = true;
    changes("locks");
    changes("names");
  }
}

/**
 * Adds the keys that are held although no record says since when: of a loaded state, or of a history that was cleared.
 * `asked` is when the server was asked for them: what has happened since is newer than its answer.
 */
export function addHeld(held, at, asked) {
  if (!locks.isLoaded) return;
  for (const { key, session } of held) {
    const known = locks.rows.get(key);
    if (known && (open(known.bars) || known.touched >= asked)) continue;
    push(rowOf(key).bars, { session, from: at, to: null, cause: "", began: null, ended: null });
  }
}
