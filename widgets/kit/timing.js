// Limits on how often functions run.

/**
 * Run a function after `wait` without further calls; `flush` runs a waiting call at once.
 * @template {any[]} A
 * @param {(...args: A) => void} act @param {number} wait in milliseconds
 */
export function debounce(act, wait) {
  /** @type {any} */
  let timer = null;
  /** @type {A | null} */
  let pending = null;
  function run() {
    clearTimeout(timer);
    const args = pending;
    pending = null;
    if (args) act(...args);
  }
  return Object.assign(
    /** @param {A} args */
    (...args) => {
      pending = args;
      clearTimeout(timer);
      timer = setTimeout(run, wait);
    },
    {
      flush: run,
      cancel: () => {
        clearTimeout(timer);
        pending = null;
      },
    },
  );
}

/**
 * Run one call at a time; of the calls made meanwhile, only the last runs, right after.
 * @template {any[]} A
 * @param {(...args: A) => Promise<any>} act
 */
export function oneAtATime(act) {
  /** @type {A | null} */
  let next = null;
  let running = false;
  return /** @param {A} args */ async (...args) => {
    next = args;
    if (running) return;
    running = true;
    try {
      while (next) {
        const now = next;
        next = null;
        await act(...now);
      }
    } finally {
      running = false;
    }
  };
}
