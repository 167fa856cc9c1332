// The last records of the history. Each names the one that it follows from.

import { control } from "./api.js";
import { changes } from "../core/signal.js";

/** How many records the page keeps. The server keeps more. */
const KEPT = 20000;
/** How many records are read before and after one that a link leads to. */
const AROUND = 500;

export const records = { all: [], last: 0, missed: 0, isLoaded: false };

export function addRecord(record) {
  records.all.push(record);
  records.last = record.number;
  records.isLoaded = true;
  if (records.all.length > KEPT * 1.25) records.all.splice(0, records.all.length - KEPT);
  changes("records");
}

/** Reads the records around one that happened before those that the page has. */
export async function readAround(number) {
  const [first] = records.all;
  if (!first || number >= first.number) return false;
  const { records: older } = await control("GET", `/history?after=${Math.max(0, number - AROUND)}&limit=${2 * AROUND}`);
  // More may have come, and some have gone.
  const [next] = records.all;
  records.all.unshift(...older.filter((one) => one.number < next.number));
  return Boolean(recordAt(number));
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

/** All records of a request whose arrival is `root`: how it was blocked, woken, refused and answered, and what it changed. */
export const recordsOf = (root) =>
  records.all
    .slice(placeOfRecord(root.number))
    .filter((one) => one.caused_by === root.number || one.request === root.request);

/** The records that follow from one. */
export const causedBy = ({ number }) =>
  records.all.slice(placeOfRecord(number)).filter((one) => one.caused_by === number);
