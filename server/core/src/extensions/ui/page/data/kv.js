// Keys by Consul's API. Keys whose path would be changed on its way go into a transaction.

import { read, write } from "./api.js";
import { toBase64 } from "../core/format.js";

/** Whether a path can name a key: neither the browser nor the server changes it on its way. */
const isPlain = (key) => /^[\p{L}\p{N}\p{M}\p{P}\p{S} ]+$/u.test(key) && !/^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(key);
export const pathOf = (key) => `/v1/kv/${encodeURIComponent(key).replaceAll("%2F", "/")}`;

// Flags are texts here: a number of JavaScript is exact up to 2^53, and the flags of each lock of Consul's Go client are above.
// Neither replacement meets a text within a string, whose quotes have backslashes.
const parse = (text) => JSON.parse(text.replace(/"Flags": ?(\d+)/g, '"Flags":"$1"'));
const print = (value) => JSON.stringify(value).replace(/"Flags":"(\d+)"/g, '"Flags":$1');

async function transact(operation) {
  try {
    const isRead = operation.Verb === "get";
    const done = await write("PUT", "/v1/txn", print([{ KV: operation }]), { parse, isRead });
    return done.Results?.[0]?.KV ?? true;
  } catch (error) {
    if (error.status === 409) return false;
    throw error;
  }
}

/** The entry of a key, with its `Flags` as text; `null` if there is none. */
export async function getKey(key) {
  if (!isPlain(key)) return (await transact({ Verb: "get", Key: key })) || null;
  try {
    return (await read(pathOf(key), undefined, parse)).value[0];
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** Writes a key with flags, a text, if its index is still `cas`; 0 makes a new one. Returns whether it was written. */
export async function putKey(key, bytes, flags, cas) {
  if (isPlain(key)) return write("PUT", `${pathOf(key)}?cas=${cas}&flags=${flags}`, bytes);
  const Value = toBase64(bytes);
  return Boolean(await transact({ Verb: "cas", Key: key, Value, Flags: flags, Index: cas }));
}

export async function deleteKey(key, cas) {
  if (isPlain(key)) return write("DELETE", `${pathOf(key)}?cas=${cas}`);
  return Boolean(await transact({ Verb: "delete-cas", Key: key, Index: cas }));
}

export const deleteTree = (prefix) => transact({ Verb: "delete-tree", Key: prefix });
