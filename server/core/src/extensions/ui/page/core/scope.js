// What a view has begun and ends when it is left.

/** Collects what is to be stopped. */
export function scope() {
  const stops = [];
  return {
    /** Adds functions that stop something. */
    add(...more) {
      stops.push(...more);
    },
    /** Repeats something while the view is shown. */
    every(ms, work) {
      const timer = setInterval(() => {
        if (!document.hidden) work();
      }, ms);
      stops.push(() => clearInterval(timer));
    },
    stop() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}
