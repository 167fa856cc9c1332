// Which kinds of records the page needs for what it shows: the server sends it no others.

import { changes } from "../core/signal.js";

const KINDS = `request answer blocked woken held key-written key-deleted key-tree-deleted write-refused acquired
  acquire-refused released release-refused lock-delay-began lock-delay-ended session-created session-renewed session-refused session-ended
  catalog-changed tombstones-reaped access-denied token-unknown rows-removed belief control`.split(/\s+/);
const patterns = [];

/** Asks for the kinds that a pattern matches. Returns how to stop. */
export function want(pattern) {
  patterns.push(pattern);
  changes("wanted");
  return () => {
    patterns.splice(patterns.indexOf(pattern), 1);
    changes("wanted");
  };
}

/** The kinds that are wanted, as parameters: an empty text for all. */
export function wanted() {
  const some = KINDS.filter((kind) => patterns.some((pattern) => pattern.test(kind)));
  return some.length === KINDS.length ? "" : some.map((kind) => `&kind=${kind}`).join("");
}
