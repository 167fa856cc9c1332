// Node's Consul client over TLS, against the server at CONSUL_HTTP_ADDR with the authority CONSUL_CACERT; OTHER_CACERT is that of another.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import Consul from "consul";

const { CONSUL_HTTP_ADDR, CONSUL_CACERT, OTHER_CACERT } = process.env;
const { hostname: host, port } = new URL(CONSUL_HTTP_ADDR);

function client(t, options) {
  const consul = new Consul({ host, port: Number(port), ...options });
  t.after(() => consul.destroy());
  return consul;
}

test("who trusts its authority is served", async (t) => {
  const consul = client(t, { secure: true, ca: readFileSync(CONSUL_CACERT) });
  const key = "interop/node/https";
  assert.equal(await consul.kv.set(key, "1"), true);
  assert.equal((await consul.kv.get(key)).Value, "1");
  await consul.kv.del(key);
});

test("who trusts another refuses it", async (t) => {
  const foreign = client(t, { secure: true, ca: readFileSync(OTHER_CACERT) });
  await assert.rejects(foreign.status.leader(), /certificate|signature/);
});

test("plain HTTP is told so", async (t) => {
  await assert.rejects(client(t, {}).status.leader(), /HTTP request to an HTTPS server|bad request/i);
});
