// What a server is, in a process of its own or in this one.

import fs from "node:fs";
import http from "node:http";

import { VARIABLE } from "./binary.js";
import { Controls } from "./controls.js";

const OWN_VERSION = JSON.parse(fs.readFileSync(new URL("./package.json", import.meta.url), "utf8")).version;

/** The control plane rejected a call; the message says why. `status` is 409 where a wait timed out. */
export class ControlError extends Error {
  constructor(status, text) {
    super(text);
    this.name = "ControlError";
    this.status = status;
  }
}

/** Node before 20 has no `await using`. */
const DISPOSE = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** Whether there is no file of this name: a folder, or an error of the server's. */
export const isFolder = (file) => !fs.statSync(file, { throwIfNoEntry: false })?.isFile();

/** The arguments of `proconsul agent` that mean the same in both ways. */
export function argumentsOf({ asVersion, seed, frozen, epoch, agents, datacenters, config, acl }) {
  const made = ["-dev"];
  if (asVersion !== undefined) made.push(`-as-version=${asVersion}`);
  if (seed !== undefined) made.push(`-seed=${seed}`);
  if (frozen) made.push("-frozen");
  if (epoch !== undefined) made.push(`-epoch=${epoch}`);
  if (agents !== undefined) made.push(`-agents=${agents}`);
  if (datacenters !== undefined) made.push(`-datacenters=${datacenters.join(",")}`);
  if (config !== undefined) made.push(`-hcl=${JSON.stringify(config)}`);
  if (acl !== undefined) made.push(`-acl=${acl}`);
  return made;
}

/** Whether a test has failed, by the context of node:test or of Vitest. */
function hasFailed(context) {
  return Boolean(context?.error) || context?.task?.result?.state === "fail";
}

/**
 * A server, from `startServer`. `begin(options)` starts it and returns the file that it is, `end()` ends it, and
 * `ask(method, target, body)` returns the status, the type and the text of a response of the control plane.
 */
export class Server extends Controls {
  dnsAddress = "";
  httpsUrl = "";
  caFile = "";
  agent = new http.Agent();

  static async start(options) {
    const server = new this();
    try {
      const file = await server.begin(options);
      await server.#check(file, options);
    } catch (error) {
      await server.end();
      throw error;
    }
    return server;
  }

  async #check(file, { asVersion }) {
    const about = await this.server();
    if (about.proconsul !== OWN_VERSION) {
      throw new Error(
        `${file} is proconsul ${about.proconsul}, and this package is ${OWN_VERSION}: install the binary of ` +
          `${OWN_VERSION}, or unset ${VARIABLE}, so that the one of the package is used`,
      );
    }
    if (asVersion !== undefined && !`${about.version}.`.startsWith(`${asVersion}.`)) {
      throw new Error(`Consul ${asVersion} is not known: the newest release that is emulated is ${about.version}`);
    }
    this.seed = about.seed;
  }

  get host() {
    return new URL(this.url).hostname;
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  /** Host and port, as CONSUL_HTTP_ADDR takes them. */
  get address() {
    return this.url.slice("http://".length);
  }

  get environment() {
    return { CONSUL_HTTP_ADDR: this.address };
  }

  historyText() {
    return this.call("GET", "/history", { query: { format: "text" } });
  }

  /** What to print when a test has failed: seed, history, and the timeline of each key that was locked. */
  async failureText() {
    const parts = [`what happened on ${this.url} (seed ${this.seed}):`, await this.historyText()];
    const { records } = await this.history({ kind: ["acquired", "acquire-refused"] });
    const keys = new Set(records.map((record) => record.key).filter(Boolean));
    for (const key of keys) parts.push(await this.timeline(key));
    return parts.join("\n");
  }

  /** Runs a test on the server, and shows what happened on it if the test fails. */
  async run(test) {
    try {
      return await test(this);
    } catch (error) {
      await this.#report();
      throw error;
    }
  }

  async #report() {
    console.error(await this.failureText().catch((reason) => `the server cannot be asked: ${reason.message}`));
  }

  /**
   * Ends the server. Nothing is lost by it: all of its state is in memory. `context` is what node:test and Vitest hand to
   * `afterEach`: if its test has failed, what happened on the server is shown.
   */
  async stop(context) {
    if (hasFailed(context)) await this.#report();
    await this.end();
  }

  async [DISPOSE]() {
    await this.stop();
  }

  async call(method, path, { query = {}, body } = {}) {
    const url = new URL(this.controlUrl + path);
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) url.searchParams.append(name, one);
    }
    const { status, type, text } = await this.ask(method, url, body === undefined ? undefined : JSON.stringify(body));
    if (status !== 200) throw new ControlError(status, text.trim());
    return type?.startsWith("application/json") ? JSON.parse(text) : text;
  }
}
