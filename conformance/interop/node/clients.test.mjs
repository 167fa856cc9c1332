// Node's Consul client against the server at CONSUL_HTTP_ADDR: the emulator or a real Consul.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import Consul from "consul";

const [host, port] = process.env.CONSUL_HTTP_ADDR.split(":");
const consul = new Consul({ host, port: Number(port) });

async function prefix(t) {
  const name = `interop/node/${process.pid}/${t.name.replaceAll(" ", "-")}/`;
  const clean = () => consul.kv.del({ key: name, recurse: true });
  await clean();
  t.after(clean);
  return name;
}

async function session(t, options) {
  const { ID } = await consul.session.create(options);
  t.after(() => consul.session.destroy(ID));
  return ID;
}

test("keys are written, read and deleted", async (t) => {
  const key = `${await prefix(t)}a b`;
  assert.equal(await consul.kv.set({ key, value: "1", flags: 7 }), true);
  const pair = await consul.kv.get(key);
  assert.deepEqual([pair.Key, pair.Value, pair.Flags], [key, "1", 7]);
  assert.deepEqual(await consul.kv.keys(key.slice(0, -"a b".length)), [key]);
  // The client gives nothing for Consul's `false`.
  assert.ok(!(await consul.kv.set({ key, value: "2", cas: "0" })));
  assert.equal(await consul.kv.set({ key, value: "2", cas: String(pair.ModifyIndex) }), true);
  await consul.kv.del(key);
  assert.ok(!(await consul.kv.get(key)));
});

test("sessions hold keys", async (t) => {
  const key = `${await prefix(t)}k`;
  const one = await session(t, { ttl: "15s", behavior: "delete" });
  const two = await session(t, { name: "two" });
  assert.equal(await consul.kv.set({ key, value: "1", acquire: one }), true);
  assert.ok(!(await consul.kv.set({ key, value: "2", acquire: two })));
  assert.equal((await consul.session.renew(one))[0].ID, one);
  assert.equal((await consul.session.get(one)).TTL, "15s");
  assert.ok((await consul.session.list()).some(({ ID }) => ID === two));
  await consul.session.destroy(one);
  assert.ok(!(await consul.kv.get(key)));
});

test("a watch sees changes", async (t) => {
  const key = `${await prefix(t)}k`;
  await consul.kv.set(key, "1");
  const watch = consul.watch({ method: consul.kv.get, options: { key } });
  t.after(() => watch.end());
  const seen = async () => (await once(watch, "change"))[0].Value;
  assert.equal(await seen(), "1");
  const next = seen();
  await consul.kv.set(key, "2");
  assert.equal(await next, "2");
});

test("the catalog tells what was registered", async (t) => {
  const node = `interop-node-${process.pid}`;
  const service = { id: "web-1", service: `${node}-web`, port: 80 };
  await consul.catalog.node.list();
  await consul.catalog.register({ node, address: "10.0.0.7", service });
  t.after(() => consul.catalog.deregister({ node }));
  const [entry] = await consul.health.service(service.service);
  assert.deepEqual([entry.Node.Node, entry.Service.Port], [node, 80]);
});

test("the cluster has a leader and a member", async () => {
  assert.ok(await consul.status.leader());
  const { Config } = await consul.agent.self();
  const members = await consul.agent.members();
  assert.deepEqual(members.map(({ Name }) => Name), [Config.NodeName]);
});

test("an error has Consul's text", async () => {
  await assert.rejects(consul.session.create({ ttl: "100h" }), /Invalid Session TTL/);
});
