// Prepared queries, events and ACLs, as lists.

import { list } from "../data/api.js";
import { el, facts, fill } from "../core/dom.js";
import { count, fromBase64, textOf } from "../core/format.js";
import { scope } from "../core/scope.js";
import { href, go, place as address } from "../core/router.js";
import { on } from "../core/signal.js";
import { tabs } from "../widgets/tabs.js";

const names = (links) => (links ?? []).map((one) => one.Name ?? one.ServiceName ?? one).join(", ");
const payload = (text) => (text ? (textOf(fromBase64(text)) ?? "(bytes)") : "");

/** The lists: where they are read, and what of a row is shown. */
const LISTS = {
  queries: [
    "Prepared queries",
    "/v1/query",
    (one) => [
      one.Name || one.ID,
      [
        ["Id", one.ID],
        ["Service", one.Service?.Service],
        ["Session", one.Session],
        ["Template", one.Template?.Type],
      ],
    ],
  ],
  events: [
    "Events",
    "/v1/event/list",
    (one) => [
      one.Name,
      [
        ["Id", one.ID],
        ["Payload", payload(one.Payload)],
        ["LTime", String(one.LTime)],
      ],
    ],
  ],
  tokens: [
    "Tokens",
    "/v1/acl/tokens",
    (one) => [
      one.Description || one.AccessorID,
      [
        ["AccessorID", one.AccessorID],
        ["Policies", names(one.Policies)],
        ["Roles", names(one.Roles)],
        ["Expires", one.ExpirationTime],
      ],
    ],
  ],
  policies: [
    "Policies",
    "/v1/acl/policies",
    (one) => [
      one.Name,
      [
        ["Id", one.ID],
        ["Description", one.Description],
      ],
    ],
  ],
  roles: [
    "Roles",
    "/v1/acl/roles",
    (one) => [
      one.Name,
      [
        ["Id", one.ID],
        ["Description", one.Description],
        ["Policies", names(one.Policies)],
      ],
    ],
  ],
};

export function mount(root) {
  const life = scope();
  const place = el("div", { class: "scroll fill", role: "tabpanel", "aria-label": "List", tabindex: "0" });
  // Consul's own addresses lead here: /ui/dc1/acls/policies.
  const asked = () => {
    const name = address.query.get("list");
    return { acls: "tokens", more: "queries" }[name] ?? name;
  };
  let chosen = asked();
  let drawn = "";

  async function load() {
    const of = chosen;
    if (!Object.hasOwn(LISTS, of)) {
      fill(place, el("p", { class: "nothing" }, `There is no list of “${of}” here: Consul’s API has it.`));
      return;
    }
    const [title, path, row] = LISTS[of];
    let content;
    let looks;
    try {
      const { value } = await list(path);
      looks = of + JSON.stringify(value);
      content = () => [
        el("p", { class: "quiet" }, count(value.length, "entry", "entries")),
        value.slice(0, 1000).map((one) => {
          const [name, rows] = row(one);
          return el("section", { class: "card", "aria-label": name || title }, el("h3", {}, name), facts(rows));
        }),
      ];
    } catch (error) {
      looks = of + error.message;
      content = () => el("p", { class: "nothing" }, error.message);
    }
    if (of !== chosen || looks === drawn) return;
    drawn = looks;
    fill(place, content());
  }

  const choice = tabs(
    "Lists",
    Object.entries(LISTS).map(([name, [title]]) => [name, title]),
    chosen,
    (name) => {
      chosen = name;
      if (name !== asked()) go(href("more", { list: name }));
      load();
    },
  );
  root.append(el("div", { class: "bar" }, choice.node), place);
  life.every(2000, load);
  life.add(
    on("token", load),
    on("place", () => {
      if (address.view === "more" && asked() !== chosen) choice.select(asked());
    }),
  );
  load();
  return () => life.stop();
}
