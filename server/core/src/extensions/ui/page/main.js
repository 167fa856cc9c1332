// The frame around the views: header, navigation, notices; and which view is shown.

import { acl, token } from "./data/api.js";
import { clock, now, showTimes, timeText, TIMES } from "./core/clock.js";
import { button, el, field, fill, link, show } from "./core/dom.js";
import { duration, moment } from "./core/format.js";
import { start } from "./data/live.js";
import { refreshKeys } from "./data/keys.js";
import { faults as faultsInForce, refreshAll, use } from "./data/resources.js";
import { href, place, startRouter } from "./core/router.js";
import { dismiss, notices, server } from "./data/server.js";
import { changes, on } from "./core/signal.js";
import { openDialog } from "./widgets/dialog.js";
import * as agents from "./views/agents.js";
import * as blocked from "./views/blocked.js";
import * as catalog from "./views/catalog.js";
import * as faults from "./views/faults.js";
import * as history from "./views/history.js";
import * as keys from "./views/keys.js";
import * as locks from "./views/locks.js";
import * as more from "./views/more.js";
import * as sessions from "./views/sessions.js";
import * as state from "./views/state.js";
import * as time from "./views/time.js";

/** The views: their titles, what draws them, and whether they need the control plane. */
const VIEWS = {
  kv: ["Keys", keys],
  sessions: ["Sessions", sessions],
  locks: ["Locks", locks, true],
  history: ["History", history, true],
  blocked: ["Blocked", blocked, true],
  services: ["Services", catalog],
  nodes: ["Nodes", catalog],
  checks: ["Checks", catalog],
  more: ["ACLs, queries", more],
  time: ["Time", time, true],
  faults: ["Faults", faults, true],
  agents: ["Agents", agents, true],
  state: ["State", state, true],
};
/** What is shown at any other address. */
const NOWHERE = [
  "Not found",
  {
    mount: (root) => {
      root.append(
        el(
          "p",
          { class: "nothing" },
          isElsewhere()
            ? `There is no datacenter ${place.asked} here: this server’s is `
            : `There is nothing at ${location.pathname}.`,
          isElsewhere() && link(server.about.datacenter, "/ui/"),
        ),
      );
    },
  },
];
const isElsewhere = () => Boolean(place.asked && server.about && place.asked !== server.about.datacenter);

const NO_CONTROL =
  "To see locks over time, history, blocked requests, time, faults and states here, start the server with --control, and leave out --control-port.";
const status = el("span", { class: "status", role: "status" });
const about = el("span", { class: "about" });
const watch = el("a", { class: "watch", href: "#" });
const nav = el("nav", { "aria-label": "Views" });
const banner = el("div", { class: "banner", role: "alert", hidden: true });
const told = el("div", { class: "notices", "aria-live": "polite" });
const times = el(
  "select",
  { "aria-label": "Times", title: "How times are shown" },
  Object.entries(TIMES).map(([name, text]) => el("option", { value: name }, text)),
);
times.value = clock.shows;
times.addEventListener("change", () => showTimes(times.value));
const main = el("main", { tabindex: "-1", id: "main" });
let leave = () => {};
let drawn = "";

function drawView() {
  const [title, view, needs] = (!isElsewhere() && VIEWS[place.view]) || NOWHERE;
  const now = `${place.view} ${server.control} ${isElsewhere()}`;
  if (now !== drawn) {
    drawn = now;
    leave();
    leave = () => {};
    main.className = `view-${place.view}`;
    fill(main, el("h1", { class: "unseen" }, title));
    if (server.control === null) main.append(el("p", { class: "nothing" }, "Looking for the server …"));
    else if (needs && !server.control) main.append(el("p", { class: "nothing" }, "This view needs the control plane."));
    else leave = view.mount(main, place.view) ?? (() => {});
  }
  const at = place.view === "history" && place.query.get("at");
  const shown = at ? `#${at}` : ["key", "id", "name"].map((name) => place.query.get(name)).find(Boolean);
  document.title = [shown, title, "proconsul"].filter(Boolean).join(" · ");
  drawNav();
}

const links = Object.entries(VIEWS).map(([name, [title]]) => link(title, "", { "data-view": name }));
nav.append(...links);

