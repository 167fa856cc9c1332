// The scenarios that all helpers share, with node-consul.

import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";

import Consul from "consul";
import { startServer } from "proconsul";

const file = process.env.SCENARIOS ?? new URL("../../scenarios/scenarios.json", import.meta.url);
const { scenarios } = JSON.parse(fs.readFileSync(file, "utf8"));

/** The arguments of a control as the helper takes them: one alone, several as an object. */
const CONTROLS = {
  advance: ({ by }) => [by],
  checkpoint: ({ name }) => [name],
  rollback: ({ name }) => [name],
  timeline: ({ key }) => [key],
  installFault: ({ key_prefix, ...rest }) => [{ keyPrefix: key_prefix, ...rest }],
};
const RENAMED = { installFault: "fault" };

class Run {
  constructor(server) {
    this.server = server;
    this.clients = server.agentUrls.map((url) => new URL(url)).map(({ hostname, port }) => new Consul({ host: hostname, port }));
    this.saved = {};
  }

  async control({ control, with: given, expect = {}, contains = [], refused }) {
    const taken = given === undefined ? [] : (CONTROLS[control] ?? ((all) => [all]))(given);
    const asked = this.server[RENAMED[control] ?? control](...taken);
    if (refused) {
      await assert.rejects(asked, (error) => error.name === "ControlError" && error.message.includes(refused));
      return;
    }
    const answer = await asked;
    for (const [name, expected] of Object.entries(expect)) assert.equal(answer[name], expected);
    for (const part of contains) assert.ok(answer.includes(part), `${part} is not in ${answer}`);
  }

  async client_(step) {
    const { kv, session } = this.clients[step.agent ?? 0];
    switch (step.client) {
      case "put":
        return kv.set(step.key, step.value);
      case "acquire":
        // node-consul gives nothing for false.
        return (await kv.set({ key: step.key, value: step.value, acquire: this.saved[step.session] })) ?? false;
      case "get":
        return (await kv.get({ key: step.key, stale: step.stale }))?.Value;
      case "session":
        this.saved[step.save] = (await session.create({ ttl: step.ttl })).ID;
        return undefined;
      case "watch": {
        const index = await indexOf(this.server, step.key);
        this.saved[step.save] = kv.get({ key: step.key, index, wait: "60s" });
        return undefined;
      }
      case "join":
        return (await this.saved[step.watch]).Value;
      default:
        throw new Error(`an unknown step: ${step.client}`);
    }
  }

  async step(step) {
    if (step.control) return this.control(step);
    if (step.failure) {
      const text = await this.server.failureText();
      for (const part of step.failure) assert.ok(text.includes(part), `${part} is not in ${text}`);
      return undefined;
    }
    if (step.fails) return assert.rejects(this.client_(step), (error) => error.message.includes(step.fails));
    return assert.equal(await this.client_(step), step.expect);
  }
}

/** node-consul does not give the index of an answer. */
async function indexOf(server, key) {
  const answer = await fetch(`${server.url}/v1/kv/${key}`);
  await answer.arrayBuffer();
  return answer.headers.get("x-consul-index");
}

for (const [scenario, inProcess] of scenarios.flatMap((one) => [[one, false], [one, true]])) {
  test(`${scenario.name}${inProcess ? " in this process" : ""}`, async () => {
    const server = await startServer({ ...scenario.server, inProcess });
    try {
      const run = new Run(server);
      for (const step of scenario.steps) await run.step(step);
    } finally {
      await server.stop();
    }
  });
}
