// Following the server: its events, whether it is there, and whether it is still the same one. Records are sent of the
// kinds only that the view in sight needs; all of them, and those of before, while the history is shown.

import { control, eventsAt, isOwnCall, read } from "./api.js";
import { clock, setClock } from "../core/clock.js";
import { noteKey, noteTree, refreshKeys } from "./keys.js";
import { addLockRecord, loadLocks } from "./locklog.js";
import { addRecord, forgetRecords, records } from "./records.js";
import { poke, refreshAll } from "./resources.js";
import { semaphores, noteSemaphore } from "./semaphores.js";
import { server, setServer, tell } from "./server.js";
import { changes, on, refresher } from "../core/signal.js";
import { place } from "../core/router.js";
import { want, wanted } from "./wanted.js";

/** How many records are read when the page is opened, and how many it may be behind. */
const BEGIN = 5000;
const BEHIND = 5000;
/** How long a page in the background keeps its connection. A browser has six for all tabs. */
const HIDDEN_MS = 5000;

let events = null;
/** The kinds that the stream has, as parameters: an empty text for all. */
let kinds = "";
/** The number of the last record that what is shown takes account of. */
let passed = 0;
let seed = null;
/** Whether nothing of this server is shown yet, and whether something may have been lost on the way. */
let isFresh = true;
let isTorn = false;
let hideTimer = 0;

const resync = refresher(async () => {
  refreshAll();
  refreshKeys();
});

function begin(data) {
  const isAnother = seed !== null && (data.seed !== seed || data.last < passed);
  seed = data.seed;
  setServer({ status: "live" });
  if (isAnother) {
    tell("The server was restarted: what you see is the new one.", "info");
    forgetRecords();
    clock.known = false;
    isFresh = true;
    passed = 0;
    connect();
    return;
  }
  if (data.first > data.last) {
    records.isLoaded = true;
    changes("records");
  }
  const isBehind = isFresh || data.after > passed;
  if (isBehind) {
    // What is read now is not older than this.
    passed = data.last;
    semaphores.clear();
    loadLocks()
      .then((records) => records.forEach(noteSemaphore))
      .catch((error) => tell(error.message, "bad"));
    describe();
  }
  if (isBehind || isTorn) resync.poke();
  isFresh = false;
  isTorn = false;
}

async function describe() {
  try {
    setServer({ about: await control("GET", "/server") });
  } catch {
    /* The next beginning asks again. */
  }
}

function take(record) {
  if (!kinds && record.number > records.last) addRecord(record);
  if (record.number <= passed) return;
  addLockRecord(record);
  noteSemaphore(record);
  const { kind, key } = record;
  if (kind === "key-written" || kind === "key-deleted") noteKey(key, kind === "key-written");
  else if (kind === "key-tree-deleted") {
    noteTree(record.prefix);
    changes("key trees");
  } else if (kind === "control") {
    if (!isOwnCall() && /^(test: )?(rollback|reset|restart|state loaded|snapshot)/.test(record.text))
      tell(record.text, "info");
    resync.poke();
  }
  if (key !== undefined) changes(`key ${key}`);
  poke(kind);
}

/** Opens the stream of events behind what is known, or opens it again. */
function connect() {
  events?.close();
  kinds = wanted();
  // The history goes on where it was left, unless that is too far back.
  if (!kinds && passed - records.last > BEGIN) forgetRecords();
  const after = kinds ? passed : records.last;
  const from = after > 0 ? `&after=${after}` : kinds ? "" : `&last=${BEGIN}`;
  const stream = eventsAt(`behind=${BEHIND}${from}${kinds}`);
  events = stream;
  const hear = (name, act) =>
    stream.addEventListener(name, (event) => {
      act(JSON.parse(event.data));
      if (events === stream) passed = Math.max(passed, event.lastEventId);
    });
  hear("begin", begin);
  hear("record", take);
  hear("missed", ({ records: count }) => {
    if (!kinds) records.missed += count;
    changes("records");
    resync.poke();
  });
  hear("clock", setClock);
  stream.addEventListener("error", () => {
    isTorn = true;
    if (server.status === "live") setServer({ status: "gone" });
    // A browser gives up for good where something else answers, or nothing for long.
    if (stream.readyState === EventSource.CLOSED) setTimeout(start, 1000);
  });
}

/** Asks a server that cannot be controlled whether it is there. */
async function watch() {
  try {
    await read("/v1/status/leader");
    if (server.status === "gone") refreshAll();
    setServer({ status: "live", leaderLost: null });
  } catch (error) {
    setServer(error.status ? { status: "live" } : { status: "gone" });
  }
  setTimeout(watch, 2000);
}

/** Finds out what the server is, and begins to follow it. */
export async function start() {
  try {
    const about = await control("GET", "/server");
    place.dc = about.datacenter;
    setServer({ about, control: true });
    connect();
  } catch (error) {
    if (!error.status) {
      setServer({ status: server.status === "starting" ? "starting" : "gone" });
      setTimeout(start, 1000);
      return;
    }
    place.dc = place.asked ?? place.dc;
    setServer({ control: false, why: error.status === 403 ? error.message : "" });
    watch();
    refreshAll();
    refreshKeys();
  }
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hideTimer);
  if (!server.control) return;
  if (document.hidden) {
    hideTimer = setTimeout(() => {
      events?.close();
      events = null;
    }, HIDDEN_MS);
  } else if (!events) connect();
});
want(/^(acquire|release|lock-delay|belief|session-(created|ended)|control)/);
on("wanted", () => {
  if (events && kinds !== wanted()) connect();
});
