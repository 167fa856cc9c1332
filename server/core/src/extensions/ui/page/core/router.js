// Where the page is: Consul's own paths, and ours of the same kind. `/ui/dc1/locks?key=job` is the view `locks`.

import { changes } from "./signal.js";

const VIEWS = {
  kv: "kv",
  services: "services",
  nodes: "nodes",
  checks: "checks",
  sessions: "sessions",
  queries: "more",
  intentions: "more",
  acls: "more",
  tokens: "more",
  more: "more",
  locks: "locks",
  history: "history",
  blocked: "blocked",
  time: "time",
  faults: "faults",
  agents: "agents",
  state: "state",
};

/** `asked` is the datacenter that the address names; `null` if it names none. */
export const place = { dc: "dc1", asked: null, view: "kv", query: new URLSearchParams() };

/** What may not be left without a question: `isUnsaved()`, and `mayGo()`, which asks. */
let guarded = null;
/** How many places the browser's way back has before this one. */
let depth = 0;

/** Asks before the page goes elsewhere. Returns how to stop. */
export function guard(one) {
  guarded = one;
  return () => {
    if (guarded === one) guarded = null;
  };
}

/** Goes on if nothing is lost, or after the reader has said so. Returns whether there is a question. */
function asks(leave) {
  const one = guarded;
  if (!one?.isUnsaved()) return false;
  one.mayGo().then((may) => {
    if (!may) return;
    guarded = null;
    leave();
  });
  return true;
}

/** The path of a view. */
export function href(view, query = {}) {
  const set = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(set).toString();
  return `/ui/${encodeURIComponent(place.dc)}/${view}${text ? `?${text}` : ""}`;
}

/** A part of an address without `%XX`. */
export const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Reads the address. Consul's `/ui/dc1/kv/a/b/edit` shows the key `a/b`, `/ui/dc1/kv/a/` opens the folder. */
function understand() {
  const [dc, view = "", ...rest] = location.pathname
    .replace(/^\/ui\//, "")
    .split("/")
    .map(decoded);
  place.query = new URLSearchParams(location.search);
  // The name of the datacenter may be left out.
  const isNamed = Object.hasOwn(VIEWS, view) || (dc && !view && !Object.hasOwn(VIEWS, dc));
  const named = isNamed ? [dc, view, rest] : [null, dc, [view, ...rest]];
  place.asked = named[0];
  place.view = Object.hasOwn(VIEWS, named[1]) ? VIEWS[named[1]] : named[1] ? "nowhere" : "kv";
  const path = named[2].join("/");
  if (place.view === "kv" && path.endsWith("/edit")) place.query.set("key", path.slice(0, -"/edit".length));
  else if (place.view === "kv" && path) place.query.set("open", path);
  else if (place.view === "more" && !place.query.has("list")) place.query.set("list", path || named[1]);
  else if (["services", "nodes"].includes(place.view) && path) place.query.set("name", named[2][0]);
  changes("place");
}

/** Goes to a place of the page. */
export function go(to, { replaces = false } = {}) {
  if (to === location.pathname + location.search || asks(() => go(to, { replaces }))) return;
  if (!replaces) depth += 1;
  history[replaces ? "replaceState" : "pushState"](depth, "", to);
  understand();
}

/** Follows links within the page without loading it again, and the browser's own back and forward. */
export function startRouter() {
  document.addEventListener("click", (event) => {
    const a = event.target.closest?.("a[href^='/ui/']");
    if (!a || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(a.getAttribute("href"));
  });
  addEventListener("popstate", ({ state }) => {
    const by = (state ?? depth) - depth;
    // The browser has gone already: it comes back until the reader has answered.
    if (by && asks(() => history.go(by))) return history.go(-by);
    depth += by;
    return understand();
  });
  addEventListener("beforeunload", (event) => {
    if (guarded?.isUnsaved()) event.preventDefault();
  });
  depth = history.state ?? 0;
  history.replaceState(depth, "");
  understand();
}
