// Starts servers of the module for the conformance suite, which says in `target::starter` what it asks for.
// Usage: node starter.mjs MODULE [ARGUMENT...]    the arguments are those of `proconsul agent` for each server

import { readFileSync } from "node:fs";
import net from "node:net";
import readline from "node:readline";

import { Input, Output, outputs, Server } from "./host.mjs";

/** How fast clocks run by themselves: short waits end soon, and a busy machine costs no session its life. */
const RATE = 0.25;

const [modulePath, ...common] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(modulePath));

/** A server that listens. */
class Listening {
  #server = new Server(module);
  #began = performance.now();
  /** The time that was skipped, in nanoseconds. */
  #skipped = 0n;
  #deadline;
  #timer;
  #connections = new Map();
  #last = 0n;
  #listener = net.createServer((socket) => this.#accept(socket));

  constructor(args) {
    const said = this.#server.create(args, 7n, BigInt(Date.now()) * 1_000_000n);
    if (said) throw new Error(said);
    this.#input(Input.TIME, 0n);
  }

  listen() {
    return new Promise((resolve) => this.#listener.listen(0, "127.0.0.1", () => resolve(this.#listener.address().port)));
  }

  stop() {
    this.#listener.close();
    for (const socket of this.#connections.values()) socket.removeAllListeners("close").destroy();
    clearTimeout(this.#timer);
  }

  /** Lets time pass, deadline by deadline. */
  advance(nanoseconds) {
    const end = this.#now + nanoseconds;
    while (this.#deadline !== undefined && this.#deadline <= end) {
      this.#skipped += this.#deadline > this.#now ? this.#deadline - this.#now : 0n;
      this.#input(Input.TIME, 0n);
    }
    this.#skipped += end > this.#now ? end - this.#now : 0n;
    this.#input(Input.TIME, 0n);
  }

  get #now() {
    return BigInt(Math.floor((performance.now() - this.#began) * RATE * 1e6)) + this.#skipped;
  }

  #accept(socket) {
    this.#last += 1n;
    const id = this.#last;
    this.#connections.set(id, socket);
    this.#input(Input.CONNECT, id);
    socket.on("data", (bytes) => this.#input(Input.BYTES, id, bytes));
    socket.on("end", () => this.#input(Input.END, id));
    // A reset is an error of the socket, and closes it.
    socket.on("error", () => {});
    socket.on("close", () => this.#connections.delete(id) && this.#input(Input.RESET, id));
  }

  #input(kind, id, bytes = "") {
    this.#deadline = undefined;
    for (const [kindOut, number, text] of outputs(this.#server.input(this.#now, kind, id, bytes))) {
      const socket = this.#connections.get(number);
      if (kindOut === Output.DEADLINE) this.#deadline = number;
      else if (kindOut === Output.BYTES) socket?.write(Buffer.from(text));
      else if (kindOut === Output.FIN) socket?.end();
      else socket?.resetAndDestroy();
    }
    clearTimeout(this.#timer);
    if (this.#deadline === undefined) return;
    const left = Number(this.#deadline - this.#now) / 1e6 / RATE;
    this.#timer = setTimeout(() => this.#input(Input.TIME, 0n), Math.min(Math.max(left, 0), 2 ** 31 - 1));
  }
}

const servers = new Map();

async function answer(line) {
  const asked = JSON.parse(line);
  if (asked.start !== undefined) {
    const server = new Listening([...common, ...(asked.start ? [`-hcl=${asked.start}`] : [])]);
    const address = `127.0.0.1:${await server.listen()}`;
    servers.set(address, server);
    return { address };
  }
  const server = servers.get(asked.advance ?? asked.stop);
  if (asked.advance) server.advance(BigInt(asked.nanoseconds));
  else {
    server.stop();
    servers.delete(asked.stop);
  }
  return {};
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const said = await answer(line).catch((error) => ({ error: error.message }));
  console.log(JSON.stringify(said));
}
process.exit();
