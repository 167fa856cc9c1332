// Topics: who wants to know is told once, soon after something has changed, however often it did.

const listeners = new Map();
const changed = new Set();
let isPlanned = false;

/** Calls `tell` after `topic` has changed. Returns how to stop it. */
export function on(topic, tell) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(tell);
  return () => listeners.get(topic).delete(tell);
}

/** Says that a topic has changed. */
export function changes(topic) {
  changed.add(topic);
  if (isPlanned) return;
  isPlanned = true;
  // Pages in the background are drawn when they are looked at.
  requestAnimationFrame(() => {
    isPlanned = false;
    const now = [...changed];
    changed.clear();
    for (const one of now) for (const tell of listeners.get(one) ?? []) tell();
  });
}

/**
 * Repeats work on demand: `poke()` does it soon. What is asked for while it is being done is done once more, after a
 * pause that grows with what the work costs, so that a busy server is not asked all the time.
 */
export function refresher(work) {
  let isBusy = false;
  let isWanted = false;
  let timer = 0;
  const run = async () => {
    timer = 0;
    isBusy = true;
    isWanted = false;
    const began = performance.now();
    try {
      await work();
    } finally {
      isBusy = false;
      const pause = Math.max(100, 4 * (performance.now() - began));
      timer = setTimeout(() => {
        timer = 0;
        if (isWanted) run();
      }, pause);
    }
  };
  return {
    poke() {
      isWanted = true;
      if (!isBusy && !timer) run();
    },
  };
}
