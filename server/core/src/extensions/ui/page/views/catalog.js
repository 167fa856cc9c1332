// Services, nodes and checks of the catalog.

import { list, nothingOf } from "../data/api.js";
import { badge, button, el, facts, fill, link, refill } from "../core/dom.js";
import { count } from "../core/format.js";
import { checks, nodes, services, sessions, use } from "../data/resources.js";
import { go, href, place } from "../core/router.js";
import { scope } from "../core/scope.js";
import { on, refresher } from "../core/signal.js";
import { sessionLink } from "../widgets/links.js";
import { table } from "../widgets/table.js";

const TONES = { passing: "good", warning: "warn", critical: "bad", maintenance: "bad" };
const state = (status) => badge(status, TONES[status] ?? "quiet");

const STATUSES = ["passing", "warning", "critical"];
/** How bad the worst of some states is. */
const worst = (states) => Math.max(-1, ...states.map((one) => (one === "maintenance" ? 2 : STATUSES.indexOf(one))));

/** How many checks are in which state, as badges. */
function summary(some) {
  const found = STATUSES.map((status) => [status, some.filter((one) => one.Status === status).length]);
  const shown = found
    .filter(([, number]) => number > 0)
    .map(([status, number]) => badge(`${number} ${status}`, TONES[status]));
  return el("span", { class: "badges" }, shown.length ? shown : badge("no checks"));
}

function checkList(some) {
  return some.map((one) =>
    el(
      "details",
      { class: "card", open: one.Status !== "passing" },
      el("summary", {}, state(one.Status), ` ${one.Name || one.CheckID}`),
      facts([
        ["CheckID", one.CheckID],
        ["Node", one.Node],
        ["Service", one.ServiceName],
        ["Type", one.Type],
        ["Notes", one.Notes],
      ]),
      el("pre", {}, one.Output || "(no output)"),
    ),
  );
}

const orNone = (some) => (some.length ? some : el("p", { class: "quiet" }, "none"));

const meta = (values) => {
  const rows = Object.entries(values ?? {}).filter(([, value]) => value !== "");
  return rows.length ? facts(rows) : null;
};

/** A list with a pane for one of its rows. `looks(row)` is what the pane of a row shows, `states(row)` the states of its checks. */
function listView(root, life, { label, one, resource, needs, columns, id, sign, text, states, pane, looks }) {
  let filter = "";
  const total = el("span", { class: "quiet", role: "status" });
  const input = el("input", {
    type: "search",
    placeholder: `Filter ${label.toLowerCase()}`,
    "aria-label": `Filter ${label.toLowerCase()}`,
  });
  const status = el(
    "select",
    { "aria-label": "Status" },
    el("option", { value: "" }, "Any status"),
    STATUSES.map((name) => el("option", {}, name)),
  );
  const detail = el("section", { class: "pane", "aria-label": one });
  const view = label.toLowerCase();
  const rows = table({ label, columns, id, sign, open: (row) => go(href(view, { name: id(row) })) });
  const all = () => resource.rows();
  const isKnown = () => needs.every((need) => need.value || need.error);

  function drawPane() {
    const name = place.query.get("name");
    root.classList.toggle("has-detail", name !== null);
    rows.select(name);
    const row = all().find((one) => id(one) === name);
    if (!row)
      refill(detail, [name, isKnown()], () =>
        el(
          "p",
          { class: "nothing" },
          !isKnown() ? "Reading …" : name ? `There is no ${name}.` : `Choose a ${one.toLowerCase()}.`,
        ),
      );
    else
      refill(detail, [name, looks(row)], () => [
        el(
          "div",
          { class: "bar" },
          button(`‹ ${label}`, () => go(href(view)), { class: "small back" }),
          el("h2", {}, name),
        ),
        pane(row),
      ]);
  }
  function draw() {
    const found = all().filter(
      (row) =>
        text(row).toLowerCase().includes(filter.toLowerCase()) && (!status.value || states(row).includes(status.value)),
    );
    // The worst come first.
    found.sort((row, other) => worst(states(other)) - worst(states(row)));
    const error = needs.find((need) => need.error)?.error;
    fill(total, error ? error.message : count(found.length, one.toLowerCase()));
    rows.set(isKnown() ? found : null, error?.message ?? nothingOf(view));
    drawPane();
  }
  input.addEventListener("input", () => {
    filter = input.value;
    draw();
  });
  status.addEventListener("change", () => draw());
  root.append(
    el(
      "div",
      { class: "split on-demand" },
      el(
        "section",
        { class: "side", "aria-label": `All ${view}` },
        el("div", { class: "bar" }, input, status, total),
        rows.node,
      ),
      detail,
    ),
  );
  life.add(on("place", drawPane), ...needs.map((need) => use(need, draw)));
  draw();
  return draw;
}

