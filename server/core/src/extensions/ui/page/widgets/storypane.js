// The side pane with the story of a lock: it is kept up to date, copied as text, and saved as a file of its own.

import { now } from "../core/clock.js";
import { button, el, refill } from "../core/dom.js";
import { moment } from "../core/format.js";
import { readStory } from "../data/story.js";
import { server } from "../data/server.js";
import { refresher } from "../core/signal.js";
import { copyButton } from "./copy.js";
import { nameFor } from "./links.js";
import { stepList, stepsOf, textOf, titleOf } from "./story.js";
import { timeWindow } from "./timeline.js";
import { track } from "./track.js";

const LEAST_SPAN = 10000;

/** A picture of the lock from shortly before its holder until shortly after the next one came. */
function picture({ row, bar, next, delay }) {
  const last = Math.max(bar.to ?? now(), delay?.to ?? 0, next ? Math.min(next.to ?? now(), next.from + LEAST_SPAN) : 0);
  const span = Math.max(LEAST_SPAN, last - bar.from);
  const view = timeWindow();
  // Narrow, so that times do not overlap anywhere.
  view.width = 350;
  view.follows = false;
  view.show(bar.from - span * 0.1, bar.from + span * 1.1);
  const lock = track();
  lock.draw(row, view, bar);
  return el("div", { class: "timeline" }, view.axis, lock.node);
}

/** The style sheets of the page as one text. */
const styles = () =>
  [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .map((rule) => rule.cssText)
    .join("\n");

/** A file with the story: it needs nothing else, and no script. What it is made of is in no document, which would forbid the styles. */
function fileOf(story) {
  const { about } = server;
  const of = about ? `proconsul ${about.proconsul} as Consul ${about.version}, seed ${about.seed}. ` : "";
  const file = el(
    "html",
    { lang: "en", class: "saved" },
    el(
      "head",
      {},
      el("meta", { charset: "utf-8" }),
      el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      el("meta", { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" }),
      el("title", {}, titleOf(story)),
      el("style", {}, styles()),
    ),
    el(
      "body",
      {},
      el(
        "main",
        {},
        el("h1", {}, titleOf(story)),
        picture(story),
        stepList(stepsOf(story), true),
        el(
          "p",
          { class: "quiet small-text" },
          `${of}Times are those of the server’s clock. Saved at ${moment(now())} of it, ${new Date().toISOString()}.`,
        ),
      ),
    ),
  );
  return `<!doctype html>\n${file.outerHTML}\n`;
}

function save(story) {
  const url = URL.createObjectURL(new Blob([fileOf(story)], { type: "text/html" }));
  const name = `${story.row.title}-${nameFor(story.bar.session)}`.replace(/[^\w.-]+/g, "-");
  el("a", { href: url, download: `${name}.html` }).click();
  URL.revokeObjectURL(url);
}

/** Shows stories in `root`. `close` leaves them. */
export function storyPane(root, close) {
  const head = el("div", { class: "bar" });
  const steps = el("div", { class: "scroll" });
  let wanted = null;
  let story = null;
  let drawnFor = "";
  root.append(head, steps);

  function drawStory() {
    const told = stepsOf(story);
    refill(head, titleOf(story), () => [
      button("‹ Locks", close, { class: "small back" }),
      el("h2", {}, titleOf(story)),
      el(
        "div",
        { class: "actions" },
        copyButton("Copy as text", () => textOf(story)),
        copyButton("Copy link", () => location.href),
        button("Save as one HTML file", () => save(story), { class: "small" }),
        button("Close", close, { class: "small" }),
      ),
    ]);
    // What counts down is drawn by itself.
    refill(
      steps,
      JSON.stringify(told, (_, value) => value?.until ?? value),
      () => stepList(told),
    );
  }
  const load = refresher(async () => {
    if (!wanted) return;
    const { row, bar } = wanted;
    try {
      const read = await readStory(row, bar);
      if (wanted?.bar !== bar) return;
      story = read;
      drawStory();
    } catch (error) {
      refill(steps, error.message, () => el("p", { class: "bad" }, error.message));
    }
  });
  return {
    /** Tells of a bar of a row; `isKnown` says whether all rows have been read. */
    show(row, bar, isKnown) {
      wanted = bar && { row, bar };
      const state = bar ? `${row.key} ${bar.began} ${row.version}` : String(isKnown);
      if (state === drawnFor) return;
      drawnFor = state;
      if (bar) {
        load.poke();
        return;
      }
      refill(head, "", () => button("‹ Locks", close, { class: "small back" }));
      refill(steps, isKnown, () =>
        el("p", { class: "nothing" }, isKnown ? "The history has no such lock (any more)." : "Reading …"),
      );
    },
    /** Reads again what is still going on: renewals are no part of what the page follows. */
    refresh() {
      if (wanted?.bar?.to === null) load.poke();
    },
  };
}
