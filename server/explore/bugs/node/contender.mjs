// What all contenders in Node share: who they are, what they print, and their guarded writes.

import fs from "node:fs";

/** What contenders compete for. */
export const LOCK_KEY = "bugs/lock";
/** Where the holder writes, and nobody else may. */
export const WORK_KEY = "work/item";
/** What a contender without a lock watches. */
export const WATCHED_KEY = "config/value";

/** Milliseconds between two guarded writes. */
const RHYTHM = 100;
/** Milliseconds that keep a worker from a busy loop of its own after an error. */
export const PAUSE = 500;

export const [host, port] = (process.env.CONSUL_HTTP_ADDR || "127.0.0.1:8500").split(":");
export const name = process.env.PROCONSUL_CONTENDER || "a";

/** Milliseconds of a duration such as `1s` or `500ms`. */
export function milliseconds(duration) {
  const [, number, unit] = /^([\d.]+)(ms|s|m)$/.exec(duration);
  return Number(number) * { ms: 1, s: 1000, m: 60_000 }[unit];
}

export const ttl = process.env.SESSION_TTL || "1s";
export const lockDelay = process.env.LOCK_DELAY || "1s";

/** Prints a line at once: standard output is a pipe, to which `console.log` may write later. */
export function say(line) {
  fs.writeSync(1, `${line}\n`);
}

/** Prints an error to standard error. */
export function report(error) {
  fs.writeSync(2, `${error.message || error}\n`);
}

/** The work of a holder: one write at a time, until it ends. */
export class Worker {
  /** `write(value, done)` writes the value and calls `done` with an error or nothing. */
  constructor(write) {
    this.write = write;
    this.writes = 0;
    this.holds = false;
    this.busy = false;
    setInterval(() => this.step(), RHYTHM);
  }

  begin() {
    if (this.holds) return;
    this.holds = true;
    say("held");
    this.step();
  }

  end() {
    if (!this.holds) return;
    this.holds = false;
    say("lost");
  }

  step() {
    if (!this.holds || this.busy) return;
    this.busy = true;
    this.writes += 1;
    this.write(`${name} ${this.writes}`, (error) => {
      this.busy = false;
      if (error) report(error);
    });
  }
}
