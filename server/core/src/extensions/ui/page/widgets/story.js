// The story of a lock, from its acquire to the next one: steps on a vertical line, and the same as text.

import { countdown, now } from "../core/clock.js";
import { el, link } from "../core/dom.js";
import { count, duration, moment } from "../core/format.js";
import { href } from "../core/router.js";
import { nameFor, readable } from "./links.js";
import { endOf, numberOf, tally } from "./track.js";

/** How many refused acquires are listed one by one. */
const LISTED = 100;
/** Consul ends a session after twice its TTL. */
const TTL_MULTIPLIER = 2;

// A part of a text is a text, a link, or a time that is counted down to.
const to = (record, text) => ({ text, href: href("history", { at: record.number }) });
const record = (one) => to(one, `#${one.number}`);
const until = (at) => ({ text: duration(Math.max(0, at - now())), until: at });

/** By what something was done: the last of its causes. */
function by(chain) {
  const last = chain.at(-1);
  if (!last) return ["The history does not go back so far."];
  if (last.kind === "request") return ["By ", to(last, readable(last.text))];
  if (chain.length === 1) return ["By the test’s own program: no request caused it."];
  return [last.kind === "session-ended" ? "Because " : "By ", to(last, readable(last.text))];
}

function refusals(list, text) {
  if (!list.length) return null;
  return {
    at: list[0].at_ms,
    tone: "bad",
    text: [`${count(list.length, "acquire")} refused ${text}`],
    more: [tally(list.map((one) => one.session))],
    list: list
      .slice(0, LISTED)
      .map((one) => [moment(one.at_ms), " ", record(one), ` ${nameFor(one.session)}: ${readable(one.cause)}`]),
    left: Math.max(0, list.length - LISTED),
  };
}

function renewals({ bar, created, renewed }) {
  const ttl = created?.ttl_ms;
  const during = renewed.filter((one) => one.at_ms >= bar.from);
  const last = renewed.at(-1) ?? created;
  const steps = [];
  if (during.length) {
    const due = ttl && bar.to !== null ? `, the next one due by ${moment(last.at_ms + ttl)}` : "";
    steps.push({
      at: last.at_ms,
      tone: "good",
      text: [during.length === 1 ? "Renewed once" : `Last of ${during.length} renewals`],
      more: [record(last), due],
    });
  }
  if (!ttl || !last) return steps;
  const due = last.at_ms + ttl;
  const end = last.at_ms + TTL_MULTIPLIER * ttl;
  const twice = `the TTL is ${duration(ttl)}, and Consul waits twice as long`;
  if (bar.to === null) {
    steps.push({
      at: null,
      tone: "quiet",
      text: ["Still held; the session expires in ", until(end), " unless it is renewed"],
      more: [`Next renewal due by ${moment(due)}; ${twice}: until ${moment(end)}.`],
    });
  } else if (bar.cause.includes("its TTL ran out")) {
    steps.push({
      at: due,
      tone: "warn",
      text: [during.length ? "Next renewal due; it did not come" : "Renewal due; none came while it was held"],
      more: [`Last renewed at ${moment(last.at_ms)}; ${twice}: until ${moment(end)}.`],
    });
  }
  return steps;
}

