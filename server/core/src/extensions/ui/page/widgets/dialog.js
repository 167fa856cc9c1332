// Questions before something is lost, and small windows.

import { button, el } from "../core/dom.js";

/** Opens a window over the page. Escape closes it. Returns how to close it. */
export function openDialog(title, content, closed = () => {}) {
  const close = () => node.close();
  const node = el(
    "dialog",
    { "aria-label": title },
    el("header", {}, el("h2", {}, title), button("×", close, { class: "plain", "aria-label": "Close" })),
    content,
  );
  node.addEventListener("close", () => {
    node.remove();
    closed();
  });
  document.body.append(node);
  node.showModal();
  return close;
}

/** Asks a question. Returns whether the answer was yes. */
export function ask(title, text, yes) {
  return new Promise((answer) => {
    let isYes = false;
    const accept = button(
      yes,
      () => {
        isYes = true;
        close();
      },
      { class: "danger" },
    );
    const cancel = button("Cancel", () => close());
    const close = openDialog(
      title,
      el("div", {}, el("p", {}, text), el("div", { class: "actions" }, accept, cancel)),
      () => answer(isYes),
    );
    // Enter, pressed once too often, loses nothing.
    cancel.focus();
  });
}
