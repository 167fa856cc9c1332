// Starts servers of the module for the conformance suite, which says in `target::starter` what it asks for.
// Usage: node starter.mjs MODULE [ARGUMENT...]    the arguments are those of `proconsul agent` for each server

import { readFileSync } from "node:fs";
import net from "node:net";
import readline from "node:readline";

import { Machine } from "../packaging/node/machine.js";

/** How fast clocks run by themselves: short waits end soon, and a busy machine costs no session its life. */
const RATE = 0.25;

const [modulePath, ...common] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(modulePath));

/** A server that listens. */
class Listening {
  #skipped = 0;
  #machine;
  #listener = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));

  constructor(args) {
    const clock = {
      read: () => ({ of: this, ms: performance.now() * RATE + this.#skipped }),
      arm: (act, ms) => {
        const timer = setTimeout(act, ms / RATE);
        return () => clearTimeout(timer);
      },
    };
    this.#machine = new Machine(module, args, 7, clock);
  }

  listen() {
    return new Promise((resolve) => this.#listener.listen(0, "127.0.0.1", () => resolve(this.#listener.address().port)));
  }

  stop() {
    this.#listener.close();
    this.#machine.die(new Error("the server has stopped"));
  }

  advance(nanoseconds) {
    this.#skipped += nanoseconds / 1e6;
    this.#machine.poke();
  }

  #accept(socket) {
    const number = this.#machine.connect({
      data: (bytes) => socket.write(bytes),
      end: () => socket.end(),
      reset: () => socket.resetAndDestroy(),
    });
    socket.on("data", (bytes) => this.#machine.send(number, bytes));
    socket.on("end", () => this.#machine.end(number));
    // A reset is an error of the socket, and closes it.
    socket.on("error", () => {});
    socket.on("close", () => this.#machine.reset(number));
  }
}

const servers = new Map();

async function answer({ start, advance, nanoseconds, stop }) {
  if (start !== undefined) {
    const server = new Listening([...common, ...(start ? [`-hcl=${start}`] : [])]);
    const address = `127.0.0.1:${await server.listen()}`;
    servers.set(address, server);
    return { address };
  }
  if (advance) servers.get(advance).advance(nanoseconds);
  if (stop) {
    servers.get(stop).stop();
    servers.delete(stop);
  }
  return {};
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const said = await answer(JSON.parse(line)).catch((error) => ({ error: error.message }));
  console.log(JSON.stringify(said));
}
process.exit();
