// Links to sessions, keys and records, wherever they are named.

import { el, link } from "../core/dom.js";
import { hue, short } from "../core/format.js";
import { locks } from "../data/locklog.js";
import { sessions } from "../data/resources.js";
import { href } from "../core/router.js";

let indexed = { of: null, names: new Map() };

/** The name of a session, if it has one that is known. */
export function nameOf(id) {
  const known = locks.sessions.get(id)?.name;
  if (known) return known;
  if (indexed.of !== sessions.value) {
    indexed = { of: sessions.value, names: new Map(sessions.value.map((one) => [one.ID, one.Name])) };
  }
  return indexed.names.get(id) ?? "";
}

/** What a session is called. */
export const nameFor = (id) => nameOf(id) || short(id);

/** The color of a session: that of its name, so that who makes one after the other keeps it. Go's client calls all the same. */
export function hueOf(id) {
  const name = nameOf(id);
  return hue(name && !name.startsWith("Consul API ") ? name : id);
}

/** The color of a session as a mark before its name. */
export function sessionDot(id) {
  const dot = el("span", { class: "session-dot", "aria-hidden": "true" });
  dot.style.setProperty("--hue", hueOf(id));
  return dot;
}

/** A session, with its color. */
export function sessionLink(id, view = "sessions") {
  const query = view === "sessions" ? { id } : { session: id };
  const node = link(nameFor(id), href(view, query), { class: "session-link", title: id });
  node.prepend(sessionDot(id));
  return node;
}

export const keyLink = (key) => link(key || "(empty key)", href("kv", { key }), { class: "mono" });

export const recordLink = (number, text = `#${number}`) => link(text, href("history", { at: number }));

/** A text of the server with the names of sessions in place of their ids. */
export const readable = (text) => text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => nameFor(id));
