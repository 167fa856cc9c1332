// Forms made of JSON schemas: what a call takes, as the control plane describes it.

import { button, el, field, fill } from "../core/dom.js";

const typesOf = (schema) => [schema.type ?? []].flat().filter((type) => type !== "null");
const isOptional = (schema) => [schema.type ?? []].flat().includes("null");

/** The variants of a schema that has names for them: constants, or objects with a tag. */
function variants(schema) {
  const all = (schema.oneOf ?? schema.anyOf ?? []).filter((one) => one.type !== "null");
  return all.length ? all : null;
}
const tagOf = (variant) => Object.entries(variant.properties ?? {}).find(([, one]) => one.const !== undefined);

const trimmed = (text = "") => text.replaceAll("`", "");

function choice(schema, all, name) {
  const options = all.map((one) => el("option", { value: one.const }, one.const));
  const select = el("select", { name }, schema.optional ? el("option", { value: "" }, "—") : null, options);
  const hint = el("small");
  const explain = () => {
    hint.textContent = trimmed(all.find((one) => one.const === select.value)?.description);
  };
  select.addEventListener("change", explain);
  explain();
  return {
    node: el("div", {}, field(name, select), hint),
    get: () => (select.value === "" ? undefined : select.value),
  };
}

function tagged(all, name) {
  const named = all.map((one) => [tagOf(one), one]);
  const select = el(
    "select",
    { name },
    named.map(([[, tag]]) => el("option", { value: tag.const }, tag.const)),
  );
  const place = el("div", { class: "nested" });
  const hint = el("small");
  let inner = null;
  const draw = () => {
    const [[tag], one] = named.find(([[, constant]]) => constant.const === select.value);
    const { [tag]: _, ...properties } = one.properties;
    inner = object({ ...one, properties, required: (one.required ?? []).filter((need) => need !== tag) });
    inner.tag = tag;
    hint.textContent = trimmed(one.description);
    fill(place, inner.node);
  };
  select.addEventListener("change", draw);
  draw();
  return {
    node: el("div", {}, field(name, select), hint, place),
    get: () => ({ [inner.tag]: select.value, ...inner.get() }),
  };
}

/** A list, or an object with any names: parts can be added and taken away. */
function several(schema, name) {
  const isList = typesOf(schema).includes("array");
  const parts = [];
  const place = el("div");
  const add = () => {
    const key = isList ? null : scalar({ type: "string", required: true }, "name");
    const part = part_(isList ? schema.items : schema.additionalProperties, isList ? "entry" : "value");
    const one = { key, part };
    parts.push(one);
    const node = el(
      "div",
      { class: "part" },
      key?.node,
      part.node,
      button(
        "Remove",
        () => {
          parts.splice(parts.indexOf(one), 1);
          node.remove();
        },
        { class: "small" },
      ),
    );
    place.append(node);
  };
  const get = () => {
    if (!parts.length) return undefined;
    return isList
      ? parts.map(({ part }) => part.get())
      : Object.fromEntries(parts.map(({ key, part }) => [key.get(), part.get() ?? ""]));
  };
  return {
    node: el("fieldset", {}, el("legend", {}, name), place, button(`Add to ${name}`, add, { class: "small" })),
    get,
  };
}

function scalar(schema, name) {
  const [type = "string"] = typesOf(schema);
  const hint = trimmed(schema.description);
  if (type === "boolean") {
    const input = el("input", { type: "checkbox", name });
    return { node: field(name, input, hint), get: () => input.checked || undefined };
  }
  const isNumber = type === "integer" || type === "number";
  const input =
    name === "body" || name === "rules"
      ? el("textarea", { name, rows: 3, spellcheck: "false" })
      : el("input", {
          name,
          type: isNumber ? "number" : "text",
          step: type === "integer" ? "1" : "any",
          spellcheck: "false",
          autocomplete: "off",
        });
  return {
    node: field(schema.required ? `${name} *` : name, input, hint),
    get: () => {
      if (input.value === "") return schema.required && !isNumber ? "" : undefined;
      return isNumber ? Number(input.value) : input.value;
    },
  };
}

function part_(schema, name) {
  const all = variants(schema);
  if (all?.every((one) => one.const !== undefined)) return choice(schema, all, name);
  if (all?.every(tagOf)) return tagged(all, name);
  if (all?.length === 1) return part_({ ...all[0], description: schema.description, optional: true }, name);
  const types = typesOf(schema);
  if (types.includes("array") || (schema.additionalProperties && !schema.properties)) return several(schema, name);
  if (schema.properties) {
    const inner = object(schema);
    const isNeeded = schema.required === true || !(schema.optional || isOptional(schema));
    const node = el("fieldset", {}, el("legend", {}, name), inner.node);
    return {
      node,
      get: () => {
        const value = inner.get();
        return isNeeded || Object.values(value).some((one) => one !== "") ? value : undefined;
      },
    };
  }
  return scalar(schema, name);
}

function object(schema) {
  const required = schema.required ?? [];
  // What is needed comes first.
  const isLater = ([name]) => !(required === true || required.includes(name));
  const properties = Object.entries(schema.properties ?? {});
  const parts = properties
    .sort((one, other) => isLater(one) - isLater(other))
    .map(([name, one]) => {
      const isNeeded = required === true || required.includes(name);
      // An object keeps its own list of what it needs.
      const part = one.properties
        ? { ...one, optional: !isNeeded }
        : { ...one, required: isNeeded, optional: !isNeeded };
      return [name, part_(part, name)];
    });
  return {
    node: el(
      "div",
      { class: "form-parts" },
      parts.map(([, part]) => part.node),
    ),
    get: () =>
      Object.fromEntries(parts.map(([name, part]) => [name, part.get()]).filter(([, value]) => value !== undefined)),
  };
}

/** A form for a schema. `send` gets what was filled in. */
export function schemaForm(schema, label, send) {
  const whole = object(schema);
  const node = el(
    "form",
    { class: "schema", "aria-label": label },
    whole.node,
    el("div", { class: "actions" }, el("button", { type: "submit", class: "primary" }, label)),
  );
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    send(whole.get());
  });
  return node;
}
