// The lock of the npm package consul 0.x as its README has it: a key, a value, and a session with a TTL.
//
// Usage: lock-ttl.mjs PACKAGE

import * as me from "./contender.mjs";
import { LOCK_KEY, WORK_KEY, PAUSE, Worker } from "./contender.mjs";

const { default: Consul } = await import(process.argv[2]);

const consul = new Consul({ host: me.host, port: me.port });
const worker = new Worker((value, done) => consul.kv.set(WORK_KEY, value, done));

function compete() {
  const session = { ttl: me.ttl, lockdelay: me.lockDelay };
  const lock = consul.lock({ key: LOCK_KEY, value: me.name, session });
  lock.on("acquire", () => worker.begin());
  lock.on("release", () => worker.end());
  lock.on("error", me.report);
  lock.on("end", () => {
    worker.end();
    setTimeout(compete, PAUSE);
  });
  lock.acquire();
}

compete();
