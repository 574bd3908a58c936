// Calls from a view to its Python half, and what comes back.

/** @typedef {import("../types").Model} Model */
/** @typedef {import("../types").Explanation} Explanation */
/** @typedef {import("../types").Progress} Progress */
/** @typedef {{done: (value: any) => void, fail: (error: Error) => void, tell?: (progress: Progress) => void}} Waiting */

/** How long an answer may take before the kernel counts as busy, in milliseconds. */
export const PATIENCE = 1500;

/** A call that failed, with advice. */
export class CallError extends Error {
  /** @param {Explanation} told */
  constructor(told) {
    super(told.message);
    this.name = told.type;
    this.advice = told.advice;
  }
}

/** A call that a later one, or the user, ended. */
export class Cancelled extends Error {}

/**
 * Connect a view to its model. `busy(true)` is told once an answer is late, `busy(false)` when
 * none is missing any more.
 * @param {Model} model
 * @param {{busy?: (busy: boolean) => void, patience?: number}} [options]
 */
export function connect(model, { busy = () => {}, patience = PATIENCE } = {}) {
  /** @type {Map<number, Waiting>} */
  const waiting = new Map();
  /** @type {Map<string, ((facts: any) => void)[]>} */
  const listeners = new Map();
  /** @type {[string, (...args: any[]) => void][]} */
  const watched = [];
  // Views of one model hear each other's answers, and old kernels' views may still be there.
  let number = Math.floor(Math.random() * 2 ** 31) * 2 ** 20;
  /** @type {any} */
  let timer = null;
  let late = false;

  /** @param {any} message */
  function receive(message) {
    if ("event" in message) for (const listen of listeners.get(message.event) ?? []) listen(message);
    const call = waiting.get(message.id);
    if (!call) return;
    watch();
    if ("progress" in message) return call.tell?.(message.progress);
    if ("working" in message) return;
    waiting.delete(message.id);
    watch();
    if ("error" in message) call.fail(new CallError(message.error));
    else if ("cancelled" in message) call.fail(new Cancelled());
    else call.done(message.value);
  }

  // Begun anew by every sign of life, and a long call gives one each second.
  function watch() {
    clearTimeout(timer);
    if (late) busy((late = false));
    if (waiting.size) timer = setTimeout(() => busy((late = true)), patience);
  }

  /**
   * Call a method of the Python half.
   * @param {string} name @param {Record<string, any>} [args]
   * @param {{signal?: AbortSignal, tell?: (progress: Progress) => void}} [options]
   * @returns {Promise<any>}
   */
  function call(name, args = {}, { signal, tell } = {}) {
    const id = ++number;
    const answer = new Promise((done, fail) => waiting.set(id, { done, fail, tell }));
    signal?.addEventListener("abort", () => model.send({ cancel: id }), { once: true });
    try {
      model.send({ id, call: name, args });
    } catch {
      waiting.get(id)?.fail(new CallError(NO_KERNEL));
      waiting.delete(id);
    }
    watch();
    return answer;
  }

  model.on("msg:custom", receive);
  return {
    call,
    /** Hear of an event. @param {string} event @param {(facts: any) => void} listen */
    on(event, listen) {
      listeners.set(event, [...(listeners.get(event) ?? []), listen]);
    },
    /** Draw by a synced value, now and whenever it changes. @param {string} name @param {(value: any) => void} draw */
    watch(name, draw) {
      const listen = () => draw(model.get(name));
      watched.push([`change:${name}`, listen]);
      model.on(`change:${name}`, listen);
      listen();
    },
    /** Whether anything is not answered yet. */
    pending: () => waiting.size > 0,
    close() {
      clearTimeout(timer);
      model.off("msg:custom", receive);
      for (const [event, listen] of watched) model.off(event, listen);
      for (const { fail } of waiting.values()) fail(new Cancelled());
      waiting.clear();
    },
  };
}

const NO_KERNEL = {
  type: "NoKernel",
  message: "there is no kernel behind this editor any more",
  advice: "Run its cell again.",
};
