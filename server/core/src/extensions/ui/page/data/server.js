// The server that the page looks at: whether it is there, what it is, and whether it can be controlled.

import { clock } from "../core/clock.js";
import { changes } from "../core/signal.js";

export const server = {
  /** What the control plane says about the server; `null` without control. */
  about: null,
  /** Whether the page may use the control plane; `null` while that is not known. */
  control: null,
  /** Why it may not, in a sentence. */
  why: "",
  /** `starting`, `live` or `gone`. */
  status: "starting",
  /** What the cluster goes through without its leader; `null` while it has one. */
  leaderLost: null,
};

export function setServer(values) {
  Object.assign(server, values);
  clock.epoch = server.about?.epoch_ms ?? null;
  changes("server");
}

export const notices = [];

/** Tells the reader something for a while: `good`, `bad` or `info`. Failures stay until they are closed; the same text is counted. */
export function tell(text, tone = "info") {
  const same = notices.find((one) => one.text === text && one.tone === tone);
  const notice = same ?? { text, tone, times: 0, timer: 0 };
  notice.times += 1;
  if (!same) notices.push(notice);
  if (notices.length > 4) notices.shift();
  changes("notices");
  clearTimeout(notice.timer);
  if (tone !== "bad") notice.timer = setTimeout(() => dismiss(notice), 6000);
}

export function dismiss(notice) {
  const at = notices.indexOf(notice);
  if (at >= 0) notices.splice(at, 1);
  changes("notices");
}

/** Does something, and tells if it fails. Returns whether it went well. */
export async function attempt(work, done = "") {
  try {
    await work();
    if (done) tell(done, "good");
    return true;
  } catch (error) {
    tell(error.message, "bad");
    return false;
  }
}