/** The steps of what was read about a bar. */
export function stepsOf(story) {
  const { row, bar, next, began, ended, created, tried, delay } = story;
  const name = nameFor(bar.session);
  const steps = [];
  if (created) {
    const behavior = created.text.endsWith(", deletes its keys") ? "delete" : "release";
    steps.push({
      at: created.at_ms,
      tone: "quiet",
      text: [`Session ${name} created`],
      more: [
        record(created),
        ` ${created.ttl_ms ? `TTL ${duration(created.ttl_ms)}` : "no TTL"}, on expiry: ${behavior}, node ${created.node}`,
      ],
    });
  }
  steps.push({
    at: bar.from,
    tone: "good",
    text: [`${name} acquired ${row.title}`],
    more: [...began.slice(0, 1).flatMap((one) => [record(one), " "]), ...by(began)],
  });
  steps.push(refusals(story.whileHeld, "while it was held"), ...renewals(story));
  if (bar.to !== null) {
    const released = bar.cause === "the holder let go";
    const title = released ? `Released by ${name}` : `Lost: ${endOf(bar)}`;
    steps.push({
      at: bar.to,
      tone: released ? "good" : "bad",
      text: [`${title}, after ${duration(bar.to - bar.from)}`],
      more: [...ended.slice(0, 1).flatMap((one) => [record(one), " "]), ...by(ended)],
    });
  }
  if (delay) {
    const end = delay.to ?? delay.from + delay.lasts;
    steps.push({
      at: delay.from,
      tone: "warn",
      text: [`Lock-delay of ${duration(delay.lasts)}: nobody can acquire it until ${moment(end)}`],
      more: [record({ number: delay.number })],
    });
  }
  steps.push(
    refusals(
      story.afterwards,
      story.afterwards.every((one) => one.cause.startsWith("lock-delay"))
        ? "in the lock-delay"
        : "before the next holder",
    ),
  );
  if (tried.length)
    steps.push({
      at: tried[0].at_ms,
      tone: "bad",
      text: [`${name} used its session, and was refused`],
      more: [record(tried[0]), ` ${readable(tried[0].cause ?? "")}`],
    });
  if (next) {
    const after = next.from - bar.to;
    steps.push({
      at: next.from,
      tone: "good",
      text: [
        { text: nameFor(next.session), href: href("locks", { lock: row.key, story: numberOf(next) }) },
        ` acquired it next, ${after ? `${duration(after)} later` : "at once"}`,
      ],
      more: next.began && [record({ number: next.began })],
    });
  } else if (bar.to !== null) {
    steps.push({ at: null, tone: "quiet", text: ["Nobody has acquired it since."] });
  } else if (!created?.ttl_ms) {
    steps.push({ at: null, tone: "quiet", text: [created ? "Still held; the session has no TTL" : "Still held"] });
  }
  // Sorting keeps the order of what happened at the same time.
  return steps.filter(Boolean).sort((one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE));
}

/** What a story is about, in a line. */
export function titleOf({ row, bar }) {
  const name = nameFor(bar.session);
  return bar.to === null
    ? `${name} holds ${row.title}`
    : `${name} held ${row.title} for ${duration(bar.to - bar.from)}`;
}

const plain = (parts = []) => parts.map((part) => part.text ?? part).join("");

/** The story as text, for a chat or an issue. */
export function textOf(story) {
  const lines = stepsOf(story).map(({ at, text, more }) => {
    const line = `${(at === null ? "" : moment(at)).padEnd(12)}  ${plain(text)}`;
    return more ? `${line}\n${" ".repeat(14)}${plain(more)}` : line;
  });
  return `${titleOf(story)}\n\n${lines.join("\n")}\n`;
}

/** The steps as elements. With `isStill` they lead nowhere and stay as they are. */
export function stepList(steps, isStill = false) {
  const drawn = (parts = []) =>
    parts.map((part) => {
      if (part.text === undefined || isStill) return part.text ?? part;
      return part.until === undefined ? link(part.text, part.href) : countdown(part.until);
    });
  return el(
    "ol",
    { class: "lock-story" },
    steps.map((step) =>
      el(
        "li",
        { class: step.tone },
        el("time", { class: "mono" }, step.at === null ? "now" : moment(step.at)),
        el(
          "div",
          {},
          el("strong", {}, drawn(step.text)),
          step.more && el("div", { class: "quiet" }, drawn(step.more)),
          step.list &&
            el(
              "details",
              {},
              el("summary", {}, "When and why"),
              el(
                "ul",
                { class: "plain-list" },
                step.list.map((parts) => el("li", {}, drawn(parts))),
                step.left ? el("li", {}, `and ${step.left.toLocaleString("en")} more`) : null,
              ),
            ),
        ),
      ),
    ),
  );
}
