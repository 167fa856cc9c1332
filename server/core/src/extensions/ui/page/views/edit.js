// Writing a key. It is written only if nobody else has meanwhile; else both values are shown.

import { button, el, facts, field, fill, show } from "../core/dom.js";
import { fromBase64, fromHex, hex, textOf } from "../core/format.js";
import { getKey, putKey } from "../data/kv.js";
import { go, guard, href } from "../core/router.js";
import { tell } from "../data/server.js";
import { ask, openDialog } from "../widgets/dialog.js";

/** Bytes as text, or as hexadecimal digits. */
export const shown = (bytes) => textOf(bytes) ?? hex(bytes);

/** What ends the lines of a text: "\n" or "\r\n"; `null` where they are mixed. A field for texts has "\n" alone. */
function lineEnd(text) {
  if (!text.includes("\r")) return "\n";
  return /(^|[^\r])\n|\r(?!\n)/.test(text) ? null : "\r\n";
}

/** The fields of a value: its form, its text and its flags. */
function valueFields(bytes, flags) {
  const given = textOf(bytes);
  let ending = given === null ? null : lineEnd(given);
  const area = el("textarea", {
    rows: 14,
    spellcheck: "false",
    class: "mono",
    set: { value: ending ? given.replaceAll(ending, "\n") : hex(bytes) },
  });
  const form = el("select", {}, el("option", { value: "text" }, "Text"), el("option", { value: "hex" }, "Hex"));
  form.value = ending ? "text" : "hex";
  // No field for numbers: it would round what is above 2^53.
  const flag = el("input", { inputmode: "numeric", pattern: "[0-9]+", autocomplete: "off", set: { value: flags } });
  const wrong = el("p", { class: "bad", role: "alert", hidden: true });
  const read = (as) =>
    as === "text" ? new TextEncoder().encode(area.value.replaceAll("\n", ending)) : fromHex(area.value);
  let before = form.value;
  form.addEventListener("change", () => {
    const now = read(before);
    const text = now && form.value === "text" ? textOf(now) : null;
    const end = text === null ? null : lineEnd(text);
    if (form.value === "hex" && now) area.value = hex(now);
    else if (end) {
      ending = end;
      area.value = text.replaceAll(end, "\n");
    } else {
      form.value = before;
      fill(show(wrong, true), "These bytes cannot be edited as text.");
    }
    before = form.value;
  });
  const node = el(
    "div",
    {},
    field("Value", area),
    el("div", { class: "bar" }, field("Show as", form), field("Flags", flag)),
    wrong,
  );
  const looks = () => `${area.value}\n${flag.value}`;
  const begun = looks();
  return {
    node,
    area,
    flags: () => flag.value || "0",
    isUnsaved: () => looks() !== begun,
    /** The bytes; `null` after saying that they are not hexadecimal. */
    bytes() {
      const bytes = read(form.value);
      fill(show(wrong, bytes === null), "Expected pairs of hexadecimal digits.");
      return bytes;
    },
  };
}

/** Asks before what was typed is lost. Returns how to stop. */
const guardEdit = ({ isUnsaved }) =>
  guard({
    isUnsaved,
    mayGo: () => ask("Discard the edit", "What you have typed was not written.", "Discard"),
  });

/** Shows both values after somebody else has written the key. `write` writes ours over an index. */
function conflict(place, theirs, mine, write, take) {
  const theirValue = theirs ? shown(fromBase64(theirs.Value)) : "(deleted)";
  fill(
    show(place, true),
    el("h3", { class: "bad" }, "The key has changed meanwhile, and was not written."),
    el(
      "div",
      { class: "both" },
      el(
        "section",
        { "aria-label": "Theirs" },
        el("h4", {}, "Theirs"),
        facts([["ModifyIndex", theirs && String(theirs.ModifyIndex)]]),
        el("pre", { tabindex: "0" }, theirValue),
      ),
      el("section", { "aria-label": "Yours" }, el("h4", {}, "Yours"), el("pre", { tabindex: "0" }, shown(mine))),
    ),
    el(
      "div",
      { class: "actions" },
      button("Write yours over it", () => write(theirs?.ModifyIndex ?? 0), { class: "danger" }),
      button("Keep theirs", take),
    ),
  );
  place.scrollIntoView?.({ block: "nearest" });
}

/** An editor of a key. `entry` is what it was made of; `null` for a new key. `ended` is called at its end. */
export function editor(key, entry, ended) {
  const fields = valueFields(fromBase64(entry?.Value), entry?.Flags ?? "0");
  const stop = guardEdit(fields);
  const done = () => {
    stop();
    ended();
  };
  const note = el("p", { class: "warn", role: "status", hidden: true });
  const clash = el("div", { class: "conflict", hidden: true });
  const base = entry?.ModifyIndex ?? 0;
  const write = async (cas) => {
    const bytes = fields.bytes();
    if (!bytes) return;
    try {
      if (await putKey(key, bytes, fields.flags(), cas)) {
        tell(`Wrote ${key}`, "good");
        done();
      } else {
        const theirs = await getKey(key);
        conflict(clash, theirs, bytes, write, done);
      }
    } catch (error) {
      tell(error.message, "bad");
    }
  };
  const save = (event) => {
    event.preventDefault();
    write(base);
  };
  const node = el(
    "form",
    { class: "editor", "aria-label": `Edit ${key}`, on: { submit: save } },
    fields.node,
    note,
    clash,
    el(
      "div",
      { class: "actions" },
      el("button", { type: "submit", class: "primary" }, "Write"),
      button("Cancel", done),
    ),
  );
  return {
    node,
    stop,
    focus: () => fields.area.focus(),
    /** Says that the key is not what it was when the editor was opened. */
    changed(now) {
      const isOther = (now?.ModifyIndex ?? 0) !== base;
      fill(
        show(note, isOther),
        `The key has changed meanwhile (ModifyIndex ${now?.ModifyIndex ?? "none, it is deleted"}).`,
      );
    },
  };
}

/** Asks for a new key. */
export function newKey(prefix) {
  const name = el("input", {
    required: true,
    spellcheck: "false",
    autocomplete: "off",
    class: "mono",
    set: { value: prefix },
  });
  const fields = valueFields(new Uint8Array(), "0");
  const wrong = el("p", { class: "bad", role: "alert", hidden: true });
  const save = async (event) => {
    event.preventDefault();
    const bytes = fields.bytes();
    if (!bytes) return;
    try {
      if (!(await putKey(name.value, bytes, fields.flags(), 0))) {
        fill(show(wrong, true), "There is such a key already. Choose it to change it.");
        return;
      }
      tell(`Created ${name.value}`, "good");
      stop();
      go(href("kv", { key: name.value }));
      close();
    } catch (error) {
      fill(show(wrong, true), error.message);
    }
  };
  const stop = guardEdit(fields);
  const close = openDialog(
    "New key",
    el(
      "form",
      { class: "editor", on: { submit: save } },
      field("Key", name, "Slashes make folders."),
      fields.node,
      wrong,
      el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, "Create")),
    ),
    stop,
  );
  name.focus();
}
