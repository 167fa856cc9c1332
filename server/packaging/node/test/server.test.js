// Starting, stopping, and what is said when that does not work.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import dns from "node:dns";
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

/** A test of a server in a process of its own, and of one in this process. */
function inBothWays(name, body) {
  test(name, () => body(false));
  test(`${name}, in this process`, () => body(true));
}

inBothWays("a stopped server is gone", async (inProcess) => {
  const server = await startServer({ inProcess });
  assert.equal(server.inProcess, inProcess);
  assert.equal((await fetch(`${server.url}/v1/status/leader`)).status, 200);
  await server[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await assert.rejects(fetch(`${server.url}/v1/status/leader`));
  await assert.rejects(server.clock(), /has ended/);
});

inBothWays("a server is what its arguments say", async (inProcess) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
  const file = path.join(folder, "a.json");
  fs.writeFileSync(file, '{"node_name": "of-a-file", "datacenter": "nor-this"}');
  const below = path.join(folder, "below");
  fs.mkdirSync(below);
  fs.writeFileSync(path.join(below, "b.hcl"), 'node_name = "of-a-folder"');
  fs.writeFileSync(path.join(below, "c.txt"), "neither JSON nor HCL");
  process.env.CONSUL_LOCAL_CONFIG = '{"datacenter": "not-this"}';
  try {
    await on({ inProcess, config: { datacenter: "dc-own" }, files: [file, below] }, async (server) => {
      const { datacenter, node } = await server.server();
      assert.deepEqual([datacenter, node], ["dc-own", "of-a-folder"]);
    });
  } finally {
    delete process.env.CONSUL_LOCAL_CONFIG;
    fs.rmSync(folder, { recursive: true });
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

test("Node's resolver finds services", async () => {
  await on({}, async (server) => {
    const service = { Node: "n1", Address: "10.0.0.1", Service: { Service: "web", Port: 80 } };
    await fetch(`${server.url}/v1/catalog/register`, { method: "PUT", body: JSON.stringify(service) });
    const resolver = new dns.promises.Resolver();
    resolver.setServers([server.dnsAddress]);
    assert.deepEqual(await resolver.resolve4("web.service.consul"), ["10.0.0.1"]);
    const found = await resolver.resolveSrv("web.service.consul");
    assert.deepEqual(found, [{ name: "n1.node.dc1.consul", port: 80, priority: 1, weight: 1 }]);
  });
});

inBothWays("states, archives and keys are data", async (inProcess) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
  const files = ["keys.json", "state.json", "archive.tgz"].map((name) => path.join(folder, name));
  const [keys, state, archive] = files;
  fs.writeFileSync(keys, '[{"key": "color", "flags": 0, "value": "cmVk"}]');
  const put = (server, value) => fetch(`${server.url}/v1/kv/color`, { method: "PUT", body: value });
  try {
    await on({}, async (server) => {
      await put(server, "blue");
      fs.writeFileSync(state, JSON.stringify(await server.state()));
      await put(server, "green");
      fs.writeFileSync(archive, Buffer.from(await (await fetch(`${server.url}/v1/snapshot`)).arrayBuffer()));
    });
    for (const [data, color] of [[[state], "blue"], [[archive], "green"], [[keys, state], "red"]]) {
      await on({ inProcess, data }, async (server) => {
        const read = async () => (await fetch(`${server.url}/v1/kv/color?raw`)).text();
        assert.equal(await read(), color);
        await put(server, "none");
        await server.reset();
        assert.equal(await read(), color);
      });
    }
    fs.writeFileSync(keys, '[{"kye": "color"}]');
    await assert.rejects(startServer({ inProcess, data: [keys] }), /cannot load .*keys\.json: .*kye/);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
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

inBothWays("a port that is taken is named", async (inProcess) => {
  const taken = net.createServer();
  await new Promise((listening) => taken.listen(0, "127.0.0.1", listening));
  const { port } = taken.address();
  await assert.rejects(startServer({ inProcess, port }), new RegExp(`${port}[^]*address already in use|address already in use[^]*${port}`));
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

/** What a start without a package for this platform says, with a PATH that is made from a folder: the URL, or an error. */
function startWithoutPackage(pathFrom, given = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
  try {
    const helper = path.dirname(fileURLToPath(import.meta.resolve("proconsul")));
    fs.cpSync(helper, path.join(folder, "node_modules", "proconsul"), { recursive: true });
    const script = `import { startServer } from "proconsul";
      await startServer(${JSON.stringify(given)}).then(({ url }) => console.log(url), (error) => console.log(error.message));`;
    const options = { cwd: folder, env: { PATH: pathFrom(folder) }, timeout: 20_000, encoding: "utf8" };
    return spawnSync(process.execPath, ["--input-type=module", "-e", script], options).stdout;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test("a platform without a package is named, or a server is the module", () => {
  const missing = /there is no package @proconsul\/.*cargo install --path server\/cli/;
  assert.match(startWithoutPackage(() => "", { inProcess: false }), missing);
  assert.match(startWithoutPackage(() => "", {}), /^http:/);
});

test("an old one on the PATH is refused", () => {
  const said = startWithoutPackage((folder) => {
    fs.symlinkSync(process.env.OTHER_PROCONSUL, path.join(folder, "proconsul"));
    return `${folder}${path.delimiter}${process.env.PATH}`;
  });
  assert.match(said, /proconsul is proconsul 0\.0\.1, and this package is .*install the binary of/);
});

inBothWays("a process ends although it has forgotten its server", (inProcess) => {
  const script = `import { startServer } from "proconsul"; console.log((await startServer({ inProcess: ${inProcess} })).url);`;
  const cwd = path.dirname(new URL(import.meta.url).pathname);
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd, timeout: 20_000, encoding: "utf8" });
  assert.equal(ended.status, 0, ended.stderr);
  return assert.rejects(fetch(ended.stdout.trim()));
});

test("the binary is that of the package for this platform", { skip: !!process.env.PROCONSUL_BINARY }, () => {
  assert.match(findBinary(), /node_modules.@proconsul.linux-x64.bin.proconsul$/);
});