function drawNav() {
  // One stop of the Tab key: arrows go on from it.
  const stop = Object.hasOwn(VIEWS, place.view) ? place.view : "kv";
  for (const one of links) {
    const { view } = one.dataset;
    one.href = href(view);
    one.tabIndex = view === stop ? 0 : -1;
    one.classList.toggle("off", Boolean(VIEWS[view][2] && server.control === false));
    if (view === place.view) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

nav.addEventListener("keydown", ({ key, target }) => {
  const next = { ArrowRight: target.nextElementSibling, ArrowLeft: target.previousElementSibling }[key];
  next?.focus();
});

function drawServer() {
  const words = { starting: "connecting", live: "live", gone: "gone" };
  document.body.dataset.status = server.status;
  fill(status, el("span", { class: "dot", "aria-hidden": "true" }), words[server.status]);
  const { about: what } = server;
  fill(about, what ? `${what.node} · Consul ${what.version}` : "");
  about.title = what ? `proconsul ${what.proconsul}, seed ${what.seed}, datacenter ${what.datacenter}` : "";
  const texts = [];
  if (server.status === "gone")
    texts.push("The server is gone. This page waits for it, and shows what was last known.");
  if (server.leaderLost) {
    const consul = server.leaderLost === "quorum-lost" ? "leadership lost while committing log" : "No cluster leader";
    texts.push(`The cluster has lost its leader (${server.leaderLost}); Consul answers “${consul}”.`);
  }
  if (server.control === false && server.status === "live") {
    texts.push(server.why || NO_CONTROL);
  }
  if (acl.denies && !token.get())
    texts.push("ACLs are on: this shows what may be read without a token. Choose Token to use yours.");
  banner.className = `banner ${server.status === "gone" || server.leaderLost ? "bad" : "info"}`;
  fill(
    show(banner, texts.length > 0),
    texts.map((text) => el("p", {}, text)),
  );
  drawView();
}

function drawClock() {
  if (!clock.known) return fill(watch);
  const rate = clock.rate === 0 ? "frozen" : clock.rate === 1 ? "" : `×${clock.rate}`;
  const next = clock.next === null ? "nothing is due" : `next in ${duration(Math.max(0, clock.next - now()))}`;
  watch.title = next;
  watch.href = href("time");
  return fill(
    watch,
    clock.shows === "ago" ? moment(now()) : timeText(now()),
    rate && el("span", { class: "rate" }, rate),
  );
}

function drawNotices() {
  fill(
    told,
    notices.map((notice) =>
      el(
        "div",
        { class: `notice ${notice.tone}` },
        el("span", {}, notice.times > 1 ? `${notice.text} ×${notice.times}` : notice.text),
        button("×", () => dismiss(notice), { class: "plain", "aria-label": "Dismiss" }),
      ),
    ),
  );
}

function askToken() {
  const input = el("input", {
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    set: { value: token.get() },
  });
  const save = (event) => {
    event.preventDefault();
    token.set(input.value.trim());
    close();
  };
  const close = openDialog(
    "Token",
    el(
      "form",
      { on: { submit: save } },
      field("Token of ACLs", input, "Sent to this server only, and forgotten with this tab."),
      el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Use")),
    ),
  );
}

document.body.append(
  el("a", { class: "skip", href: "#main" }, "Skip to the content"),
  el(
    "header",
    { class: "top" },
    el("div", { class: "brand" }, link("proconsul", "/ui/", { class: "logo" }), about),
    el("div", { class: "right" }, watch, times, status, button("Token", askToken, { class: "small" })),
  ),
  nav,
  banner,
  main,
  told,
);

on("place", drawView);
on("server", drawServer);
on("notices", drawNotices);
on("clock", drawClock);
on("token", () => {
  refreshAll();
  refreshKeys();
  drawServer();
});
// Every view says when the cluster has no leader, and that passes without a record.
use(faultsInForce, () => {});
setInterval(() => {
  if (server.leaderLost) faultsInForce.refresher.poke();
}, 1000);
setInterval(() => {
  if (!document.hidden) drawClock();
}, 100);
startRouter();
changes("server");
start();
