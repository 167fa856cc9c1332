// Semaphores in the form of `consul lock -n`: `PREFIX/.lock` names the holders, each contender holds `PREFIX/SESSION`.

import { fromBase64, textOf } from "../core/format.js";
import { getKey } from "./kv.js";
import { changes } from "../core/signal.js";
import { want } from "./wanted.js";

const SUFFIX = "/.lock";

/** By prefix: how many may hold it, and a bar for each that does or did. */
export const semaphores = new Map();
let isSeen = false;

/** The prefix of a semaphore whose part a key may be. */
function prefixOf(key, session = "") {
  if (key.endsWith(SUFFIX)) return key.slice(0, -SUFFIX.length);
  return session && key.endsWith(`/${session}`) ? key.slice(0, -session.length - 1) : null;
}

function holdersOf(entry) {
  try {
    const value = JSON.parse(textOf(fromBase64(entry.Value)));
    const holders = Array.isArray(value.Holders) ? value.Holders : Object.keys(value.Holders ?? {});
    return Number.isInteger(value.Limit) ? { limit: value.Limit, holders } : null;
  } catch {
    return null;
  }
}

/** Reads who holds a semaphore, after something has happened to it at a time of the server's clock. */
async function readSemaphore(prefix, at, number) {
  let entry = null;
  try {
    entry = await getKey(prefix + SUFFIX);
  } catch {
    /* It is read again after the next change. */
  }
  const found = entry && holdersOf(entry);
  if (!found && !semaphores.has(prefix)) return;
  const one = semaphores.get(prefix) ?? { limit: found.limit, bars: [], version: 0 };
  semaphores.set(prefix, one);
  one.version += 1;
  one.limit = found?.limit ?? one.limit;
  const holders = new Set(found?.holders);
  for (const bar of one.bars) {
    if (bar.to === null && !holders.delete(bar.session))
      Object.assign(bar, { to: at, cause: "it left the holders", ended: number });
  }
  for (const session of holders) {
    const used = new Set(one.bars.filter((bar) => bar.to === null).map((bar) => bar.lane));
    let lane = 0;
    while (used.has(lane)) lane += 1;
    one.bars.push({ session, from: at, to: null, cause: "", lane, began: number, ended: null });
  }
  if (one.bars.length > 1000) one.bars.splice(0, 500);
  changes("locks");
}

/** Takes over what a record says about semaphores. */
export function noteSemaphore({ key = "", prefix: tree, session, kind, at_ms: at, number }) {
  if (kind === "key-tree-deleted") {
    for (const one of semaphores.keys()) if (`${one}${SUFFIX}`.startsWith(tree)) readSemaphore(one, at, number);
    return;
  }
  if (!/^(key-|acquired|released)/.test(kind)) return;
  const prefix = prefixOf(key, session);
  if (prefix === null) return;
  // Where one may be, its holders are followed whatever is shown.
  if (!isSeen) want(/^key-/);
  isSeen = true;
  readSemaphore(prefix, at, number);
}
