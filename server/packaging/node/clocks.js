// The clocks that a server in this process can have.

import { performance } from "node:perf_hooks";
import timers from "node:timers";

// Kept now: a test may put others in their place.
const { setTimeout, clearTimeout, setImmediate } = timers;
const { now } = performance;

/** Calls a function later, and returns a function that prevents it. A timer keeps no process from ending. */
function arm(start, clear, act, ms) {
  const timer = start(act, ms);
  timer?.unref?.();
  return () => clear(timer);
}

/** The machine's. */
export const MACHINE = {
  read: () => ({ of: "the machine", ms: now.call(performance) }),
  arm: (act, ms) => arm(setTimeout, clearTimeout, act, ms),
};

/** That of the fake timers that are installed when it is read, or else the machine's. */
export const TIMERS = {
  read() {
    const { Date, performance: shown } = globalThis;
    // What `setSystemTime` does to Date moves no timer, so that a fake `performance` is the better clock.
    if (shown.now !== now) return { of: shown, ms: shown.now() };
    const isFake = !Function.prototype.toString.call(Date).includes("[native code]");
    return isFake ? { of: Date, ms: Date.now() } : MACHINE.read();
  },
  arm: (act, ms) => arm(globalThis.setTimeout, globalThis.clearTimeout, act, ms),
};

/** Lets the program's other work go on for one turn of the machine's event loop, whatever timers are installed. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));
