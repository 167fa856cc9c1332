// Where the page is: Consul's own paths, and ours of the same kind. `/ui/dc1/locks?key=job` is the view `locks`.

import { changes } from "./signal.js";

const VIEWS = {
  kv: "kv", services: "services", nodes: "nodes", checks: "checks", sessions: "sessions", queries: "more",
  intentions: "more", acls: "more", tokens: "more", more: "more", locks: "locks", history: "history",
  blocked: "blocked", time: "time", faults: "faults", state: "state",
};

export const place = { dc: "dc1", view: "kv", query: new URLSearchParams() };

/** The path of a view. */
export function href(view, query = {}) {
  const set = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(set).toString();
  return `/ui/${encodeURIComponent(place.dc)}/${view}${text ? `?${text}` : ""}`;
}

const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };

/** Reads the address. Consul's `/ui/dc1/kv/a/b/edit` shows the key `a/b`, `/ui/dc1/kv/a/` opens the folder. */
function understand() {
  const [dc, view = "", ...rest] = location.pathname.replace(/^\/ui\//, "").split("/").map(decoded);
  place.query = new URLSearchParams(location.search);
  // The name of the datacenter may be left out.
  const named = Object.hasOwn(VIEWS, view) ? [dc, view, rest] : [place.dc, dc, [view, ...rest]];
  place.dc = named[0] || "dc1";
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
  if (to === location.pathname + location.search) return;
  history[replaces ? "replaceState" : "pushState"](null, "", to);
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
  addEventListener("popstate", understand);
  understand();
}
