// A host of the module in Node: one instance for each server.

import { Buffer } from "node:buffer";

/** The kinds of inputs. */
export const Input = { CONNECT: 0, BYTES: 1, END: 2, RESET: 3, TIME: 4, REQUEST: 5 };
/** The kinds of outputs. */
export const Output = { BYTES: 1, FIN: 2, RESET: 3, DEADLINE: 4, RESPONSE: 5 };

/** A server: an instance of the module. */
export class Server {
  #exports;
  #panic;

  constructor(module) {
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

  /** Makes the server. Returns an empty text, or what is wrong with the arguments. */
  create(args, seed, wall) {
    return this.#call(Buffer.from(JSON.stringify(args)), (exports) => exports.create(seed, wall)).toString();
  }

  /** Gives the server an input, and returns the reply. */
  input(now, kind, connection, bytes) {
    return this.#call(Buffer.from(bytes), (exports) => exports.input(BigInt(now), kind, BigInt(connection)));
  }
}

/** Yields the outputs of a reply: kind, number and bytes. */
export function* outputs(reply) {
  for (let at = 0; at < reply.length; ) {
    const length = reply.readUInt32LE(at + 9);
    yield [reply[at], reply.readBigUInt64LE(at + 1), reply.subarray(at + 13, at + 13 + length)];
    at += 13 + length;
  }
}
