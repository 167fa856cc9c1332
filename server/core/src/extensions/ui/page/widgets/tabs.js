// Tabs within a view.

import { el } from "../core/dom.js";

/** A row of tabs. `choose(name)` is called with the one that was chosen. */
export function tabs(label, names, chosen, choose) {
  const [first] = names.find(([name]) => name === chosen) ?? names[0];
  const node = el("div", { class: "tabs", role: "tablist", "aria-label": label });
  const select = (name, focuses = false) => {
    for (const tab of node.children) {
      const isIt = tab.dataset.name === name;
      tab.setAttribute("aria-selected", String(isIt));
      tab.tabIndex = isIt ? 0 : -1;
      if (isIt && focuses) tab.focus();
    }
    choose(name);
  };
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const at = names.findIndex(([name]) => name === event.target.dataset.name);
    select(names[(at + by + names.length) % names.length][0], true);
  };
  for (const [name, text] of names) {
    node.append(
      el(
        "button",
        {
          type: "button",
          role: "tab",
          "data-name": name,
          "aria-selected": String(name === chosen),
          tabindex: name === first ? "0" : "-1",
          on: { click: () => select(name), keydown: step },
        },
        text,
      ),
    );
  }
  return { node, select };
}
