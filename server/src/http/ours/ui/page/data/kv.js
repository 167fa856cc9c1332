// Keys by Consul's API. Keys whose path would be changed on its way go into a transaction.

import { read, write } from "./api.js";
import { toBase64 } from "../core/format.js";

const isPlain = (key) => /^[\x20-\x7e]+$/.test(key) && !/^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(key);
const path = (key) => `/v1/kv/${encodeURIComponent(key).replaceAll("%2F", "/")}`;

async function transact(operation) {
  try {
    const done = await write("PUT", "/v1/txn", JSON.stringify([{ KV: operation }]));
    return done.Results?.[0]?.KV ?? true;
  } catch (error) {
    if (error.status === 409) return false;
    throw error;
  }
}

/** The entry of a key; `null` if there is none. */
export async function getKey(key) {
  if (!isPlain(key)) return (await transact({ Verb: "get", Key: key })) || null;
  try {
    return (await read(path(key))).value[0];
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** Writes a key if its index is still `cas`; 0 makes a new one. Returns whether it was written. */
export async function putKey(key, bytes, flags, cas) {
  if (isPlain(key)) return write("PUT", `${path(key)}?cas=${cas}&flags=${flags}`, bytes);
  const Value = toBase64(bytes);
  return Boolean(await transact({ Verb: "cas", Key: key, Value, Flags: Number(flags), Index: cas }));
}

export async function deleteKey(key, cas) {
  if (isPlain(key)) return write("DELETE", `${path(key)}?cas=${cas}`);
  return Boolean(await transact({ Verb: "delete-cas", Key: key, Index: cas }));
}

export const deleteTree = (prefix) => transact({ Verb: "delete-tree", Key: prefix });
