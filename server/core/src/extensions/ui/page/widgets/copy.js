// Copying a text: an id, a value, a record, a request as a command.

import { token } from "../data/api.js";
import { tell } from "../data/server.js";
import { button, el } from "../core/dom.js";

/** Copies a text. Browsers have a clipboard only for pages of this machine and of HTTPS. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el("textarea", { set: { value: text } });
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("the browser forbids it");
  return undefined;
}

/** A button that copies what `text()` gives. */
export function copyButton(label, text) {
  const node = button(
    label,
    async () => {
      try {
        await copy(text());
        node.textContent = "Copied";
        setTimeout(() => {
          node.textContent = label;
        }, 1500);
      } catch (error) {
        tell(`Not copied: ${error.message}`, "bad");
      }
    },
    { class: "small" },
  );
  return node;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A request as a command. The token stays out of it. */
export const curl = (method, target) =>
  [
    "curl",
    method !== "GET" && `-X ${method}`,
    token.get() && '-H "X-Consul-Token: $CONSUL_HTTP_TOKEN"',
    quoted(location.origin + target),
  ]
    .filter(Boolean)
    .join(" ");
