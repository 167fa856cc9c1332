// The lock of the npm package consul 0.x, whose session and waits are in proportion to those of the library:
// a session's TTL and the wait of a read are the same (15 s there), and a try is repeated after a third of it (5 s there).
//
// Usage: lock.mjs PACKAGE

import * as me from "./contender.mjs";
import { LOCK_KEY, WORK_KEY, PAUSE, Worker } from "./contender.mjs";

const { default: Consul } = await import(process.argv[2]);

const consul = new Consul({ host: me.host, port: me.port });
const worker = new Worker((value, done) => consul.kv.set(WORK_KEY, value, done));

function compete() {
  const lock = consul.lock({
    key: LOCK_KEY,
    value: me.name,
    session: { ttl: me.ttl, lockdelay: me.lockDelay },
    lockWaitTime: me.ttl,
    lockRetryTime: `${Math.ceil(me.milliseconds(me.ttl) / 3)}ms`,
  });
  lock.on("acquire", () => worker.begin());
  lock.on("release", () => worker.end());
  lock.on("error", me.report);
  // Always emitted, and the last: a lock that has ended is not used again.
  lock.on("end", () => {
    worker.end();
    setTimeout(compete, PAUSE);
  });
  lock.acquire();
}

compete();
