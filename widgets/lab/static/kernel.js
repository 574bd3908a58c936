// What the extension knows of a notebook's kernel, and its calls to it.

import { connect, Cancelled, CallError } from "../../kit/bridge.js";

/** @typedef {import("../types").KernelState} KernelState */
/** @typedef {import("../types").Calls} Calls */

const TARGET = "svc_notebook.faces.lab";
const ATTACH = `__import__('${TARGET}.kernel', fromlist=['attach']).attach()`;
// Neither names nor output nor history: a user expression of an empty, silent request.
const PROBE =
  "(lambda sys, found: " +
  `${ATTACH} if 'svc_notebook' in sys.modules else found('svc_notebook') and 'unloaded' or 'missing'` +
  ")(__import__('sys'), __import__('importlib.util', fromlist=['util']).find_spec)";
const LOAD = "__import__('IPython').get_ipython().run_line_magic('load_ext', 'svc_notebook')";
const SUBSHELL_MS = 2000; // the longest wait for a subshell; settings of the application can forbid them
/** @type {KernelState[]} */
const ANSWERS = ["ready", "unloaded", "missing", "other"];
const QUIET = { code: "", silent: true, store_history: false, allow_stdin: false, stop_on_error: false };

/** The link to one kernel; `changed` is told of every change of `state`, `busy` and of finished cells. */
export class KernelLink {
  /** @param {any} kernel a connection to a kernel @param {(what: "state" | "executed") => void} changed @param {() => void} [ended] */
  constructor(kernel, changed, ended = () => {}) {
    this.kernel = kernel;
    this.ended = ended; // called when the kernel has ended or is restarted
    this.changed = changed;
    /** @type {KernelState} */
    this.state = "starting";
    this.busy = kernel.status === "busy";
    this.probing = false;
    /** @type {Set<string>} */
    this.own = new Set();
    /** @type {Calls | null} */
    this.calls = null;
    /** @type {any} */
    this.comm = null;
    /** Ends the wait for the kernel's half of a comm. @type {(() => void) | null} */
    this.cancelOpening = null;
    this.onMessage = (/** @type {any} */ _, /** @type {any} */ message) => this.follow(message);
    this.onStatus = (/** @type {any} */ _, /** @type {string} */ status) => this.followStatus(status);
    kernel.iopubMessage.connect(this.onMessage);
    kernel.statusChanged.connect(this.onStatus);
    void this.probe();
  }

  /** Whether a call is answered before the running cell ends. */
  get answers() {
    return this.state === "ready" && (!this.busy || Boolean(this.comm?.subshellId));
  }

  /** Find out what the kernel has; never while a cell runs, behind which the request would wait. */
  async probe() {
    if (this.probing || this.busy || this.state === "ready") return;
    this.probing = true;
    try {
      const info = await this.kernel.info;
      if (this.busy || this.kernel.isDisposed) return;
      const python = info?.language_info?.name === "python";
      const answer = python ? await this.evaluate(PROBE) : "other";
      if (answer === "ready") await this.open();
      this.become(ANSWERS.find((state) => state === answer) ?? "missing");
    } catch {
      // The kernel ended meanwhile; its status is told.
    } finally {
      this.probing = false;
    }
  }

  /** Load the package into the kernel, as `%load_ext svc_notebook` does. */
  async load() {
    await this.evaluate(LOAD);
    await this.probe();
  }

  /**
   * Call the kernel's half.
   * @param {string} name @param {Record<string, any>} [args]
   * @param {{signal?: AbortSignal, onProgress?: (progress: import("../../types").Progress) => void}} [options]
   */
  async call(name, args = {}, options = {}) {
    if (!this.calls) throw new CallError({ type: "NoKernel", message: "the kernel is not connected", advice: "" });
    return this.calls.call(name, args, options);
  }

  dispose() {
    this.kernel.iopubMessage.disconnect(this.onMessage);
    this.kernel.statusChanged.disconnect(this.onStatus);
    this.shut();
  }

  /** @param {string} expression @returns {Promise<string | null>} */
  async evaluate(expression) {
    const future = this.kernel.requestExecute({ ...QUIET, user_expressions: { answer: expression } }, true);
    this.own.add(future.msg.header.msg_id);
    const reply = await future.done;
    const answer = reply.content.user_expressions?.answer;
    return answer?.status === "ok" ? (answer.data["text/plain"] ?? "").replace(/^'|'$/g, "") : null;
  }

