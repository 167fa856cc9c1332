// Plays the inputs in the module and compares its replies, byte for byte, with those of the same code outside it.
// Usage: node test.mjs MODULE INPUTS REPLIES

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// It is to be 4 MiB, and 1.5 MiB compressed. Until it is, it does not grow. Of it searches are 0.3 MiB, and 0.1 MiB compressed;
// several agents are 0.16 MiB, and 0.04 MiB compressed; several datacenters 0.06 MiB.
const MOST_BYTES = 6.5 * 1024 * 1024;
const MOST_COMPRESSED = 1.9 * 1024 * 1024;

const [modulePath, inputsPath, repliesPath] = process.argv.slice(2);
const bytes = readFileSync(modulePath);
const compressed = gzipSync(bytes, { level: 9 }).length;
assert(bytes.length <= MOST_BYTES, `the module has ${bytes.length} bytes`);
assert(compressed <= MOST_COMPRESSED, `the module has ${compressed} bytes compressed`);

const began = performance.now();
const module = new WebAssembly.Module(bytes);
const compiled = performance.now();
assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "env", name: "panic", kind: "function" }]);

/** A server: an instance of the module. */
class Server {
  #exports;
  #panic;

  constructor() {
    const panic = (text, length) => {
      this.#panic = Buffer.from(this.#exports.memory.buffer, text, length).toString();
    };
    this.#exports = new WebAssembly.Instance(module, { env: { panic } }).exports;
  }

  #call(bytes, call) {
    const at = this.#exports.buffer(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
    let length;
    try {
      length = call(this.#exports);
    } catch (error) {
      throw this.#panic ? new Error(this.#panic) : error;
    }
    return Buffer.from(new Uint8Array(this.#exports.memory.buffer, this.#exports.reply(), length));
  }

  create(args, seed, wall) {
    return this.#call(Buffer.from(JSON.stringify(args)), (exports) => exports.create(seed, wall)).toString();
  }

  input(now, kind, connection, text) {
    return this.#call(Buffer.from(text), (exports) => exports.input(BigInt(now), kind, BigInt(connection)));
  }
}

const inputs = JSON.parse(readFileSync(inputsPath, "utf8"));
const expected = readFileSync(repliesPath, "utf8").trimEnd().split("\n");
assert.equal(expected.length, inputs.length);
const play = () => {
  const server = new Server();
  assert.equal(server.create(["-dev", "-control", "-node=n1", "-hcl=telemetry{disable_hostname=true}"], 7n, 1_767_225_600_000_000_000n), "");
  return inputs.map((input) => server.input(...input));
};
const replies = play();
const played = performance.now();
for (const [place, reply] of replies.entries()) {
  const native = Buffer.from(expected[place], "hex");
  assert.equal(reply.toString("latin1"), native.toString("latin1"), `the reply to input ${place}`);
}
const cold = performance.now();
play();
const warm = performance.now();

assert.throws(() => new Server().input(0, 4, 0, ""), /`create` comes first/);
assert.throws(() => {
  const server = new Server();
  server.create(["-dev"], 7n, 0n);
  server.input(0, 99, 0, "");
}, /there is no input of kind 99/);

const gets = new Server();
gets.create(["-dev"], 7n, 0n);
gets.input(0, 0, 1, "");
const get = "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n";
const count = 5000;
const before = performance.now();
for (let done = 0; done < count; done += 1) gets.input(0, 1, 1, get);
const rate = Math.round((count / (performance.now() - before)) * 1000);

const ms = (from, to) => `${(to - from).toFixed(1)} ms`;
console.log(
  `wasm: ${(bytes.length / 1024 / 1024).toFixed(2)} MiB, ${(compressed / 1024 / 1024).toFixed(2)} MiB compressed; ` +
    `compiled in ${ms(began, compiled)}, a first server and ${inputs.length} inputs in ${ms(compiled, played)}, ` +
    `a second in ${ms(cold, warm)}; ${rate} GETs a second`,
);
console.log(`wasm: ${inputs.length} replies are those of the same code outside the module`);
