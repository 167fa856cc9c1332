// A server in this process: the WebAssembly module, behind a listener.

import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { Duplex } from "node:stream";
import { gunzipSync } from "node:zlib";

import { MACHINE, TIMERS, turn } from "./clocks.js";
import { Machine } from "./machine.js";
import { argumentsOf, isFolder, Server } from "./server.js";

const FILE = new URL("./proconsul.wasm.gz", import.meta.url);
/** The largest seed that is used if none is given. */
const SEEDS = 2 ** 48;
const ADDRESS = "127.0.0.1";
/** The first byte of an archive of a snapshot. */
const GZIP = 0x1f;
const STATE = "/proconsul/v1/state";
const KEYS = `${STATE}/kv`;

let compiled;
/** Compiles the module, once for all servers. */
function module() {
  compiled ??= WebAssembly.compile(gunzipSync(fs.readFileSync(FILE)));
  return compiled;
}

/** The settings in a file, or in those of a folder that Consul reads, by their names. */
function settingsIn(file) {
  if (!isFolder(file)) return [fs.readFileSync(file, "utf8")];
  const names = fs.readdirSync(file).filter((name) => /\.(hcl|json)$/.test(name));
  return names.sort().map((name) => fs.readFileSync(path.join(file, name), "utf8"));
}

/** A connection without a socket. It has what clients call on a socket. */
class Pipe extends Duplex {
  #machine;
  #number;
  #idle = 0;
  #timer;

  constructor(machine) {
    super({ allowHalfOpen: false });
    this.#machine = machine;
    this.#number = machine.connect({
      data: (bytes) => {
        this.push(bytes);
        this.setTimeout(this.#idle);
      },
      end: () => this.push(null),
      reset: () => this.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })),
    });
  }

  _read() {}

  _write(bytes, _, done) {
    this.#machine.send(this.#number, bytes);
    this.setTimeout(this.#idle);
    done();
  }

  _final(done) {
    this.#machine.end(this.#number);
    done();
  }

  _destroy(error, done) {
    clearTimeout(this.#timer);
    this.#machine.reset(this.#number);
    done(error);
  }

  /** Emits "timeout" when nothing has come or gone for so many milliseconds of the test's timers. */
  setTimeout(ms, listener) {
    if (listener) this.once("timeout", listener);
    clearTimeout(this.#timer);
    this.#idle = ms;
    if (ms > 0 && !this.destroyed) this.#timer = setTimeout(() => this.emit("timeout"), ms);
    return this;
  }

  setNoDelay() {
    return this;
  }

  setKeepAlive() {
    return this;
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }
}

export class ServerModule extends Server {
  inProcess = true;
  log = "";
  #machine;
  /** One for each agent. */
  #listeners = [];
  #sockets = new Set();
  #start;
  #waiting = 0;
  #hasEnded = false;

  async begin({ port = 0, files = [], data = [], args = [], https, ...options }) {
    if (https) throw new Error("HTTPS needs the server's binary: this server is the WebAssembly module in this process");
    // The binary asks for the machine's name itself.
    const named = JSON.stringify({ node_name: os.hostname() });
    const settings = [named, ...files.flatMap(settingsIn)].map((text) => `-hcl=${text}`);
    const given = [...settings, ...argumentsOf(options), "-control", ...args];
    this.#machine = new Machine(await module(), given, Math.floor(Math.random() * SEEDS), MACHINE);
    for (let agent = 0; agent < this.#machine.agents; agent++) await this.#listen(agent, agent === 0 ? port : 0);
    this.agentUrls = this.#listeners.map((listener) => `http://${ADDRESS}:${listener.address().port}`);
    [this.url] = this.agentUrls;
    this.controlUrl = `${this.url}/proconsul/v1`;
    this.agent.createConnection = (_, refuse) => {
      if (this.#machine.failure) return refuse(this.#machine.failure);
      this.#hold();
      return new Pipe(this.#machine).once("close", () => this.#letGo());
    };
    await this.#load(data, options.acl);
    if (data.length) this.#start = await this.state();
    return FILE.pathname;
  }

  /** Loads files: the states, then the keys. */
  async #load(files, acl) {
    const read = files.map((file) => ({ file, bytes: fs.readFileSync(file) }));
    const isKeys = ({ bytes }) => /^\s*\[/.test(bytes.toString("latin1", 0, 1024));
    for (const one of [...read.filter((one) => !isKeys(one)), ...read.filter(isKeys)]) {
      const [call, headers] = one.bytes[0] === GZIP ? ["/v1/snapshot", { "X-Consul-Token": acl ?? "" }] : [isKeys(one) ? KEYS : STATE, {}];
      const { status, body } = await this.#machine.request("PUT", call, headers, one.bytes);
      if (status !== 200) throw new Error(`cannot load ${one.file}: ${Buffer.from(body).toString().trim()}`);
    }
  }

  async #listen(agent, port) {
    const listener = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#serve(socket, agent));
    this.#listeners.push(listener);
    await new Promise((listening, reject) => {
      listener.once("error", reject).listen(port, ADDRESS, listening);
    });
    // A test that forgets its server ends all the same.
    listener.unref();
  }

  #serve(socket, agent) {
    const machine = this.#machine;
    this.#sockets.add(socket);
    const user = {
      data: (bytes) => socket.write(bytes),
      end: () => socket.destroySoon(),
      reset: () => socket.resetAndDestroy(),
    };
    const number = machine.connect(user, agent);
    socket.unref();
    socket.on("data", (bytes) => machine.send(number, bytes));
    socket.on("end", () => machine.end(number));
    socket.on("error", () => {}); // "close" comes next
    socket.on("close", () => {
      this.#sockets.delete(socket);
      machine.reset(number);
    });
  }

  followTimers() {
    this.#machine.follow(TIMERS);
  }

  /** The module takes the state without data for that of the start. */
  async reset() {
    const done = await super.reset();
    return this.#start ? this.load(this.#start) : done;
  }

  async ask(method, { pathname, search }, body) {
    // What clients have begun to send without sockets is with the server first.
    await turn();
    this.#hold();
    try {
      const answer = await this.#machine.request(method, pathname + search, {}, body);
      return { status: answer.status, type: answer.headers.get("content-type"), text: Buffer.from(answer.body).toString() };
    } finally {
      this.#letGo();
    }
  }

  /** Keeps this process from ending while somebody waits for the server without a socket. */
  #hold() {
    if (this.#waiting === 0) this.#listeners[0].ref();
    this.#waiting += 1;
  }

  #letGo() {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#listeners[0].unref();
  }

  async end() {
    if (!this.#machine || this.#hasEnded) return;
    this.#hasEnded = true;
    const { failure } = this.#machine;
    this.#machine.die(new Error("the server has ended"));
    for (const socket of this.#sockets) socket.destroy();
    const open = this.#listeners.filter((listener) => listener.listening);
    await Promise.all(open.map((listener) => new Promise((closed) => listener.close(closed))));
    if (failure) throw failure;
  }
}