  /**
   * Open the comm, and wait until the kernel has it: what overtook its opening, on a subshell beside
   * a running cell, would be lost, and the call never answered.
   */
  async open() {
    this.shut();
    const comm = (this.comm = this.kernel.createComm(TARGET));
    const started = this.kernel.supportsSubshells && comm.subshellStarted;
    if (started) await Promise.race([started.catch(() => {}), new Promise((done) => setTimeout(done, SUBSHELL_MS))]);
    if (this.comm !== comm) throw new Cancelled(); // the kernel was restarted meanwhile
    /** @type {Set<(message: any) => void>} */
    const listeners = new Set();
    comm.onMsg = (/** @type {any} */ message) => listeners.forEach((listen) => listen(message.content.data));
    const calls = (this.calls = connect({
      get: () => undefined,
      on: (_, listen) => void listeners.add(listen),
      off: (_, listen) => void (listen && listeners.delete(listen)),
      set: () => {},
      save_changes: () => {},
      send: (content) => void comm.send(content),
    }));
    await new Promise((opened, fail) => {
      this.cancelOpening = () => fail(new Cancelled());
      calls.on("opened", opened);
      comm.open();
    });
    this.cancelOpening = null;
  }

  shut() {
    this.cancelOpening?.();
    this.cancelOpening = null;
    this.calls?.close();
    this.calls = null;
    if (this.comm && !this.comm.isDisposed && !this.kernel.isDisposed && this.kernel.status !== "dead")
      try {
        this.comm.close();
      } catch {
        // The kernel is gone, and the comm with it.
      }
    this.comm = null;
  }

  /** @param {KernelState} state */
  become(state) {
    this.state = state;
    this.changed("state");
  }

  /** @param {string} status */
  followStatus(status) {
    if (["restarting", "autorestarting", "dead", "terminating"].includes(status)) {
      this.busy = false;
      this.own.clear();
      this.comm = null; // of the kernel that ended
      this.shut();
      this.ended();
      this.become(status === "dead" || status === "terminating" ? "dead" : "starting");
    } else if (status === "idle" && this.state === "starting") void this.probe();
  }

  /** Follow the cells that the kernel runs; requests of this extension are none. @param {any} message */
  follow(message) {
    const { msg_type: type, msg_id: id } = message.parent_header;
    if (message.header.msg_type !== "status" || type !== "execute_request") return;
    const state = message.content.execution_state;
    if (this.own.has(id)) {
      if (state === "idle") this.own.delete(id);
      return;
    }
    this.busy = state === "busy";
    if (state === "idle") {
      if (this.state !== "ready") void this.probe();
      this.changed("executed");
    } else this.changed("state");
  }
}

/** The links to the kernels of the notebooks, and which is the active one. */
export class Kernels {
  /** @param {any} tracker the application's notebooks */
  constructor(tracker) {
    this.tracker = tracker;
    /** @type {Map<any, KernelLink>} */
    this.links = new Map();
    /** @type {Set<(what: "kernel" | "state" | "executed") => void>} */
    this.listeners = new Set();
    /** @type {Set<any>} */
    this.known = new Set();
    tracker.currentChanged.connect(() => this.follow(tracker.currentWidget));
    this.follow(tracker.currentWidget);
  }

  /** The active notebook's link; null without a notebook or without its kernel. @returns {KernelLink | null} */
  get current() {
    return this.links.get(this.tracker.currentWidget) ?? null;
  }

  /** @param {(what: "kernel" | "state" | "executed") => void} listen */
  on(listen) {
    this.listeners.add(listen);
  }

  /** @param {"kernel" | "state" | "executed"} what */
  tell(what) {
    for (const listen of this.listeners) listen(what);
  }

  /** @param {any} panel */
  follow(panel) {
    if (panel && !this.known.has(panel)) {
      this.known.add(panel);
      panel.sessionContext.kernelChanged.connect(() => this.link(panel));
      panel.disposed.connect(() => {
        this.known.delete(panel);
        this.drop(panel);
      });
      void panel.sessionContext.ready.then(() => this.link(panel));
    }
    this.tell("kernel");
  }

  /** @param {any} panel */
  link(panel) {
    const kernel = panel.isDisposed ? null : panel.sessionContext.session?.kernel;
    if (kernel && this.links.get(panel)?.kernel === kernel) return;
    this.drop(panel);
    if (!kernel) return this.tell("kernel");
    const changed = (/** @type {"state" | "executed"} */ what) => {
      if (this.current === link) this.tell(what);
    };
    const ended = () => {
      for (const editor of panel.node?.querySelectorAll(".svc-editor") ?? []) editor.dispatchEvent(new CustomEvent("svc-kernel-ended"));
    };
    const link = new KernelLink(kernel, changed, ended);
    this.links.set(panel, link);
    this.tell("kernel");
  }

  /** @param {any} panel */
  drop(panel) {
    this.links.get(panel)?.dispose();
    this.links.delete(panel);
  }
}

export { Cancelled, CallError };