function servicesView(root, life) {
  const checksOf = (name) => (checks.value ?? []).filter((one) => one.ServiceName === name);
  let instances = { name: null, found: [], error: null };
  let draw = () => {};
  const load = refresher(async () => {
    const name = place.query.get("name");
    if (!name) return;
    try {
      const { value } = await list(`/v1/health/service/${encodeURIComponent(name)}`);
      instances = { name, found: value, error: null };
    } catch (error) {
      instances = { name, found: [], error };
    }
    draw();
  });
  const pane = ([name, tags]) => [
    el(
      "p",
      { class: "badges" },
      tags.map((tag) => badge(tag, "info")),
    ),
    instances.error && el("p", { class: "bad" }, instances.error.message),
    (instances.name === name ? instances.found : []).map(({ Node, Service, Checks }) =>
      el(
        "section",
        { class: "card", "aria-label": Service.ID },
        el("h3", {}, Service.ID, " ", summary(Checks)),
        facts([
          ["Node", link(Node.Node, href("nodes", { name: Node.Node }))],
          ["Address", `${Service.Address || Node.Address}:${Service.Port}`],
          ["Tags", (Service.Tags ?? []).join(", ")],
          ["Meta", meta(Service.Meta)],
          ["Kind", Service.Kind],
        ]),
        checkList(Checks),
      ),
    ),
  ];
  const looks = ([name, tags]) => {
    if (instances.name !== name) load.poke();
    return [tags, instances.name === name && instances.found, instances.error?.message];
  };
  draw = listView(root, life, {
    label: "Services",
    one: "Service",
    needs: [services, checks],
    pane,
    looks,
    resource: { rows: () => Object.entries(services.value ?? {}) },
    id: ([name]) => name,
    states: ([name]) => checksOf(name).map((one) => one.Status),
    text: ([name, tags]) => `${name} ${tags.join(" ")}`,
    sign: ([name, tags]) => `${tags} ${checksOf(name).map((one) => one.Status)}`,
    columns: [
      { name: "Service", cell: ([name]) => name, by: ([name]) => name },
      {
        name: "Checks",
        cell: ([name]) => summary(checksOf(name)),
        by: ([name]) => checksOf(name).length,
        width: "minmax(8rem, 1fr)",
      },
      { name: "Tags", cell: ([, tags]) => tags.join(", "), by: ([, tags]) => tags.join(), from: 560 },
    ],
  });
  life.add(on("checks", load.poke), on("services", load.poke));
}

function nodesView(root, life) {
  const checksOf = (node) => (checks.value ?? []).filter((one) => one.Node === node);
  const own = (node) => (sessions.value ?? []).filter((one) => one.Node === node);
  listView(root, life, {
    label: "Nodes",
    one: "Node",
    needs: [nodes, checks, sessions],
    resource: { rows: () => nodes.value ?? [] },
    looks: (node) => [node, checksOf(node.Node), own(node.Node)],
    id: (node) => node.Node,
    states: (node) => checksOf(node.Node).map((one) => one.Status),
    text: (node) => `${node.Node} ${node.Address}`,
    sign: (node) => `${node.Address} ${checksOf(node.Node).map((one) => one.Status)} ${own(node.Node).length}`,
    columns: [
      { name: "Node", cell: (node) => node.Node, by: (node) => node.Node },
      { name: "Address", cell: (node) => node.Address, by: (node) => node.Address, from: 600 },
      {
        name: "Checks",
        cell: (node) => summary(checksOf(node.Node)),
        by: (node) => checksOf(node.Node).length,
        width: "minmax(14rem, 1fr)",
      },
      {
        name: "Sessions",
        cell: (node) => String(own(node.Node).length),
        by: (node) => own(node.Node).length,
        width: "5rem",
        from: 520,
      },
    ],
    pane: (node) => [
      facts([
        ["Id", node.ID],
        ["Address", node.Address],
        ["Datacenter", node.Datacenter],
        ["Meta", meta(node.Meta)],
        ["Tagged addresses", meta(node.TaggedAddresses)],
      ]),
      el("h3", {}, "Checks"),
      orNone(checkList(checksOf(node.Node))),
      el("h3", {}, "Sessions"),
      orNone(
        own(node.Node)
          .slice(0, 200)
          .map((one) => el("p", {}, sessionLink(one.ID))),
      ),
    ],
  });
}

function checksView(root, life) {
  const id = (check) => `${check.Node}/${check.CheckID}`;
  listView(root, life, {
    label: "Checks",
    one: "Check",
    needs: [checks],
    resource: { rows: () => checks.value ?? [] },
    id,
    looks: (check) => check,
    states: (check) => [check.Status],
    text: (check) => `${id(check)} ${check.Name} ${check.ServiceName} ${check.Status}`,
    sign: (check) => `${check.Status} ${check.Output}`,
    columns: [
      { name: "Status", cell: (check) => state(check.Status), by: (check) => worst([check.Status]), width: "6rem" },
      { name: "Check", cell: (check) => check.Name || check.CheckID, by: (check) => check.Name || check.CheckID },
      { name: "Service", cell: (check) => check.ServiceName, by: (check) => check.ServiceName, from: 480 },
      { name: "Node", cell: (check) => check.Node, by: (check) => check.Node, from: 400 },
      { name: "Output", cell: (check) => check.Output, from: 760, width: "2fr" },
    ],
    pane: (check) =>
      checkList([{ ...check }]).map((node) => {
        node.open = true;
        return node;
      }),
  });
}

export function mount(root, view) {
  const life = scope();
  ({ services: servicesView, nodes: nodesView, checks: checksView })[view](root, life);
  return () => life.stop();
}
