// A server in this process: what it does not share with one in a process of its own.

import assert from "node:assert/strict";
import http from "node:http";
import test, { mock } from "node:test";

import Consul from "consul";
import { startServer } from "proconsul";

async function on(options, body) {
  const server = await startServer({ inProcess: true, ...options });
  try {
    return await body(server);
  } finally {
    await server.stop();
  }
}

const clientOf = ({ host, port, agent }) => new Consul({ host, port, agent });

/** The timers that node:test can fake, while a test runs. */
async function withFakeTimers(body) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate", "Date"] });
  try {
    await on({}, async (server) => {
      server.followTimers();
      await body(server);
    });
  } finally {
    mock.timers.reset();
  }
}

test("a session lives while a loop renews it, by fake timers", () =>
  withFakeTimers(async (server) => {
    const { session } = clientOf(server);
    const { ID } = await session.create({ ttl: "10s" });
    let renewed = 0;
    const loop = setInterval(async () => {
      await session.renew(ID);
      renewed += 1;
    }, 5_000);
    for (let passed = 0; passed < 3_600_000; passed += 5_000) {
      mock.timers.tick(5_000);
      await server.waitIdle();
    }
    assert.equal(renewed, 720);

    clearInterval(loop);
    mock.timers.tick(19_999);
    assert.equal((await session.list()).length, 1);
    mock.timers.tick(1);
    assert.equal((await session.list()).length, 0);
  }));

test("what is due happens at its time, in whatever steps fake timers go", () =>
  withFakeTimers(async (server) => {
    const { kv, session } = clientOf(server);
    const holder = await session.create({ ttl: "10s" });
    await kv.set({ key: "a", value: "1", acquire: holder.ID });
    const from = (await server.clock()).now_ms;
    mock.timers.tick(3_600_000);
    const { records } = await server.history({ kind: ["session-ended"] });
    assert.deepEqual(records.map(({ at_ms }) => at_ms - from), [20_000]);
  }));

test("without followTimers a server has the machine's time", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    await on({}, async (server) => {
      await clientOf(server).session.create({ ttl: "10s" });
      mock.timers.tick(3_600_000);
      assert.equal((await server.history({ kind: ["session-ended"] })).records.length, 0);
      assert.equal((await clientOf(server).kv.get({ key: "a", index: 1000, wait: "10ms" })), undefined);
    });
  } finally {
    mock.timers.reset();
  }
});

test("a process follows no fake timers", async () => {
  const server = await startServer({ inProcess: false });
  assert.throws(() => server.followTimers(), /start it with `inProcess: true`/);
  await server.stop();
});

test("a client without sockets sees faults, and its own timeout", () =>
  on({}, async (server) => {
    const ask = (path, options) =>
      new Promise((done, fail) => {
        const request = http.get(server.url + path, { agent: server.agent, ...options }, (answer) => {
          let text = "";
          answer.on("data", (piece) => {
            text += piece;
          });
          answer.on("end", () => done(text)).on("error", fail);
        });
        request.on("timeout", () => request.destroy(new Error("timed out"))).on("error", fail);
      });
    for (const [kind, code] of [["reset", "ECONNRESET"], ["empty-reply", "ECONNRESET"]]) {
      await server.fault({ effect: { kind }, path: "/v1/kv/", times: 1 });
      await assert.rejects(ask("/v1/kv/a"), { code });
    }
    await server.fault({ effect: { kind: "hang" }, path: "/v1/kv/" });
    await assert.rejects(ask("/v1/kv/a", { timeout: 10 }), /timed out/);
    assert.equal(await ask("/v1/status/leader"), '"127.0.0.1:8300"');
  }));

test("a client on a socket sees a reset", () =>
  on({}, async (server) => {
    await server.fault({ effect: { kind: "reset" }, times: 1, path: "/v1/kv/" });
    await assert.rejects(fetch(`${server.url}/v1/kv/a`), ({ cause }) => cause.code === "ECONNRESET");
    assert.equal((await fetch(`${server.url}/v1/kv/a`)).status, 404);
  }));

test("what a module cannot do is said", async () => {
  await assert.rejects(startServer({ inProcess: true, https: true }), /HTTPS needs the server's binary/);
  await assert.rejects(startServer({ inProcess: true, args: ["-no-such-flag"] }), /no-such-flag/);
  await on({}, (server) => assert.rejects(server.startServer(), /this server starts no others/));
});

test("the text of a panic fails the test", async () => {
  const { Instance } = WebAssembly;
  let kind;
  WebAssembly.Instance = class {
    constructor(...given) {
      const { exports } = new Instance(...given);
      this.exports = { ...exports, input: (now, own, number) => exports.input(now, kind ?? own, number) };
    }
  };
  try {
    const server = await startServer({ inProcess: true });
    kind = 99; // There is none.
    await assert.rejects(fetch(`${server.url}/v1/kv/a`));
    kind = undefined;
    await assert.rejects(server.clock(), /the server has panicked: .*there is no input of kind 99/s);
    await assert.rejects(fetch(`${server.url}/v1/kv/a`));
    await assert.rejects(clientOf(server).kv.get("a"), /the server has panicked/);
    await assert.rejects(server.stop(), /the server has panicked: .*there is no input of kind 99/s);
  } finally {
    WebAssembly.Instance = Instance;
  }
});
