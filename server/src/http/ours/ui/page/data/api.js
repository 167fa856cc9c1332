// Requests to this server: Consul's API, and the control plane.

import { changes } from "../core/signal.js";

const CONTROL = "/proconsul/v1";

/** The token of ACLs, which lives as long as the tab. */
export const token = {
  get: () => sessionStorage.getItem("token") ?? "",
  set: (text) => {
    if (text) sessionStorage.setItem("token", text);
    else sessionStorage.removeItem("token");
    changes("token");
  },
};

/** A request that failed: status 0 when there was no answer. */
class Failure extends Error {
  constructor(status, text) {
    super(text.trim() || (status ? `status ${status}` : "the server does not answer"));
    this.status = status;
  }
}

/** Ends all requests when the page is left: a browser that keeps it for the way back would keep its connections, too. */
const leaving = new AbortController();
addEventListener("pagehide", () => leaving.abort());
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

async function send(path, { signal, ...options }) {
  let response;
  try {
    const ends = AbortSignal.any(signal ? [signal, leaving.signal] : [leaving.signal]);
    response = await fetch(path, { cache: "no-store", redirect: "error", signal: ends, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "");
  }
  if (!response.ok) throw new Failure(response.status, await response.text());
  return response;
}

function headers(more = {}) {
  return token.get() ? { ...more, "X-Consul-Token": token.get() } : more;
}

/** Reads from Consul's API. The server does not observe what the page reads, if it can be controlled. */
export async function read(path, signal) {
  const response = await send(path, { signal, headers: headers({ "X-Proconsul-Page": "1" }) });
  return { value: await response.json(), index: response.headers.get("X-Consul-Index") };
}

/** Reads a list, which is missing where there is nothing. */
export async function list(path, signal) {
  try {
    return await read(path, signal);
  } catch (error) {
    if (error.status === 404 && !error.message.includes("URL")) return { value: [], index: "0" };
    throw error;
  }
}

/** Changes something by Consul's API. */
export async function write(method, path, body) {
  const response = await send(path, { method, body, headers: headers() });
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Calls the control plane. */
export async function control(method, path, body) {
  const json = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await send(CONTROL + path, { method, ...json });
  return response.json();
}

/** Opens the stream of events. */
export function eventsAt(query) {
  const events = new EventSource(`${CONTROL}/events?${query}`);
  leaving.signal.addEventListener("abort", () => events.close());
  return events;
}
export const stateAt = `${CONTROL}/state`;

/** Follows a list by blocking queries, for as long as `signal` lasts. */
export async function follow(path, signal, tell, fail) {
  let index = 0;
  while (!signal.aborted) {
    try {
      const glue = path.includes("?") ? "&" : "?";
      const wait = index > 0 ? `${glue}index=${index}&wait=60s` : "";
      const found = await list(path + wait, signal);
      const next = Number(found.index) || 0;
      tell(found.value, next);
      // As the documentation of Consul has it: an index that goes back starts anew.
      index = next < index ? 0 : Math.max(1, next);
    } catch (error) {
      if (signal.aborted) return;
      fail(error);
      index = 0;
      await new Promise((done) => { setTimeout(done, 1000); });
    }
  }
}
