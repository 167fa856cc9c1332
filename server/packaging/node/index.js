// Starting and stopping a server, and asking its control plane.

import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

import { findBinary, VARIABLE } from "./binary.js";
import { Controls, onlyKnown } from "./controls.js";

export { findBinary, Controls };

const OWN_VERSION = JSON.parse(fs.readFileSync(new URL("./package.json", import.meta.url), "utf8")).version;
/** How long a start may take, in milliseconds. On a fast machine it takes a few. */
const START_WITHIN = 30_000;
/** How many lines of the server's log are kept for errors. */
const LOG_LINES = 200;

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

function argumentsOf({ asVersion, seed, frozen, epoch, port, config, files = [], data = [], acl, args = [] }) {
  const made = ["agent", "-dev", "-control-port=0", "-log-level=warn"];
  if (asVersion !== undefined) made.push(`-as-version=${asVersion}`);
  if (seed !== undefined) made.push(`-seed=${seed}`);
  if (frozen) made.push("-frozen");
  if (epoch !== undefined) made.push(`-epoch=${epoch}`);
  made.push(port === undefined ? "-http-port-ephemeral" : `-http-port=${port}`);
  if (config !== undefined) made.push(`-hcl=${JSON.stringify(config)}`);
  for (const file of files) {
    const isFolder = !fs.statSync(file, { throwIfNoEntry: false })?.isFile();
    made.push(`${isFolder ? "-config-dir" : "-config-file"}=${file}`);
  }
  for (const file of data) made.push(`-load=${file}`);
  if (acl !== undefined) made.push(`-acl=${acl}`);
  return [...made, ...args];
}

/** A server in a process of its own, from `startServer`. */
export class Server extends Controls {
  #child;
  #ended;
  #log = [];
  #certificates;

  /** What keeps this process from ending. */
  get #handles() {
    return [this.#child, this.#child.stdout, this.#child.stderr];
  }

  static async start(options) {
    const server = new Server();
    try {
      await server.#start(options);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  async #start(options) {
    const binary = findBinary(options.binary);
    // A server is what its arguments say, whatever the environment of the tests is.
    const variables = Object.entries(process.env).filter(([name]) => !/^(PRO)?CONSUL_/.test(name));
    const env = Object.fromEntries(variables);
    // Its log goes through one pipe to the end, so that the server never waits for its reader.
    const given = argumentsOf(options);
    if (options.https) {
      this.#certificates = fs.mkdtempSync(path.join(os.tmpdir(), "proconsul-"));
      given.push("-https-dev", `-https-dev-dir=${this.#certificates}`);
    }
    this.#child = spawn(binary, given, { env, stdio: ["ignore", "pipe", "pipe"] });
    let ports;
    let timer;
    const said = new Promise((resolve, reject) => {
      this.#child.on("error", (error) => {
        reject(new Error(`${binary} cannot be run: ${error.message}; it may be a binary for another platform`));
      });
      const read = (line) => {
        if (!ports && line.startsWith('{"')) {
          ports = JSON.parse(line);
          resolve();
        } else {
          this.#log.push(line);
          if (this.#log.length > LOG_LINES) this.#log.shift();
        }
      };
      for (const pipe of [this.#child.stdout, this.#child.stderr]) readline.createInterface({ input: pipe }).on("line", read);
      this.#ended = new Promise((end) => {
        this.#child.on("error", end);
        this.#child.on("close", (code) => {
          const advice = this.#log.length ? "" : `; is ${binary} proconsul?`;
          reject(new Error(`the server ended at its start with exit code ${code}${advice}\n${this.log}`.trimEnd()));
          end();
        });
      });
      const late = () => reject(new Error(`the server has not said within ${START_WITHIN} ms where it listens:\n${this.log}`));
      timer = setTimeout(late, START_WITHIN);
    });
    await said.finally(() => clearTimeout(timer));
    // A test that forgets its server ends all the same.
    for (const handle of this.#handles) handle.unref();
    this.kill = () => {
      this.#child.kill("SIGKILL");
      this.#removeCertificates();
    };
    process.once("exit", this.kill);
    this.url = `http://${ports.http}`;
    this.controlUrl = `http://${ports.control}/proconsul/v1`;
    this.httpsUrl = ports.https ? `https://${ports.https}` : "";
    this.caFile = ports.https_ca_file ?? "";
    const about = await this.server();
    if (about.proconsul !== OWN_VERSION) {
      throw new Error(
        `${binary} is proconsul ${about.proconsul}, and this package is ${OWN_VERSION}: install the binary of ` +
          `${OWN_VERSION}, or unset ${VARIABLE}, so that the one of the package is used`,
      );
    }
    const { asVersion } = options;
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

  get log() {
    return this.#log.join("\n");
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
    if (!this.#child) return;
    if (hasFailed(context)) await this.#report();
    if (this.kill) process.removeListener("exit", this.kill);
    for (const handle of this.#handles) handle.ref();
    this.#child.kill("SIGKILL");
    await this.#ended;
    this.#removeCertificates();
  }

  #removeCertificates() {
    if (this.#certificates) fs.rmSync(this.#certificates, { recursive: true, force: true });
  }

  async [DISPOSE]() {
    await this.stop();
  }

  call(method, path, { query = {}, body } = {}) {
    const url = new URL(this.controlUrl + path);
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) url.searchParams.append(name, one);
    }
    return new Promise((resolve, reject) => {
      // A connection of its own: a pool would hold the process.
      const request = http.request(url, { method, agent: false }, (answer) => {
        const pieces = [];
        answer.on("data", (piece) => pieces.push(piece));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          if (answer.statusCode !== 200) return reject(new ControlError(answer.statusCode, text.trim()));
          const isJson = answer.headers["content-type"]?.startsWith("application/json");
          resolve(isJson ? JSON.parse(text) : text);
        });
      });
      request.on("error", (error) => {
        const code = this.#child.exitCode ?? this.#child.signalCode;
        const state = code === null ? "runs" : `has ended (${code})`;
        reject(new Error(`${method} ${path}: ${error.message}; the server ${state}\n${this.log}`.trimEnd()));
      });
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** Whether a test has failed, by the context of node:test or of Vitest. */
function hasFailed(context) {
  return Boolean(context?.error) || context?.task?.result?.state === "fail";
}

/** Starts a server. */
export async function startServer(options = {}) {
  onlyKnown(options, "asVersion", "seed", "frozen", "epoch", "port", "config", "files", "data", "acl", "https", "args", "binary");
  return Server.start(options);
}
