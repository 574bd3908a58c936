// When to do what is asked for again and again.

/**
 * Do it once nothing was asked for a while; `flush` does at once what is waiting.
 * @template {any[]} A
 * @param {(...args: A) => void} act @param {number} wait in milliseconds
 */
export function debounce(act, wait) {
  /** @type {any} */
  let timer = null;
  /** @type {A | null} */
  let asked = null;
  function run() {
    clearTimeout(timer);
    const args = asked;
    asked = null;
    if (args) act(...args);
  }
  return Object.assign(
    /** @param {A} args */
    (...args) => {
      asked = args;
      clearTimeout(timer);
      timer = setTimeout(run, wait);
    },
    {
      flush: run,
      cancel: () => {
        clearTimeout(timer);
        asked = null;
      },
    },
  );
}

/**
 * Do one thing at a time; of what is asked meanwhile only the last is done, right after.
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
