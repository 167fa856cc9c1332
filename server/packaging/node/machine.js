// A server as an instance of the WebAssembly module, which server/wasm/README.md describes: for Node and for a browser.

/** The kinds of inputs. */
const CONNECT = 0;
const BYTES = 1;
const END = 2;
const RESET = 3;
const TIME = 4;
const REQUEST = 5;

/** The kinds of outputs: one has the next deadline, the others go to these methods of who has the connection or request. */
const DEADLINE = 4;
const METHODS = { 1: "data", 2: "end", 3: "reset", 5: "response" };
/** Those after which the number is nobody's. */
const LAST = ["end", "reset", "response"];
/** How many bytes an output has in front of its own: kind, number and length. */
const HEAD = 13;

const NOTHING = new Uint8Array();
/** The longest time that setTimeout takes, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder().decode(bytes);
const nanoseconds = (ms) => BigInt(Math.round(ms * 1e6));

function outputsOf(reply) {
  const outputs = [];
  const view = new DataView(reply.buffer);
  for (let at = 0; at < reply.length; ) {
    const end = at + HEAD + view.getUint32(at + 9, true);
    outputs.push({ kind: view.getUint8(at), number: view.getBigUint64(at + 1, true), bytes: reply.subarray(at + HEAD, end) });
    at = end;
  }
  return outputs;
}

function responseOf(bytes) {
  const at = bytes.findIndex((_, place) => [13, 10, 13, 10].every((byte, next) => bytes[place + next] === byte));
  const [status, ...lines] = textOf(bytes.subarray(0, at)).split("\r\n");
  const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2));
  return { status: Number.parseInt(status, 10), headers: new Headers(headers), body: bytes.subarray(at + 4) };
}

/**
 * A server. Its time is that of its clock: `read()` returns a time in milliseconds, `ms`, and whose time it is, `of`;
 * `arm(act, ms)` calls a function later, and returns a function that prevents it.
 */
export class Machine {
  /** Why the server is dead; undefined while it is not. */
  failure;
  #exports;
  #panic;
  #clock;
  #users = new Map();
  #last = 0n;
  #now = 0n;
  #read = {};
  #deadline;
  #disarm = () => {};

  /** `args` are those of `proconsul agent`. `seed` counts if they name none. */
  constructor(module, args, seed, clock) {
    const panic = (text, length) => {
      this.#panic = textOf(new Uint8Array(this.#exports.memory.buffer, text, length));
    };
    this.#exports = new WebAssembly.Instance(module, { env: { panic } }).exports;
    this.#clock = clock;
    const wall = nanoseconds(Date.now());
    const said = textOf(this.#call(bytesOf(JSON.stringify(args)), () => this.#exports.create(BigInt(seed), wall)));
    if (said) throw new Error(said);
    this.poke();
  }

  /** Takes the time of another clock from now on. */
  follow(clock) {
    this.poke();
    this.#clock = clock;
    this.poke();
  }

  /** Looks at the time. */
  poke() {
    this.#input(TIME, 0n);
  }

  /** Sends a request, and returns the status, the headers and the body of its response. */
  request(method, target, headers = {}, body = "") {
    return new Promise((response, reject) => {
      const reset = () => reject(this.failure ?? new Error("the server has cut the request off"));
      const number = this.#use({ response: (bytes) => response(responseOf(bytes)), reset });
      const lines = Object.entries({ Host: "proconsul", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      const head = bytesOf(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
      const content = typeof body === "string" ? bytesOf(body) : body;
      const bytes = new Uint8Array(head.length + content.length);
      bytes.set(head);
      bytes.set(content, head.length);
      this.#input(REQUEST, number, bytes);
    });
  }

  /** How many agents the server has, those of joined datacenters counted on. */
  get agents() {
    return this.#exports.agents();
  }

  /** Opens a connection to an agent, and returns its number. `user` has what the server does: `data(bytes)`, `end()` and `reset()`. */
  connect(user, agent = 0) {
    const number = this.#use(user);
    this.#input(CONNECT + (agent << 8), number);
    return number;
  }

  /** Sends bytes on a connection. */
  send(number, bytes) {
    if (this.#users.has(number)) this.#input(BYTES, number, bytes);
  }

  /** Says that all has been sent on a connection. */
  end(number) {
    if (this.#users.has(number)) this.#input(END, number);
  }

  /** Says that the client of a connection has gone. */
  reset(number) {
    if (this.#users.delete(number)) this.#input(RESET, number);
  }

  /** Ends the server, for this reason: all who are connected are cut off. */
  die(failure) {
    this.failure = failure;
    this.#disarm();
    for (const user of this.#users.values()) user.reset();
    this.#users.clear();
  }

  #use(user) {
    this.#last += 1n;
    this.#users.set(this.#last, user);
    return this.#last;
  }

  /** The time since the server was made. It never goes back, whatever a test does to the clock or puts in its place. */
  #time() {
    const { of, ms } = this.#clock.read();
    if (of === this.#read.of) this.#now += nanoseconds(Math.max(0, ms - this.#read.ms));
    this.#read = { of, ms };
    return this.#now;
  }

  #input(kind, number, bytes = NOTHING) {
    const now = this.#time();
    // What is due happens at its time, however late the timer is.
    for (let due = -1n; this.#deadline > due && this.#deadline <= now; ) {
      due = this.#deadline;
      this.#give(due, TIME, 0n, NOTHING);
    }
    this.#give(now, kind, number, bytes);
    this.#disarm();
    if (this.failure || this.#deadline === undefined) return;
    const left = Math.min(Math.ceil(Number(this.#deadline - now) / 1e6), LONGEST);
    this.#disarm = this.#clock.arm(() => this.poke(), left);
  }

  #give(now, kind, number, bytes) {
    let reply;
    try {
      reply = this.#call(bytes, () => this.#exports.input(now, kind, number));
    } catch (error) {
      if (!this.failure) this.die(error);
      this.#hand("reset", number);
      return;
    }
    const outputs = outputsOf(reply);
    this.#deadline = outputs.find(({ kind }) => kind === DEADLINE)?.number;
    for (const { kind, number, bytes } of outputs) if (kind !== DEADLINE) this.#hand(METHODS[kind], number, bytes);
  }

  #hand(method, number, bytes) {
    const user = this.#users.get(number);
    if (LAST.includes(method)) this.#users.delete(number);
    user?.[method](bytes);
  }

  /** Calls the module with these bytes, and returns its reply. */
  #call(bytes, call) {
    if (this.failure) throw this.failure;
    const at = this.#exports.buffer(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
    try {
      const length = call();
      return new Uint8Array(this.#exports.memory.buffer, this.#exports.reply(), length).slice();
    } catch (error) {
      throw this.#panic === undefined ? error : new Error(`the server has panicked: ${this.#panic}`);
    }
  }
}
