// A lock as Consul's guide to leader elections describes it, by the newest client: create a session, acquire the key
// with it, renew the session every half TTL, and watch the key to notice a loss.
//
// The program believes that it holds the lock from the acquire until the earliest of: a read shows another holder, a
// renewal says that the session is gone, or one TTL has passed since the last successful renewal was *sent*. The server
// waits for two TTLs from its arrival, so nobody else holds the lock before that.
//
// Usage: recipe.mjs PACKAGE [fenced]    fenced: a write is a transaction that checks the lock's session

import { EventEmitter } from "node:events";
import * as me from "./contender.mjs";
import { LOCK_KEY, WORK_KEY, PAUSE, Worker } from "./contender.mjs";

const { default: Consul } = await import(process.argv[2]);
const fenced = process.argv[3] === "fenced";

const consul = new Consul({ host: me.host, port: me.port });
const ttl = me.milliseconds(me.ttl);
const lockDelay = me.milliseconds(me.lockDelay);
/** The session by which the program holds the lock, or undefined. */
let holding;
const worker = new Worker((value, done) => write(value).then(() => done(), done));

function write(value) {
  if (!fenced) return consul.kv.set({ key: WORK_KEY, value, timeout: ttl });
  const item = { Verb: "set", Key: WORK_KEY, Value: Buffer.from(value).toString("base64") };
  const check = { Verb: "check-session", Key: LOCK_KEY, Session: holding.id };
  return consul.transaction.create([{ KV: check }, { KV: item }], { timeout: ttl });
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** A session that a renewal keeps alive. It ends once, and never lives again. */
class Session {
  constructor(id, sent) {
    this.id = id;
    this.alive = true;
    this.extend(sent);
  }

  /** Believes in the session until one TTL after `sent`. */
  extend(sent) {
    if (!this.alive) return;
    clearTimeout(this.deadline);
    this.until = sent + ttl;
    this.deadline = setTimeout(() => this.end("was not renewed in time"), this.until - performance.now());
  }

  end(why) {
    if (!this.alive) return;
    this.alive = false;
    clearTimeout(this.deadline);
    lose(this);
    me.report(`session ${this.id} ${why}`);
  }

  async renew() {
    while (this.alive) {
      await pause(ttl / 2);
      await this.renewOnce();
    }
  }

  /** Tries until the session is renewed or has ended. */
  async renewOnce() {
    while (this.alive) {
      const sent = performance.now();
      try {
        await consul.session.renew({ id: this.id, timeout: ttl / 2 });
        this.extend(sent);
        return;
      } catch (error) {
        if (error.statusCode === 404) this.end("is gone");
        else await pause(ttl / 10);
      }
    }
  }
}

/** Begins to believe, unless the answer to the acquire came too late. */
function win(session) {
  if (!session.alive || performance.now() >= session.until) return;
  holding = session;
  worker.begin();
}

function lose(session) {
  if (holding !== session) return;
  worker.end();
  holding = undefined;
}

/** Reads the lock's key; with an index, waits for a change. Returns the session that holds it, or undefined, and the index. */
async function holder(index) {
  const waits = index === undefined ? {} : { index, wait: `${ttl}ms` };
  // What the client's own watch does to see the response's headers.
  const ctx = Object.assign(new EventEmitter(), { includeResponse: true });
  const [response, data] = await consul.kv.get({ key: LOCK_KEY, ...waits, timeout: 2 * ttl, ctx });
  const read = BigInt(response.headers["x-consul-index"]);
  // Without an index, which is what one that is zero or goes back makes it, the next read does not wait.
  const next = read > 0n && (index === undefined || read >= BigInt(index)) ? String(read) : undefined;
  return { session: data?.Session, index: next };
}

/** Acquires the lock and watches it, until the session ends. What an acquire did whose answer is lost, the next read shows. */
async function compete(session) {
  let index;
  while (session.alive) {
    try {
      const seen = await holder(index);
      index = seen.index;
      if (seen.session === session.id) win(session);
      else lose(session);
      // Against a busy loop.
      if (index === undefined) await pause(ttl / 4);
      if (seen.session !== undefined || !session.alive) continue;
      const value = { key: LOCK_KEY, value: me.name, acquire: session.id, timeout: ttl };
      // Refused although the key is free: the lock-delay runs, of which no read says when it ends.
      if (!(await consul.kv.set(value))) await pause(lockDelay / 4);
      index = undefined;
    } catch (error) {
      me.report(error);
      index = undefined;
      await pause(ttl / 10);
    }
  }
}

async function main() {
  for (;;) {
    try {
      const sent = performance.now();
      const options = { name: me.name, ttl: me.ttl, lockdelay: me.lockDelay, timeout: ttl };
      const { ID } = await consul.session.create(options);
      const session = new Session(ID, sent);
      await Promise.all([session.renew(), compete(session)]);
      consul.session.destroy({ id: ID, timeout: ttl }).catch(() => {});
    } catch (error) {
      me.report(error);
    }
    await pause(PAUSE);
  }
}

main();
