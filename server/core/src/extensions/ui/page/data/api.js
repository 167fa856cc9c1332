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

/** Whether Consul's API refuses what no rule allows. */
export const acl = { denies: false };

/** That a list is empty, as far as the token of this tab may read it. */
export const nothingOf = (what) =>
  acl.denies
    ? `There are no ${what} that may be read ${token.get() ? "with this token" : "without a token"}.`
    : `There are no ${what}.`;

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
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});

async function send(path, { signal, ...options }) {
  let response;
  try {
    const ends = AbortSignal.any(signal ? [signal, leaving.signal] : [leaving.signal]);
    response = await fetch(path, { cache: "no-store", redirect: "error", signal: ends, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "");
  }
  const denies = (response.headers.get("X-Consul-Default-Acl-Policy") ?? "allow") === "deny";
  if (path.startsWith("/v1/") && denies !== acl.denies) {
    acl.denies = denies;
    changes("server");
  }
  if (!response.ok) throw new Failure(response.status, await response.text());
  return response;
}

function headers(more = {}) {
  return token.get() ? { ...more, "X-Consul-Token": token.get() } : more;
}

const UNOBSERVED = { "X-Proconsul-Page": "1" };

/** Reads from Consul's API. The server does not observe what the page reads, if it can be controlled. */
export async function read(path, signal, parse = JSON.parse) {
  const response = await send(path, { signal, headers: headers(UNOBSERVED) });
  return { value: parse(await response.text()), index: response.headers.get("X-Consul-Index") };
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

/** Sends a request of another method to Consul's API. With `isRead` the server does not observe it: a transaction that reads. */
export async function write(method, path, body, { parse = JSON.parse, isRead = false } = {}) {
  const response = await send(path, { method, body, headers: headers(isRead ? UNOBSERVED : {}) });
  const text = await response.text();
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** How long after a call of this page its record may come. */
const RECORD_MS = 1000;
let ownCalls = 0;

/** Whether a record of the control plane may be that of a call of this page, which says itself what it has done. */
export const isOwnCall = () => ownCalls > 0;

/** Calls the control plane. */
export async function control(method, path, body) {
  const json =
    body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const isChange = method !== "GET";
  ownCalls += isChange;
  try {
    const response = await send(CONTROL + path, { method, ...json });
    return await response.json();
  } finally {
    if (isChange)
      setTimeout(() => {
        ownCalls -= 1;
      }, RECORD_MS);
  }
}

/** Opens the stream of events. */
export function eventsAt(query) {
  const events = new EventSource(`${CONTROL}/events?${query}`);
  leaving.signal.addEventListener("abort", () => events.close());
  return events;
}
export const stateAt = `${CONTROL}/state`;

/**
 * How often a list is read where no control plane says what has changed. A browser has six connections for a server: blocking
 * queries of two tabs would hold all of them, also from the program that is tested in a third.
 */
const POLL_MS = 2000;

/** Follows a list for as long as `signal` lasts, while the page is in sight. */
export async function follow(path, signal, tell, fail) {
  let index = null;
  while (!signal.aborted) {
    try {
      const found = document.hidden ? null : await list(path, signal);
      if (found && found.index !== index) tell(found.value);
      index = found ? found.index : index;
    } catch (error) {
      if (signal.aborted) return;
      fail(error);
      index = null;
    }
    await new Promise((done) => {
      setTimeout(done, POLL_MS);
    });
  }
}
