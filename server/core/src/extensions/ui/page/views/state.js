// State: keeping it, going back to it, taking it elsewhere.

import { control, stateAt } from "../data/api.js";
import { button, el, field, fill } from "../core/dom.js";
import { checkpoints, use } from "../data/resources.js";
import { scope } from "../core/scope.js";
import { attempt } from "../data/server.js";
import { ask } from "../widgets/dialog.js";

export function mount(root) {
  const life = scope();
  const list = el("ul", { class: "plain-list rules", "aria-label": "Checkpoints" });
  const name = el("input", { required: true, autocomplete: "off", spellcheck: "false" });
  const file = el("input", { type: "file", accept: "application/json,.json" });
  const lower = el("input", { type: "number", min: "1", set: { value: "1" } });

  const act = async (method, path, body, done) => {
    await attempt(() => control(method, path, body), done);
    checkpoints.refresher.poke();
  };
  const rollback = async (to) => {
    if (await ask("Roll back", `All that happened since “${to}” will be gone.`, "Roll back"))
      await act("POST", "/state/rollback", { name: to }, `Rolled back to ${to}.`);
  };
  const reset = async () => {
    if (await ask("Reset", "Keys, sessions, services and checkpoints will be as at the start.", "Reset"))
      await act("POST", "/state/reset", undefined, "The state is that of the start.");
  };
  const load = async (event) => {
    event.preventDefault();
    const [chosen] = file.files;
    if (!chosen) return;
    await attempt(async () => {
      let state;
      try {
        state = JSON.parse(await chosen.text());
      } catch (error) {
        throw new Error(`${chosen.name} is not JSON: ${error.message}`, { cause: error });
      }
      await control("PUT", "/state", state);
    }, "The state was loaded.");
    file.value = "";
  };
  const keep = async (event) => {
    event.preventDefault();
    await act("POST", "/state/checkpoint", { name: name.value }, `Made checkpoint ${name.value}.`);
    name.value = "";
  };

  function draw() {
    const names = checkpoints.value ?? [];
    fill(
      list,
      checkpoints.error
        ? el("li", { class: "bad" }, checkpoints.error.message)
        : names.length
          ? names.map((one) =>
              el(
                "li",
                {},
                el("span", { class: "rule" }, one),
                button("Roll back", () => rollback(one), { class: "small", "aria-label": `Roll back to ${one}` }),
                button(
                  "Delete",
                  () =>
                    act("DELETE", `/state/checkpoint?name=${encodeURIComponent(one)}`, undefined, `Deleted ${one}.`),
                  { class: "small", "aria-label": `Delete checkpoint ${one}` },
                ),
              ),
            )
          : el("li", { class: "quiet" }, "There are no checkpoints."),
    );
  }

  root.append(
    el(
      "div",
      { class: "scroll fill" },
      el(
        "section",
        { class: "card", "aria-label": "Checkpoints" },
        el("h2", {}, "Checkpoints"),
        list,
        el(
          "form",
          { class: "bar", on: { submit: keep } },
          field("Checkpoint name", name),
          el("button", { type: "submit", class: "primary" }, "Checkpoint"),
        ),
      ),
      el(
        "section",
        { class: "card", "aria-label": "Export and import" },
        el("h2", {}, "Export and import"),
        el(
          "p",
          {},
          el("a", { class: "button", href: stateAt, download: "proconsul-state.json" }, "Download the state"),
          " ",
          el("a", { class: "button", href: `${stateAt}/kv`, download: "kv.json" }, "Export the keys"),
        ),
        el(
          "form",
          { class: "bar", on: { submit: load } },
          field("Load a state", file),
          el("button", { type: "submit" }, "Load"),
        ),
      ),
      el(
        "section",
        { class: "card", "aria-label": "Reset" },
        el("h2", {}, "Reset"),
        el("div", { class: "actions" }, button("Reset to the start", reset, { class: "danger" })),
        el(
          "form",
          {
            class: "bar",
            on: {
              submit: (event) => {
                event.preventDefault();
                act("POST", "/indexes/lower", { by: Number(lower.value) }, "All indexes were lowered.");
              },
            },
          },
          field("Lower all indexes by", lower, "As of a Consul that was built anew."),
          el("button", { type: "submit" }, "Lower"),
        ),
      ),
    ),
  );
  life.add(use(checkpoints, draw));
  draw();
  return () => life.stop();
}
