// What the history has about one holding of a lock: by which request it began and ended, and what happened meanwhile.

import { control } from "./api.js";
import { recordAt } from "./records.js";

/** How many causes of a record are followed: request, end of the session, release. */
const CAUSES = 5;
const MOST = 5000;
const OF_KEY = ["acquire-refused", "lock-delay-began", "lock-delay-ended"];
const OF_SESSION = ["session-created", "session-renewed", "session-refused", "session-ended"];

async function listOf(kinds, query) {
  const text = new URLSearchParams([...kinds.map((kind) => ["kind", kind]), ...Object.entries(query)]);
  return (await control("GET", `/history?${text}`)).records;
}

async function recordOf(number) {
  const known = recordAt(number);
  if (known) return known;
  const [found] = await listOf([], { after: number - 1, limit: 1 });
  return found?.number === number ? found : null;
}

/** A record and what it follows from, the nearest cause first; nothing if it is gone. */
async function chainOf(number) {
  const chain = [];
  for (let next = number; next && chain.length < CAUSES; ) {
    const record = await recordOf(next);
    if (!record) break;
    chain.push(record);
    next = record.caused_by;
  }
  return chain;
}

/** Reads what happened to a bar of a row until the next holder. */
export async function readStory(row, bar) {
  const next =
    row.bars.find((one) => one.from >= (bar.to ?? Infinity) && one !== bar && (one.began ?? 0) > (bar.began ?? 0)) ??
    null;
  const isPast = (record) => next?.began && record.number > next.began;
  const [began, ended, ofKey, ofSession] = await Promise.all([
    chainOf(bar.began),
    chainOf(bar.ended),
    row.lanes ? [] : listOf(OF_KEY, { key: row.key, after: bar.began ?? 0, limit: MOST }),
    listOf(OF_SESSION, { session: bar.session, limit: MOST }),
  ]);
  const refused = ofKey.filter((one) => one.kind === "acquire-refused" && !isPast(one));
  const isLate = (record) => bar.ended && record.number > bar.ended;
  const of = (kind) => ofSession.filter((one) => one.kind === kind);
  const delayAt = bar.ended ? ofKey.findIndex((one) => one.kind === "lock-delay-began" && one.at_ms === bar.to) : -1;
  const delay = delayAt < 0 ? null : ofKey[delayAt];
  return {
    row,
    bar,
    next,
    began,
    ended,
    created: of("session-created")[0] ?? null,
    renewed: of("session-renewed").filter((one) => !isLate(one)),
    tried: of("session-refused").filter((one) => one.number > (bar.began ?? 0)),
    whileHeld: refused.filter((one) => !isLate(one)),
    afterwards: refused.filter(isLate),
    delay: delay && {
      from: delay.at_ms,
      number: delay.number,
      lasts: delay.lasts_ms,
      to: ofKey.slice(delayAt).find((one) => one.kind === "lock-delay-ended")?.at_ms ?? null,
    },
  };
}
