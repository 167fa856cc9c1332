// Lists of the server, read while a view shows them: again after a record that may have changed them, or, without the
// control plane, by blocking queries.

import { control, follow, list } from "./api.js";
import { server, setServer } from "./server.js";
import { changes, on, refresher } from "../core/signal.js";
import { want } from "./wanted.js";

const all = [];

function resource(topic, pokedBy, load, path = null) {
  const one = { topic, pokedBy, path, value: null, error: null, users: 0, stop: null };
  const set = (value, error) => {
    if (value !== null) one.value = value;
    one.error = error;
    changes(topic);
  };
  one.refresher = refresher(async () => {
    if (!one.users) return;
    try {
      set(await load(), null);
    } catch (error) {
      set(null, error);
    }
  });
  one.start = () => {
    one.stop?.abort();
    if (server.control) one.refresher.poke();
    else if (path && server.control === false) {
      one.stop = new AbortController();
      follow(
        path,
        one.stop.signal,
        (value) => set(value, null),
        (error) => set(null, error),
      );
    }
  };
  all.push(one);
  return one;
}

const consul = (topic, pokedBy, path) => resource(topic, pokedBy, async () => (await list(path)).value, path);

export const sessions = consul("sessions", /^session-|^catalog|^control/, "/v1/session/list");
export const services = consul("services", /^catalog|^control/, "/v1/catalog/services");
export const nodes = consul("nodes", /^catalog|^control/, "/v1/catalog/nodes");
export const checks = consul("checks", /^catalog|^control/, "/v1/health/state/any");
export const held = resource("held", /^acquired|^released|^control/, async () => {
  held.asked = performance.now();
  const { locks } = await control("GET", "/locks");
  return locks;
});
export const due = resource(
  "due",
  /^session-|^lock-delay|^catalog|^control|^key-(tree-)?deleted|^tombstones/,
  async () => {
    const { due: what } = await control("GET", "/clock/due");
    return what;
  },
);
export const blocked = resource("blocked", /^blocked|^woken|^control/, async () => {
  const found = await control("GET", "/blocked");
  return found.blocked;
});
export const faults = resource("faults", /^control/, async () => {
  const found = await control("GET", "/faults");
  if (found.leader_lost !== server.leaderLost) setServer({ leaderLost: found.leader_lost });
  return found.rules;
});
export const datacenters = resource("datacenters", /^control/, async () => {
  const found = await control("GET", "/datacenters");
  return found.datacenters;
});
export const checkpoints = resource("checkpoints", /^control/, async () => {
  const found = await control("GET", "/state/checkpoints");
  return found.checkpoints;
});

/** Keeps a resource up to date, and calls `tell` when it has changed. Returns how to stop. */
export function use(one, tell) {
  one.users += 1;
  const off = on(one.topic, tell);
  const unwant = want(one.pokedBy);
  if (one.users === 1) one.start();
  if (one.value !== null) changes(one.topic);
  return () => {
    off();
    unwant();
    one.users -= 1;
    if (!one.users) one.stop?.abort();
  };
}

/** Reads what a record of this kind may have changed. */
export function poke(kind) {
  for (const one of all) if (one.users && one.pokedBy.test(kind)) one.refresher.poke();
}

/** Reads everything that is shown again. */
export function refreshAll() {
  for (const one of all) if (one.users) one.start();
}

/** When each session expires, and each lock-delay ends. */
export function deadlines() {
  const expiries = new Map();
  const delays = new Map();
  for (const { at_ms, session, key } of due.value ?? []) {
    if (session) expiries.set(session, at_ms);
    else if (key !== undefined) delays.set(key, at_ms);
  }
  return { expiries, delays };
}
