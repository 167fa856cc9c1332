// The lock of the npm package consul 0.x with a session of the program's own, which the program renews. A lock that
// ends, such as after a failed request, is competed for again by the same session as long as that session lives.
//
// Usage: lock-session.mjs PACKAGE

import * as me from "./contender.mjs";
import { LOCK_KEY, WORK_KEY, PAUSE, Worker } from "./contender.mjs";

const { default: Consul } = await import(process.argv[2]);

const consul = new Consul({ host: me.host, port: me.port });
const worker = new Worker((value, done) => consul.kv.set(WORK_KEY, value, done));
const ttl = me.milliseconds(me.ttl);

/** Competes as long as the session lives, and then by a new session. */
function live() {
  const sent = performance.now();
  consul.session.create({ name: me.name, ttl: me.ttl, lockdelay: me.lockDelay, timeout: ttl }, (error, created) => {
    if (error) {
      me.report(error);
      setTimeout(live, PAUSE);
      return;
    }
    const session = { id: created.ID, alive: true, until: sent + ttl };
    renew(session);
    compete(session);
  });
}

/** Renews every half TTL. The session counts as dead one TTL after the last successful renewal was sent. */
function renew(session) {
  const sent = performance.now();
  consul.session.renew({ id: session.id, timeout: ttl / 2 }, (error) => {
    if (!error) session.until = sent + ttl;
    if (error) me.report(error);
    if ((error && error.statusCode === 404) || performance.now() >= session.until) {
      session.alive = false;
      worker.end();
      if (session.end) session.end();
      setTimeout(live, PAUSE);
      return;
    }
    setTimeout(() => renew(session), error ? ttl / 10 : ttl / 2);
  });
}

function compete(session) {
  const lock = consul.lock({
    key: LOCK_KEY,
    value: me.name,
    session: session.id,
    lockWaitTime: me.ttl,
    lockRetryTime: `${Math.ceil(ttl / 3)}ms`,
  });
  let ended = false;
  session.end = () => {
    if (!ended) lock.release();
  };
  lock.on("acquire", () => {
    if (session.alive) worker.begin();
  });
  lock.on("release", () => worker.end());
  lock.on("error", me.report);
  lock.on("end", () => {
    ended = true;
    worker.end();
    setTimeout(() => {
      if (session.alive) compete(session);
    }, PAUSE);
  });
  lock.acquire();
}

live();
