// RPC calls from a view to its Python half.

/** @typedef {import("../types").Model} Model */
/** @typedef {import("../types").Explanation} Explanation */
/** @typedef {import("../types").Progress} Progress */
/** @typedef {{done: (value: any) => void, fail: (error: Error) => void, onProgress?: (progress: Progress) => void}} PendingCall */

/** The kernel counts as busy if it does not answer within this time. */
export const BUSY_AFTER_MS = 1500;

/** A failed call, with advice. */
export class CallError extends Error {
  /** @param {Explanation} explanation */
  constructor(explanation) {
    super(explanation.message);
    this.name = explanation.type;
    this.advice = explanation.advice;
  }
}

/** A call that a later call, or the user, cancelled. */
export class Cancelled extends Error {}

/**
 * Connect a view to its model. `busy(true)` is called when an answer is late, `busy(false)` when no
 * answer is late any more.
 * @param {Model} model
 * @param {{busy?: (busy: boolean) => void, busyAfter?: number}} [options]
 */
export function connect(model, { busy = () => {}, busyAfter = BUSY_AFTER_MS } = {}) {
  /** @type {Map<number, PendingCall>} */
  const waiting = new Map();
  /** @type {Map<string, ((facts: any) => void)[]>} */
  const listeners = new Map();
  /** @type {[string, (...args: any[]) => void][]} */
  const watched = [];
  // All views of a model receive all answers, and views of old kernels may still exist.
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
    if ("progress" in message) return call.onProgress?.(message.progress);
    if ("working" in message) return;
    waiting.delete(message.id);
    watch();
    if ("error" in message) call.fail(new CallError(message.error));
    else if ("cancelled" in message) call.fail(new Cancelled());
    else call.done(message.value);
  }

  // Every message restarts the timer; a long call sends a heartbeat each second.
  function watch() {
    clearTimeout(timer);
    if (late) busy((late = false));
    if (waiting.size) timer = setTimeout(() => busy((late = true)), busyAfter);
  }

  /**
   * Call a method of the Python half.
   * @param {string} name @param {Record<string, any>} [args]
   * @param {{signal?: AbortSignal, onProgress?: (progress: Progress) => void}} [options]
   * @returns {Promise<any>}
   */
  function call(name, args = {}, { signal, onProgress } = {}) {
    const id = ++number;
    const answer = new Promise((done, fail) => waiting.set(id, { done, fail, onProgress }));
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
    /** Listen to an event. @param {string} event @param {(facts: any) => void} listen */
    on(event, listen) {
      listeners.set(event, [...(listeners.get(event) ?? []), listen]);
    },
    /** Draw a synced value, now and after each change. @param {string} name @param {(value: any) => void} draw */
    watch(name, draw) {
      const listen = () => draw(model.get(name));
      watched.push([`change:${name}`, listen]);
      model.on(`change:${name}`, listen);
      listen();
    },
    /** Whether a call has no answer yet. */
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
  message: "the kernel of this editor is not running",
  advice: "Run its cell again.",
};
