// The agents of each datacenter: what each of them is, and what can be done to it.

import { control } from "../data/api.js";
import { badge, button, el, refill } from "../core/dom.js";
import { datacenters, use } from "../data/resources.js";
import { scope } from "../core/scope.js";
import { attempt } from "../data/server.js";

const always = () => true;

/** What can be done to an agent: the button, the call, more of its body, and whether it can be done to this one. */
const CALLS = [
  ["Cut off", "cut", {}, (agent) => !agent.cut],
  ["Heal", "heal", {}, (agent) => agent.cut],
  ["Pause", "pause", {}, always],
  ["Resume", "resume", {}, always],
  ["Kill", "kill", {}, (agent) => agent.runs],
  ["Start", "start", {}, (agent) => !agent.runs],
  ["Lead", "lead", {}, (agent) => agent.server && agent.runs && !agent.cut && !agent.leads],
  ["Hold its data", "lag", { hold: true }, (agent) => agent.server],
  ["Apply again", "lag", {}, (agent) => agent.server],
];

const HINT = "There is one agent. Start the server with --agents 3 or --datacenters dc1,dc2 for more.";

const badgesOf = (agent) => [
  badge(agent.server ? "server" : "client agent"),
  agent.leads && badge("leads", "good"),
  agent.cut && badge("cut off", "warn"),
  !agent.runs && badge("does not run", "bad"),
  agent.failed && badge("marked as failed", "bad"),
];

export function mount(root) {
  const life = scope();
  const list = el("div");

  const call = async (path, body, done) => {
    await attempt(() => control("POST", path, body), done);
    datacenters.refresher.poke();
  };

  const row = (agent, datacenter) =>
    el(
      "li",
      {},
      el("span", { class: "rule" }, agent.node, el("div", { class: "quiet mono" }, agent.address)),
      badgesOf(agent),
      CALLS.filter(([, , , fits]) => fits(agent)).map(([label, path, more]) =>
        button(
          label,
          () => call(`/agents/${path}`, { agent: agent.agent, datacenter, ...more }, `${agent.node}: ${label}.`),
          { class: "small", "aria-label": `${label}: ${agent.node}` },
        ),
      ),
    );

  const part = ({ datacenter, cut, agents }, isAlone) => [
    !isAlone &&
      el(
        "div",
        { class: "bar" },
        el("h2", {}, datacenter),
        cut && badge("cut off", "warn"),
        button(cut ? `Heal ${datacenter}` : `Cut off ${datacenter}`, () =>
          call(`/datacenters/${cut ? "heal" : "cut"}`, { datacenter }, `${datacenter}: ${cut ? "healed" : "cut off"}.`),
        ),
      ),
    el(
      "ul",
      { class: "plain-list rules", "aria-label": `Agents of ${datacenter}` },
      agents.map((agent) => row(agent, datacenter)),
    ),
  ];

  function draw() {
    const all = datacenters.value ?? [];
    refill(list, [all, datacenters.error?.message], () => [
      datacenters.error && el("p", { class: "bad" }, datacenters.error.message),
      all.length === 1 && all[0].agents.length === 1 && el("p", { class: "quiet" }, HINT),
      all.map((one) => part(one, all.length === 1)),
    ]);
  }

  root.append(list);
  life.add(use(datacenters, draw));
  // What follows from a cut comes with time, and leaves no record of its own.
  life.every(1000, datacenters.refresher.poke);
  draw();
  return () => life.stop();
}
