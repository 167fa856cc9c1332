// A server in a process of its own: the binary.

import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

import { findBinary } from "./binary.js";
import { argumentsOf, isFolder, Server } from "./server.js";

/** How long a start may take, in milliseconds. On a fast machine it takes a few. */
const START_WITHIN = 30_000;
/** How many lines of the server's log are kept for errors. */
const LOG_LINES = 200;

function allArgumentsOf({ port, files = [], data = [], args = [], ...options }) {
  const made = ["agent", ...argumentsOf(options), "-control-port=0", "-log-level=warn"];
  made.push(port === undefined ? "-http-port-ephemeral" : `-http-port=${port}`);
  for (const file of files) made.push(`${isFolder(file) ? "-config-dir" : "-config-file"}=${file}`);
  for (const file of data) made.push(`-load=${file}`);
  return [...made, ...args];
}

export class ServerProcess extends Server {
  inProcess = false;
  #child;
  #ended;
  #log = [];
  #certificates;

  /** What keeps this process from ending. */
  get #handles() {
    return [this.#child, this.#child.stdout, this.#child.stderr];
  }

  async begin(options) {
    const binary = findBinary(options.binary);
    // A server is what its arguments say, whatever the environment of the tests is.
    const variables = Object.entries(process.env).filter(([name]) => !/^(PRO)?CONSUL_/.test(name));
    const env = Object.fromEntries(variables);
    // Its log goes through one pipe to the end, so that the server never waits for its reader.
    const given = allArgumentsOf(options);
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
    const others = Object.values(ports.datacenters ?? {});
    this.agentUrls = [ports.agents ?? [ports.http], ...others].flat().map((address) => `http://${address}`);
    this.controlUrl = `http://${ports.control}/proconsul/v1`;
    this.dnsAddress = ports.dns ?? "";
    this.httpsUrl = ports.https ? `https://${ports.https}` : "";
    this.caFile = ports.https_ca_file ?? "";
    return binary;
  }

  get log() {
    return this.#log.join("\n");
  }

  followTimers() {
    throw new Error("this server is a process, which no fake timers move: start it with `inProcess: true`");
  }

  async end() {
    if (!this.#child) return;
    if (this.kill) process.removeListener("exit", this.kill);
    for (const handle of this.#handles) handle.ref();
    this.#child.kill("SIGKILL");
    await this.#ended;
    this.#removeCertificates();
  }

  #removeCertificates() {
    if (this.#certificates) fs.rmSync(this.#certificates, { recursive: true, force: true });
  }

  ask(method, url, body) {
    return new Promise((resolve, reject) => {
      // A connection of its own: a pool would hold the process.
      const request = http.request(url, { method, agent: false }, (answer) => {
        const pieces = [];
        answer.on("data", (piece) => pieces.push(piece));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          resolve({ status: answer.statusCode, type: answer.headers["content-type"], text });
        });
      });
      request.on("error", (error) => {
        const code = this.#child.exitCode ?? this.#child.signalCode;
        const state = code === null ? "runs" : `has ended (${code})`;
        reject(new Error(`${method} ${url.pathname}: ${error.message}; the server ${state}\n${this.log}`.trimEnd()));
      });
      request.end(body);
    });
  }
}
