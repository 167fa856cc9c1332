// Faults: what goes wrong on demand, with forms made from the description of the control plane.

import { control } from "../data/api.js";
import { badge, button, el, field, fill } from "../core/dom.js";
import { count } from "../core/format.js";
import { faults, use } from "../data/resources.js";
import { scope } from "../core/scope.js";
import { attempt, server } from "../data/server.js";
import { on } from "../core/signal.js";
import { schemaForm } from "../widgets/schema.js";

let description = null;

/** The calls whose forms are shown: their path, their button, and what is said when they are done. */
const CALLS = [
  ["/faults", "Add the fault", "The fault is in force."],
  ["/leader/lose", "Lose the leader", "The leader is lost."],
  ["/wakes/delay", "Delay wakes", "Wakes come late."],
  ["/wakes/spurious", "Wake for nothing", "Woken."],
  ["/checks/fail", "Fail a check", "The check is critical."],
  ["/checks/pass", "Pass a check", "The check is passing."],
  ["/nodes/delete", "Delete a node", "The node is deleted."],
];

/** How often a rule has hit, and of how many times; one that hits no more says so. */
function hitsOf({ hits, times }) {
  const text = times === null ? count(hits, "hit") : `${hits} of ${count(times, "hit")}`;
  return times !== null && hits >= times ? badge(`used up: ${text}`) : badge(text, hits ? "warn" : "quiet");
}

const next = { times: 1 };
const nextWrite = { method: "PUT", path: "/v1/kv/", ...next };
const respond = (status) => ({ kind: "respond", status, body: "by a fault\n" });

/** Faults at a press: their call and its body; `true` for those that may be for some keys only. */
const READY = [
  ["500 on the next PUT", "/faults", { effect: respond(500), method: "PUT", ...next }, true],
  ["Lose the answer of the next write", "/faults", { effect: { kind: "applied-then-reset" }, ...nextWrite }, true],
  ["Hold the next write for 5 s", "/faults", { effect: { kind: "delay-before", by: "5s" }, ...nextWrite }, true],
  [
    "Hold the answer of the next write for 5 s",
    "/faults",
    { effect: { kind: "delay-after", by: "5s" }, ...nextWrite },
    true,
  ],
  [
    "Grant the next acquire in the lock-delay",
    "/faults",
    { effect: { kind: "acquire-in-flight" }, ...nextWrite },
    true,
  ],
  ["Never answer the next GET", "/faults", { effect: { kind: "hang" }, method: "GET", ...next }, true],
  [
    "Set the next read’s index back by 10",
    "/faults",
    { effect: { kind: "index-back", by: 10 }, method: "GET", ...next },
    true,
  ],
  ["Reset the next connection", "/faults", { effect: { kind: "reset" }, ...next }, true],
  ["503 on one request of ten", "/faults", { effect: respond(503), chance: 0.1 }, true],
  ["429 on the next request", "/faults", { effect: { kind: "error", error: "rate-limited" }, ...next }, true],
  [
    "Lose the answer of the next renewal",
    "/faults",
    { effect: { kind: "applied-then-reset" }, path: "/v1/session/renew/", ...next },
  ],
  ["No leader for 5 s", "/leader/lose", { phases: [{ phase: "no-leader", lasts: "5s" }] }],
  ["The leader dies", "/leader/lose", { scenario: "leader-killed" }],
];

export function mount(root) {
  const life = scope();
  const leader = el("div", { class: "bar" });
  const list = el("ul", { class: "plain-list rules", "aria-label": "Faults in force" });
  const forms = el("div", { class: "forms" });

  const prefix = el("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "all keys",
    class: "mono",
  });

  const again = () => faults.refresher.poke();
  const call = async (method, path, body, done) => {
    await attempt(() => control(method, path, body), done);
    again();
  };

  const ready = READY.map(([label, path, body, isOfKeys]) =>
    button(
      label,
      () => {
        const rule = isOfKeys && prefix.value ? { ...body, key_prefix: prefix.value } : body;
        call("POST", path, rule, `In force: ${label}.`);
      },
      { class: "small" },
    ),
  );

  function draw() {
    const rules = faults.value ?? [];
    fill(
      list,
      faults.error
        ? el("li", { class: "bad" }, faults.error.message)
        : rules.length
          ? rules.map((rule) =>
              el(
                "li",
                {},
                el("span", { class: "rule" }, rule.effect, el("div", { class: "quiet" }, rule.requests)),
                hitsOf(rule),
                button("Remove", () => call("DELETE", `/faults/${rule.id}`, undefined, "The fault is gone."), {
                  class: "small",
                  "aria-label": `Remove fault ${rule.id}`,
                }),
              ),
            )
          : el("li", { class: "quiet" }, "No fault is in force."),
    );
    fill(
      leader,
      server.leaderLost ? badge(`leader lost: ${server.leaderLost}`, "bad") : badge("there is a leader", "good"),
      button("Restore the leader", () => call("POST", "/leader/find", undefined, "There is a leader."), {
        disabled: !server.leaderLost,
      }),
      button("Clear all faults", () => call("DELETE", "/faults", undefined, "All faults are gone."), {
        class: "danger",
      }),
    );
  }

  async function drawForms() {
    description ??= await control("GET", "/openapi.json");
    fill(
      forms,
      CALLS.map(([path, label, done], at) => {
        const operation = description.paths[path].post;
        const { schema } = operation.requestBody.content["application/json"];
        return el(
          "details",
          { class: "card", open: at === 0 },
          el("summary", {}, label),
          el("p", { class: "quiet" }, operation.summary.replaceAll("`", "")),
          schemaForm(schema, label, (body) => call("POST", path, body, done)),
        );
      }),
    );
  }

  root.append(
    el(
      "div",
      { class: "scroll fill" },
      el("h2", {}, "In force"),
      leader,
      list,
      el("h2", {}, "Ready faults"),
      el(
        "section",
        { class: "card", "aria-label": "Ready faults" },
        field("Of keys that begin with", prefix),
        el("div", { class: "actions" }, ready),
      ),
      el("h2", {}, "Add a fault"),
      forms,
    ),
  );
  life.add(use(faults, draw), on("server", draw));
  life.every(2000, again);
  draw();
  attempt(drawForms);
  return () => life.stop();
}
