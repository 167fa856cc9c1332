// Time: what the server's clock shows, what is due, and moving it.

import { control } from "../data/api.js";
import { clock, countdown, now, setClock, timeAt } from "../core/clock.js";
import { button, el, field, fill } from "../core/dom.js";
import { count, moment } from "../core/format.js";
import { blocked, due, use } from "../data/resources.js";
import { scope } from "../core/scope.js";
import { attempt } from "../data/server.js";
import { on } from "../core/signal.js";
import { keyLink, readable, recordLink, sessionLink } from "../widgets/links.js";
import { table } from "../widgets/table.js";

export function mount(root) {
  const life = scope();
  const face = el("output", { class: "clock-face", "aria-label": "Now" });
  const state = el("p", { class: "quiet" });
  const caused = el("section", { class: "caused", "aria-live": "polite", "aria-label": "What that caused" });
  const by = el("input", { size: 8, spellcheck: "false", autocomplete: "off", set: { value: "10s" } });
  const rate = el("input", {
    type: "number",
    min: "0",
    max: "1000000",
    step: "any",
    set: { value: String(clock.rate) },
  });
  const freeze = button("Freeze", () => set(clock.rate === 0 ? "resume" : "freeze"), { class: "primary" });

  const set = (what, body = undefined) => attempt(async () => setClock(await control("POST", `/clock/${what}`, body)));
  const move = (what, body = undefined) =>
    attempt(async () => {
      fill(caused, el("p", { class: "quiet" }, "Moving …"));
      try {
        const done = await control("POST", `/clock/${what}`, body);
        const shown = done.caused.filter((one) => !/^(request|answer|blocked)$/.test(one.kind));
        fill(
          caused,
          el("h3", {}, shown.length ? `It caused ${count(shown.length, "record")}` : "It caused nothing"),
          el(
            "ol",
            { class: "plain-list" },
            shown
              .slice(0, 100)
              .map((one) => el("li", {}, recordLink(one.number), " ", timeAt(one.at_ms), ` ${readable(one.text)}`)),
          ),
          shown.length > 100 && el("p", {}, "…"),
        );
      } catch (error) {
        fill(caused);
        throw error;
      }
      due.refresher.poke();
    });

  const list = table({
    label: "What is due",
    columns: [
      { name: "In", cell: (one) => countdown(one.at_ms), width: "7rem" },
      { name: "At", cell: (one) => timeAt(one.at_ms), width: "8rem", from: 420 },
      {
        name: "What",
        cell: (one) =>
          one.session
            ? el("span", {}, "session ", sessionLink(one.session), " expires")
            : one.key !== undefined
              ? el("span", {}, "the lock-delay of ", keyLink(one.key), " ends")
              : one.text,
      },
    ],
    id: (one) => `${one.at_ms} ${one.text}`,
    sign: (one) => one.text,
    empty: "Nothing will happen by itself.",
  });

  function draw() {
    const waits = (blocked.value ?? []).map((one) => ({
      at_ms: one.until_ms,
      text: `the wait of request #${one.request} ends: ${one.target}`,
    }));
    list.set(!due.value ? null : [...(due.value ?? []), ...waits].sort((one, other) => one.at_ms - other.at_ms));
  }
  function drawState() {
    if (document.activeElement !== rate) rate.value = String(clock.rate);
    freeze.textContent = clock.rate === 0 ? "Resume" : "Freeze";
    fill(
      state,
      clock.rate === 0
        ? "The clock stands still. "
        : clock.rate === 1
          ? "The clock runs as the machine's does. "
          : `The clock runs ${clock.rate} times as fast as the machine's. `,
      clock.next === null ? "Nothing is due." : ["Next in ", countdown(clock.next), "."],
    );
  }
  const drawFace = () => {
    face.textContent = moment(now());
  };
  const advance = (event) => {
    event.preventDefault();
    move("advance", { by: by.value.trim().replace(/^[\d.]+$/, "$&s") });
  };
  const quick = ["1s", "10s", "20s", "1m", "15m", "1h"].map((span) =>
    button(`+${span}`, () => move("advance", { by: span })),
  );

  root.append(
    el(
      "div",
      { class: "time-grid" },
      el(
        "section",
        { class: "card", "aria-label": "Clock" },
        el("h2", {}, "Now"),
        face,
        state,
        el(
          "div",
          { class: "actions" },
          freeze,
          button("To the next deadline", () => move("advance-to-next")),
        ),
      ),
      el(
        "section",
        { class: "card", "aria-label": "Move" },
        el("h2", {}, "Move"),
        el(
          "form",
          { class: "bar", on: { submit: advance } },
          field("Advance by", by),
          el("button", { type: "submit", class: "primary" }, "Advance"),
        ),
        el("div", { class: "actions" }, quick),
        el(
          "form",
          {
            class: "bar",
            on: {
              submit: (event) => {
                event.preventDefault();
                set("rate", { rate: Number(rate.value) });
              },
            },
          },
          field("Rate", rate),
          el("button", { type: "submit" }, "Set the rate"),
        ),
        caused,
      ),
    ),
    el("h2", {}, "What is due"),
    list.node,
  );
  life.add(use(due, draw), use(blocked, draw), on("clock", drawState));
  life.every(100, drawFace);
  drawFace();
  drawState();
  draw();
  return () => life.stop();
}
