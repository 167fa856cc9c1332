// Following the server: its events, whether it is there, and whether it is still the same one.

import { control, eventsAt, read } from "./api.js";
import { clock, setClock } from "../core/clock.js";
import { noteKey, refreshKeys } from "./keys.js";
import { addLockRecord, loadLocks } from "./locklog.js";
import { addRecord, forgetRecords, records } from "./records.js";
import { poke, refreshAll } from "./resources.js";
import { semaphores, noteSemaphore } from "./semaphores.js";
import { server, setServer, tell } from "./server.js";
import { changes, refresher } from "../core/signal.js";
import { place } from "../core/router.js";

/** How many records are read when the page is opened, and how many it may be behind. */
const BEGIN = 5000;
const BEHIND = 5000;
/** How long a page in the background keeps its connection. A browser has six for all tabs. */
const HIDDEN_MS = 5000;

let events = null;
let seed = null;
let hideTimer = 0;

const resync = refresher(async () => {
  refreshAll();
  refreshKeys();
});

function begin(data) {
  const isAnother = seed !== null && (data.seed !== seed || data.last < records.last);
  if (isAnother) {
    tell("The server was restarted: what you see is the new one.", "info");
    forgetRecords();
    clock.known = false;
  }
  const isNew = seed === null || isAnother;
  seed = data.seed;
  setServer({ status: "live" });
  if (isAnother && data.after > 0) {
    connect();
    return;
  }
  if (isNew) {
    semaphores.clear();
    loadLocks().then((records) => records.forEach(noteSemaphore)).catch((error) => tell(error.message, "bad"));
    describe();
  }
  resync.poke();
}

async function describe() {
  try {
    setServer({ about: await control("GET", "/server") });
  } catch { /* The next beginning asks again. */ }
}

function take(record) {
  if (record.number <= records.last) return;
  addRecord(record);
  addLockRecord(record);
  noteSemaphore(record);
  const { kind, key } = record;
  if (kind === "key-written" || kind === "key-deleted") noteKey(key, kind === "key-written");
  else if (kind === "control") {
    if (/^(test: )?(rollback|reset|restart|state loaded|snapshot)/.test(record.text)) tell(record.text, "info");
    resync.poke();
  }
  if (key !== undefined) changes(`key ${key}`);
  poke(kind);
}

/** Opens the stream of events, or opens it again. */
function connect() {
  events?.close();
  const query = records.last > 0 ? `after=${records.last}` : `last=${BEGIN}`;
  events = eventsAt(`${query}&behind=${BEHIND}`);
  const hear = (name, act) => events.addEventListener(name, (event) => act(JSON.parse(event.data)));
  hear("begin", begin);
  hear("record", take);
  hear("missed", ({ records: count }) => {
    records.missed += count;
    changes("records");
    resync.poke();
  });
  hear("clock", setClock);
  events.addEventListener("error", () => {
    if (server.status === "live") setServer({ status: "gone" });
    // A browser gives up for good where something else answers, or nothing for long.
    if (events.readyState === EventSource.CLOSED) setTimeout(start, 1000);
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
    hideTimer = setTimeout(() => { events?.close(); events = null; }, HIDDEN_MS);
  } else if (!events) connect();
});
