// Starting, stopping, and what is said when that does not work.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { ControlError, findBinary, startServer } from "proconsul";

async function on(options, body) {
  const server = await startServer(options);
  try {
    return await body(server);
  } finally {
    await server.stop();
  }
}

test("a stopped server is gone", async () => {
  const server = await startServer();
  assert.equal((await fetch(`${server.url}/v1/status/leader`)).status, 200);
  await server[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await assert.rejects(fetch(`${server.url}/v1/status/leader`));
  await assert.rejects(server.clock(), /has ended/);
});

test("a server is what its arguments say", async () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-")), "a.json");
  fs.writeFileSync(file, '{"node_name": "of-a-file"}');
  process.env.CONSUL_LOCAL_CONFIG = '{"datacenter": "not-this"}';
  try {
    await on({ config: { datacenter: "dc-own" }, files: [file] }, async (server) => {
      const { datacenter, node } = await server.server();
      assert.deepEqual([datacenter, node], ["dc-own", "of-a-file"]);
    });
  } finally {
    delete process.env.CONSUL_LOCAL_CONFIG;
    fs.rmSync(path.dirname(file), { recursive: true });
  }
});

test("data, ACLs and HTTPS are options", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
  const keys = path.join(folder, "keys.json");
  fs.writeFileSync(keys, '[{"key": "color", "flags": 0, "value": "cmVk"}]');
  let caFile;
  try {
    await on({ data: [keys], acl: "root", https: true }, async (server) => {
      caFile = server.caFile;
      const options = { ca: fs.readFileSync(caFile), headers: { "X-Consul-Token": "root" }, agent: false };
      const color = await new Promise((resolve, reject) => {
        https.get(`${server.httpsUrl}/v1/kv/color?raw`, options, (answer) => answer.on("data", resolve)).on("error", reject);
      });
      assert.equal(color.toString(), "red");
      assert.equal((await fetch(`${server.url}/v1/kv/color`)).status, 403);
    });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  assert.ok(!fs.existsSync(path.dirname(caFile)));
});

test("durations are milliseconds or text", () =>
  on({ frozen: true }, async (server) => {
    const before = (await server.clock()).now_ms;
    await server.advance(1500);
    await server.advance("500ms");
    assert.equal((await server.clock()).now_ms, before + 2000);
  }));

test("what the control plane refuses is an error with its status", () =>
  on({}, (server) =>
    assert.rejects(server.waitBlocked({ count: 1, timeout: 1 }), (error) => error instanceof ControlError && error.status === 409),
  ));

test("a failing test shows what happened", () =>
  on({ seed: 7 }, async (server) => {
    const shown = [];
    const { error } = console;
    console.error = (text) => shown.push(text);
    try {
      await assert.rejects(server.run(() => Promise.reject(new Error("the test's own"))), /the test's own/);
    } finally {
      console.error = error;
    }
    assert.match(shown.join(), /what happened on http:.*\(seed 7\)/);
  }));

test("afterEach shows what happened in a test that failed", () => {
  const script = `
    import test, { afterEach, beforeEach } from "node:test";
    import { startServer } from "proconsul";
    let server;
    beforeEach(async () => { server = await startServer(); });
    afterEach((context) => server.stop(context));
    test("fails", () => { throw new Error("as it should"); });
    test("passes", () => {});
  `;
  // Not as a part of this run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8", env });
  assert.equal(stderr.match(/what happened on http:/g)?.length, 1, stdout + stderr);
});

test("unknown options are errors", async () => {
  await assert.rejects(startServer({ frozn: true }), /unknown option frozn: the options are asVersion, seed, frozen/);
  await on({}, async (server) => {
    assert.throws(() => server.fault({ effect: { kind: "hang" }, keyprefix: "a" }), /unknown option keyprefix: .*keyPrefix/);
    await assert.rejects(server.fault({ effect: { kind: "hangs" } }), /unknown variant `hangs`, expected one of `error`, `respond`/);
    const misspelled = { kind: "error", error: "rpc-eof", aftr: "0s" };
    await assert.rejects(server.fault({ effect: misspelled }), /unknown field `aftr`, expected `error` or `after`/);
  });
});

test("a release that is not known is an error", async () => {
  await assert.rejects(startServer({ asVersion: "9.9" }), /Consul 9.9 is not known: the newest release that is emulated is/);
  await on({ asVersion: "1.8" }, async (server) => assert.equal((await server.server()).version, "1.8.7"));
});

test("a port that is taken is named", async () => {
  const taken = net.createServer();
  await new Promise((listening) => taken.listen(0, "127.0.0.1", listening));
  const { port } = taken.address();
  await assert.rejects(startServer({ port }), new RegExp(`ended at its start[^]*${port}[^]*address already in use`));
  taken.close();
});

test("the log of a server that dies is in the error", () =>
  assert.rejects(startServer({ args: ["-no-such-flag"] }), /exit code 1[^]*no-such-flag/));

test("a program that is not proconsul is named", async () => {
  await assert.rejects(startServer({ binary: "/bin/true" }), /is .*true proconsul\?/);
  await assert.rejects(startServer({ binary: "/nowhere" }), /binary names "\/nowhere"/);
});

test("a binary of another version is refused", () =>
  assert.rejects(startServer({ binary: process.env.OTHER_PROCONSUL }), /is proconsul 0\.0\.1, and this package is [^]*install the binary of/));

/** What a start without a package for this platform says, with a PATH that is made from a folder. */
function startWithoutPackage(pathFrom) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
  try {
    const helper = path.dirname(fileURLToPath(import.meta.resolve("proconsul")));
    fs.cpSync(helper, path.join(folder, "node_modules", "proconsul"), { recursive: true });
    const script = 'import { startServer } from "proconsul"; await startServer().catch((error) => console.log(error.message));';
    const options = { cwd: folder, env: { PATH: pathFrom(folder) }, timeout: 20_000, encoding: "utf8" };
    return spawnSync(process.execPath, ["--input-type=module", "-e", script], options).stdout;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("a platform without a package is named", () => {
  assert.match(startWithoutPackage(() => ""), /there is no package @proconsul\/.*cargo install --path server\/cli/);
});

test("an old one on the PATH is refused", () => {
  const said = startWithoutPackage((folder) => {
    fs.symlinkSync(process.env.OTHER_PROCONSUL, path.join(folder, "proconsul"));
    return `${folder}${path.delimiter}${process.env.PATH}`;
  });
  assert.match(said, /proconsul is proconsul 0\.0\.1, and this package is .*install the binary of/);
});

test("a process ends although it has forgotten its server", () => {
  const script = 'import { startServer } from "proconsul"; console.log((await startServer()).url);';
  const cwd = path.dirname(new URL(import.meta.url).pathname);
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd, timeout: 20_000, encoding: "utf8" });
  assert.equal(ended.status, 0, ended.stderr);
  return assert.rejects(fetch(ended.stdout.trim()));
});

test("the binary is that of the package for this platform", { skip: !!process.env.PROCONSUL_BINARY }, () => {
  assert.match(findBinary(), /node_modules.@proconsul.linux-x64.bin.proconsul$/);
});
