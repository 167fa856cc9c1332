// The last records of the history, and how they hang together.

import { changes } from "../core/signal.js";

/** How many records the page keeps. The server keeps more. */
const KEPT = 20000;

export const records = { all: [], last: 0, missed: 0 };

export function addRecord(record) {
  records.all.push(record);
  records.last = record.number;
  if (records.all.length > KEPT * 1.25) records.all.splice(0, records.all.length - KEPT);
  changes("records");
}

export function forgetRecords() {
  records.all = [];
  records.last = 0;
  records.missed = 0;
  changes("records");
}

/** The place of the first record whose number is not below `number`. */
function placeOfRecord(number) {
  let low = 0;
  let high = records.all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (records.all[middle].number < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const recordAt = (number) => {
  const found = records.all[placeOfRecord(number)];
  return found?.number === number ? found : null;
};

const EFFECTS = /^(key-|write-refused|acquire|release|session-|catalog-)/;
/** How far links are looked for. */
const NEAR = 2000;

/** Whether a request is about what a record says happened. */
function isAbout({ target }, record) {
  const path = target.split("?")[0];
  if (path === "/v1/txn") return true;
  let text = target;
  try { text = decodeURIComponent(target); } catch { /* It stays as it was sent. */ }
  if (record.kind.startsWith("catalog")) return /^\/v1\/(agent|catalog)\//.test(path);
  if (record.key !== undefined && text.includes(record.key)) return true;
  if (record.kind === "session-created") return path === "/v1/session/create";
  return Boolean(record.session) && text.includes(record.session);
}

/** The record that most likely caused another: `null` where the clock did. */
export function causeOf(record) {
  const at = placeOfRecord(record.number);
  const from = Math.max(0, at - NEAR);
  const before = (accepts) => {
    for (let place = at - 1; place >= from; place -= 1) if (accepts(records.all[place])) return records.all[place];
    return null;
  };
  if (record.request !== undefined && record.kind !== "request") {
    if (record.kind === "woken") {
      const change = before((one) => one.index === record.index && /^(key-|session-|catalog-|control)/.test(one.kind));
      if (change) return change;
    }
    return before((one) => one.kind === "request" && one.request === record.request);
  }
  if (["released", "lock-delay-began", "key-deleted", "key-written"].includes(record.kind)) {
    const end = before((one) => one.kind === "session-ended" && one.index === record.index && one.at_ms === record.at_ms);
    if (end) return end;
  }
  if (record.kind === "lock-delay-ended") {
    return before((one) => one.kind === "lock-delay-began" && one.key === record.key);
  }
  if (!EFFECTS.test(record.kind) || record.cause === "its TTL ran out") return null;
  const answered = new Set();
  return before((one) => {
    if (one.kind === "answer") answered.add(one.request);
    if (one.kind === "control") return record.at_ms === one.at_ms;
    return one.kind === "request" && one.method !== "GET" && !answered.has(one.request) && isAbout(one, record);
  });
}

/** The records that a record most likely caused. */
export function causedBy(record) {
  const at = placeOfRecord(record.number);
  const end = Math.min(records.all.length, at + NEAR);
  const found = [];
  for (let place = at + 1; place < end && found.length < 50; place += 1) {
    const one = records.all[place];
    if (causeOf(one)?.number === record.number) found.push(one);
    if (record.kind === "request" && one.kind === "answer" && one.request === record.request) break;
    if (record.kind !== "request" && one.at_ms > record.at_ms + 120000) break;
  }
  return found;
}
