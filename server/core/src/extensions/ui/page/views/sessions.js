// Sessions: who they are, how long they live, what they hold; and ending one.

import { control, nothingOf, write } from "../data/api.js";
import { countdown } from "../core/clock.js";
import { badge, button, el, facts, fill, link, refill } from "../core/dom.js";
import { count, goDuration, short } from "../core/format.js";
import { deadlines, due, held, sessions, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { attempt, server } from "../data/server.js";
import { on } from "../core/signal.js";
import { copyButton } from "../widgets/copy.js";
import { ask } from "../widgets/dialog.js";
import { keyLink, sessionDot } from "../widgets/links.js";
import { table } from "../widgets/table.js";

const checksOf = (session) => [
  ...(session.NodeChecks ?? session.Checks ?? []),
  ...(session.ServiceChecks ?? []).map((one) => one.ID),
];

export function mount(root) {
  const life = scope();
  let expiries = new Map();
  let locksOf = new Map();
  let filter = "";
  const total = el("span", { class: "quiet", role: "status" });
  const pane = el("section", { class: "pane", "aria-label": "Session" });
  const input = el("input", { type: "search", placeholder: "Filter sessions", "aria-label": "Filter sessions" });
  const expiryOf = (id) => (expiries.has(id) ? countdown(expiries.get(id)) : "—");

  const list = table({
    label: "Sessions",
    columns: [
      {
        name: "Session",
        cell: (one) => el("span", { title: one.ID }, sessionDot(one.ID), one.Name || short(one.ID)),
        by: (one) => one.Name || one.ID,
        width: "minmax(9rem, 2fr)",
      },
      { name: "Node", cell: (one) => one.Node, by: (one) => one.Node, from: 520 },
      { name: "TTL", cell: (one) => one.TTL || "none", width: "5rem", from: 420 },
      {
        name: "Expires in",
        cell: (one) => expiryOf(one.ID),
        by: (one) => expiries.get(one.ID) ?? Infinity,
        width: "6.5rem",
      },
      { name: "On expiry", cell: (one) => one.Behavior, by: (one) => one.Behavior, width: "6.5rem", from: 640 },
      {
        name: "Locks",
        cell: (one) => String(locksOf.get(one.ID)?.length ?? (server.control ? 0 : "")),
        by: (one) => locksOf.get(one.ID)?.length ?? 0,
        width: "4.5rem",
      },
    ],
    id: (one) => one.ID,
    sign: (one) => `${one.Name} ${one.TTL} ${expiries.get(one.ID)} ${locksOf.get(one.ID)?.length}`,
    open: (one) => go(href("sessions", { id: one.ID })),
  });

  const destroy = async (session) => {
    const holds = locksOf.get(session.ID) ?? [];
    const loses = holds.length ? ` It holds ${count(holds.length, "key")}.` : "";
    if (
      !(await ask("Destroy a session", `Session ${session.Name || session.ID} will be destroyed.${loses}`, "Destroy"))
    )
      return;
    await attempt(() => write("PUT", `/v1/session/destroy/${session.ID}`), "The session was destroyed.");
  };
  const expire = (session) =>
    attempt(() => control("POST", "/sessions/expire", { session: session.ID }), "The session has expired.");

  function drawPane() {
    const id = place.query.get("id");
    root.classList.toggle("has-detail", id !== null);
    list.select(id);
    const session = sessions.value?.find((one) => one.ID === id);
    const keys = locksOf.get(id) ?? [];
    const isKnown = Boolean(sessions.value);
    refill(pane, [id, session, isKnown, keys, expiries.has(id), server.control], () =>
      session
        ? sessionPane(session, keys)
        : [
            el(
              "p",
              { class: "nothing" },
              !isKnown ? "Reading …" : id ? `Session ${id} is not there (any more).` : "Choose a session.",
            ),
            id && server.control && link("Its history", href("history", { session: id })),
          ],
    );
    const left = pane.querySelector("time.countdown");
    if (left) left.dataset.at = expiries.get(id);
  }

  function sessionPane(session, keys) {
    const id = session.ID;
    return [
      el(
        "div",
        { class: "bar" },
        button("‹ Sessions", () => go(href("sessions")), { class: "small back" }),
        el(
          "h2",
          {},
          session.Name || short(id),
          " ",
          badge(`on expiry: ${session.Behavior}`, session.Behavior === "delete" ? "warn" : "info"),
        ),
        el(
          "div",
          { class: "actions" },
          button("Destroy", () => destroy(session), { class: "danger" }),
          server.control && button("Expire now", () => expire(session)),
          server.control && link("History", href("history", { session: id }), { class: "button" }),
        ),
      ),
      facts([
        ["Id", [el("span", { class: "mono" }, id), " ", copyButton("Copy id", () => id)]],
        ["Node", session.Node],
        ["TTL", session.TTL || "none"],
        ["Expires in", expiries.has(id) ? countdown(expiries.get(id)) : null],
        ["Lock-delay", goDuration(session.LockDelay)],
        ["Checks", checksOf(session).join(", ") || "none"],
        ["CreateIndex", String(session.CreateIndex)],
        ["ModifyIndex", String(session.ModifyIndex)],
      ]),
      server.control && el("h3", {}, keys.length ? `Holds ${count(keys.length, "key")}` : "Holds no key"),
      el(
        "ul",
        { class: "plain-list" },
        keys.slice(0, 500).map((key) => el("li", {}, keyLink(key))),
      ),
    ];
  }

  function draw() {
    const wanted = filter.toLowerCase();
    const all = sessions.value ?? [];
    const found = wanted
      ? all.filter((one) => `${one.ID} ${one.Name} ${one.Node}`.toLowerCase().includes(wanted))
      : all;
    fill(total, sessions.error ? sessions.error.message : count(found.length, "session"));
    list.set(sessions.value || sessions.error ? found : null, sessions.error?.message ?? nothingOf("sessions"));
    drawPane();
  }

  input.addEventListener("input", () => {
    filter = input.value;
    draw();
  });
  root.append(
    el(
      "div",
      { class: "split on-demand" },
      el(
        "section",
        { class: "side", "aria-label": "All sessions" },
        el("div", { class: "bar" }, input, total),
        list.node,
      ),
      pane,
    ),
  );
  life.add(use(sessions, draw), on("place", drawPane));
  if (server.control) {
    life.add(
      use(due, () => {
        ({ expiries } = deadlines());
        draw();
      }),
      use(held, () => {
        locksOf = Map.groupBy?.(held.value ?? [], (one) => one.session) ?? new Map();
        for (const [session, all] of locksOf)
          locksOf.set(
            session,
            all.map((one) => one.key),
          );
        draw();
      }),
    );
  }
  draw();
  return () => life.stop();
}
