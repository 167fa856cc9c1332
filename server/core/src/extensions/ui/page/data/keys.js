// The names of all keys in their order, kept up to date record by record: a hundred thousand are read once.

import { follow, list } from "./api.js";
import { server } from "./server.js";
import { changes, on, refresher } from "../core/signal.js";
import { want } from "./wanted.js";

const PATH = "/v1/kv/?keys";

export const keys = { names: [], version: 0, isLoaded: false, error: null };
let users = 0;
let stop = null;
/** Changes while the list is being read: its answer may be older than they are. */
let meanwhile = null;
const changed = new Map();
let isDue = false;

function set(names) {
  for (let at = 1; at < names.length; at += 1) {
    if (names[at - 1] >= names[at]) {
      // The server's order is that of bytes, which differs beyond the basic plane.
      names = [...new Set(names)].sort();
      break;
    }
  }
  keys.names = names;
  keys.version += 1;
  keys.isLoaded = true;
  keys.error = null;
  changes("keys");
}

function fail(error) {
  keys.error = error;
  changes("keys");
}

const reader = refresher(async () => {
  if (!users) return;
  meanwhile = new Map();
  try {
    const { value } = await list(PATH);
    set(value);
    for (const [key, isThere] of meanwhile) note(key, isThere);
  } catch (error) {
    fail(error);
  } finally {
    meanwhile = null;
  }
});

/** The place of the first name that is not before `key`. */
function placeOf(key, names = keys.names) {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function apply() {
  isDue = false;
  if (changed.size > 100) {
    const whole = new Set(keys.names);
    for (const [key, isThere] of changed) whole[isThere ? "add" : "delete"](key);
    keys.names = [...whole].sort();
  } else {
    for (const [key, isThere] of changed) {
      const at = placeOf(key);
      const isKnown = keys.names[at] === key;
      if (isThere && !isKnown) keys.names.splice(at, 0, key);
      else if (!isThere && isKnown) keys.names.splice(at, 1);
    }
  }
  changed.clear();
  keys.version += 1;
  changes("keys");
}

function note(key, isThere) {
  changed.set(key, isThere);
  if (isDue) return;
  isDue = true;
  setTimeout(apply, 150);
}

/** Takes over what a record says about a key. */
export function noteKey(key, isThere) {
  if (!users || !keys.isLoaded) return;
  meanwhile?.set(key, isThere);
  note(key, isThere);
}

/** Takes over that all keys with a prefix are gone. */
export function noteTree(prefix) {
  if (!users || !keys.isLoaded) return;
  const gone = [...changed.keys()].filter((key) => key.startsWith(prefix));
  for (let at = placeOf(prefix); keys.names[at]?.startsWith(prefix); at += 1) gone.push(keys.names[at]);
  for (const key of gone) noteKey(key, false);
}

export function refreshKeys() {
  if (!users) return;
  stop?.abort();
  if (server.control) reader.poke();
  else if (server.control === false) {
    stop = new AbortController();
    follow(PATH, stop.signal, set, fail);
  }
}

/** Keeps the names up to date for as long as somebody looks. */
export function useKeys(tell) {
  users += 1;
  const off = on("keys", tell);
  const unwant = want(/^key-/);
  if (users === 1) refreshKeys();
  if (keys.isLoaded) changes("keys");
  return () => {
    off();
    unwant();
    users -= 1;
    if (!users) {
      stop?.abort();
      keys.isLoaded = false;
    }
  };
}

/** The folders and keys directly below a prefix. */
export function childrenOf(prefix, names = keys.names) {
  const found = [];
  let at = placeOf(prefix, names);
  while (at < names.length && names[at].startsWith(prefix)) {
    const slash = names[at].indexOf("/", prefix.length);
    if (slash < 0) {
      found.push({ key: names[at], name: names[at].slice(prefix.length) });
      at += 1;
      continue;
    }
    const folder = names[at].slice(0, slash + 1);
    // Behind everything that begins with the folder: 0 follows the slash.
    const end = placeOf(`${folder.slice(0, -1)}0`, names);
    const isKey = names[at] === folder;
    found.push({ folder, name: folder.slice(prefix.length), count: end - at, isKey });
    at = end;
  }
  return found;
}
