// What surrounds every editor: its name, its state, undo, apply, errors, and the way into code.

import { connect, CallError, Cancelled } from "./bridge.js";
import { button, copyText, fill, h, setAttribute } from "./dom.js";
import { ask } from "./dialog.js";
import { notices } from "./notice.js";
import { oneAtATime } from "./timing.js";

/** @typedef {import("../types").Mount} Mount */
/** @typedef {import("../types").State} State */
/** @typedef {import("../types").Progress} Progress */
/** @typedef {ReturnType<typeof frame>} Frame */

/** What tells a notebook's shortcuts to leave an element's keys alone. */
const MARK = "data-lm-suppress-shortcuts";

/**
 * Build an editor's frame into a notebook's element. `diff(saved, value)` shows what would be
 * applied; `named` is a class of the editor's own, `retry` the call that may settle an error.
 * @param {Mount} mount
 * @param {{named: string, diff?: (value: any) => Node | Promise<Node>, tools?: Node[], retry?: string}} options
 */
export function frame({ model, el }, { named, diff, tools = [], retry = "" }) {
  const told = notices();
  const body = h("div", { class: "body" });
  const title = h("span", { class: "title" });
  const place = h("span", { class: "hint place" });
  const note = h("div", { class: "note", role: "status", hidden: true });
  const bar = h(
    "div",
    { class: "progress", hidden: true },
    h("progress", { "aria-label": "progress" }),
    h("span", {}),
    button("Cancel", () => work?.abort()),
  );
  const wait = h(
    "div",
    { class: "waiting", role: "status", hidden: true },
    h("span", { class: "spinner", "aria-hidden": true }),
    "The kernel is busy; it answers as soon as it can.",
  );
  const link = connect(model, {
    busy: (late) => {
      wait.hidden = !late;
    },
  });
  /** @type {AbortController | null} */
  let work = null;
  /** @type {CallError | null} */
  let failed = null;
  /** @type {(() => void) | undefined} */
  let remedy;
  const buttons = {
    undo: button("Undo", () => step("undo"), { icon: "↶", bare: true, title: "Undo (Ctrl+Z)" }),
    redo: button("Redo", () => step("redo"), { icon: "↷", bare: true, title: "Redo (Ctrl+Shift+Z)" }),
    revert: button("Revert", () => step("revert"), { title: "Go back to what is saved" }),
    apply: button("Apply…", () => review(), {
      class: ["button", "main"],
      title: "Write the changes to the service (Ctrl+S)",
    }),
    code: button("Code", () => showCode(), { title: "This as Python, magic or curl" }),
  };
  const root = h(
    "section",
    { class: ["editor", named], tabindex: -1, on: { keydown: steer } },
    h(
      "header",
      { class: "head" },
      h("div", { class: "names" }, title, place),
      h(
        "div",
        { class: "tools" },
        tools,
        buttons.undo,
        buttons.redo,
        buttons.code,
        buttons.revert,
        buttons.apply,
      ),
    ),
    note,
    told.el,
    wait,
    bar,
    body,
  );

  /** @param {State} state */
  function drawState(state) {
    if (!state?.title) return;
    fill(title, state.title, " ", h("b", { dir: "auto" }, state.index));
    fill(
      place,
      state.busy
        ? `${state.busy}…`
        : !state.applies
          ? state.address
          : state.dirty
            ? "not applied yet"
            : `as saved on ${state.address}`,
    );
    setAttribute(root, "aria-label", `${state.title}: ${state.index}`);
    setAttribute(root, "aria-busy", state.busy ? "true" : null);
    root.classList.toggle("svc-dirty", state.dirty && state.applies);
    showError();
    note.hidden = !state.readOnly;
    fill(note, state.readOnly ? `Read-only: ${state.readOnly}.` : null);
    buttons.undo.disabled = !state.undo;
    buttons.redo.disabled = !state.redo;
    for (const name of /** @type {const} */ (["revert", "apply"])) {
      buttons[name].hidden = !state.applies || Boolean(state.readOnly);
      buttons[name].disabled = !state.dirty || Boolean(state.busy);
    }
  }

  // What a call of this view met, else what Python met by itself.
  function showError() {
    const error = failed ?? model.get("state")?.error ?? null;
    const again = failed ? remedy : retry ? () => void run(retry) : undefined;
    told.error(error, again && { label: "Try again", act: again });
  }

  /** @param {"undo" | "redo" | "revert"} name */
  async function step(name) {
    await takeProposed();
    await run("go", { step: name });
  }

  async function review() {
    if (buttons.apply.hidden) return;
    await takeTyped();
    if (buttons.apply.disabled) return;
    if (diff) {
      const answer = await ask(root, {
        title: "Apply these changes?",
        body: await diff(model.get("value")),
        buttons: [
          { name: "", label: "Cancel" },
          { name: "apply", label: "Apply", main: true },
        ],
      });
      if (answer !== "apply") return;
    }
    const done = await run("write", {}, { long: true });
    if (done !== undefined) told.say("Applied and published.");
  }

  /** What is being typed, and what is on its way, is reviewed with the rest. */
  async function takeTyped() {
    const at = /** @type {HTMLElement | null} */ (document.activeElement);
    if (root.contains(at) && at?.matches("input, textarea, select")) {
      at.blur();
      at.focus();
    }
    await takeProposed();
    // Calls are begun in order: once this one is answered those before it have done their work.
    if (link.pending()) await link.call("code").catch(() => {});
  }

  async function takeProposed() {
    while (proposed) await sending;
  }

  async function showCode() {
    const codes = await run("code");
    if (!codes) return;
    const rows = Object.entries(codes).map(([name, text]) =>
      h(
        "div",
        { class: "code" },
        h(
          "div",
          { class: "row" },
          h("b", {}, name),
          button(`Copy ${name}`, async (event) => {
            await copyText(text);
            fill(/** @type {HTMLElement} */ (event.currentTarget ?? event.target), "Copied");
          }),
        ),
        h("pre", { tabindex: 0 }, text),
      ),
    );
    await ask(root, {
      title: "This, as code",
      body: h("div", {}, rows),
      buttons: [{ name: "", label: "Close", main: true }],
    });
  }

  /**
   * Call the Python half; an error is shown and undefined returned. A long call shows how far it
   * is and can be cancelled.
   * @param {string} name @param {Record<string, any>} [args]
   * @param {{long?: boolean, again?: () => void, signal?: AbortSignal}} [options]
   */
  async function run(name, args = {}, { long = false, again, signal } = {}) {
    if (long) work = new AbortController();
    try {
      const value = await link.call(name, args, { signal: signal ?? work?.signal, tell: drawProgress });
      failed = null;
      showError();
      return value;
    } catch (error) {
      if (error instanceof CallError) {
        [failed, remedy] = [error, again];
        showError();
      } else if (!(error instanceof Cancelled)) throw error;
      return undefined;
    } finally {
      if (long) {
        work = null;
        bar.hidden = true;
      }
    }
  }

  /** @param {Progress} progress */
  function drawProgress({ done, total, text }) {
    const [meter, words] = /** @type {[HTMLProgressElement, HTMLElement]} */ (
      /** @type {any} */ ([...bar.children])
    );
    bar.hidden = false;
    if (total) [meter.max, meter.value] = [total, done];
    fill(words, text || (total ? `${done} of ${total}` : ""));
  }

  /** @param {KeyboardEvent} event */
  const saves = (event) => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";

  // A notebook has shortcuts of its own, also for single letters: what is typed here stays here,
  // but for saving the notebook where there is nothing else to save. Notebook 7 takes keys before
  // they arrive here, unless the element that has the keyboard is marked so.
  /** @type {HTMLElement} */
  let shielded = root;
  /** @param {KeyboardEvent} event */
  function shield(event) {
    shielded.removeAttribute(MARK);
    const at = event.target instanceof HTMLElement && root.contains(event.target) ? event.target : null;
    if (!at || (saves(event) && buttons.apply.hidden)) return;
    shielded = at;
    shielded.setAttribute(MARK, "");
  }

  /** @param {KeyboardEvent} event */
  function steer(event) {
    const key = event.key.toLowerCase();
    if (!saves(event) || !buttons.apply.hidden) event.stopPropagation();
    if (!(event.ctrlKey || event.metaKey)) return;
    const inText = /** @type {HTMLElement} */ (event.target).matches?.("input, textarea");
    if (saves(event) && !buttons.apply.hidden) {
      event.preventDefault();
      review();
    } else if (!inText && (key === "z" || key === "y")) {
      event.preventDefault();
      step(key === "y" || event.shiftKey ? "redo" : "undo");
    }
  }

  /** What was proposed and is not answered yet. */
  let proposed = /** @type {{value: any} | null} */ (null);
  /** @type {Promise<any>} */
  let sending = Promise.resolve();
  /** Of what is not sent yet all merges; else it is a step of its own. */
  let merges = true;
  const send = oneAtATime(async () => {
    const sent = proposed;
    if (!sent) return;
    const merge = merges;
    merges = true;
    await (sending = run("edit", { ...sent, merge }));
    if (proposed === sent) proposed = null;
  });

  /** @param {any} value @param {boolean} merge */
  function propose(value, merge) {
    proposed = { value };
    merges &&= merge;
    return send();
  }

  link.watch("state", drawState);
  window.addEventListener("keydown", shield, true);
  el.append(root);
  return {
    root,
    body,
    link,
    run,
    say: told.say,
    error: told.error,
    ask: (/** @type {Parameters<typeof ask>[1]} */ question) => ask(root, question),
    /** Propose a value; what Python makes of it comes back as the model's. @param {any} value @param {boolean} [merge] */
    propose: (value, merge = false) => propose(value, merge),
    /** @returns {State} */
    state: () => model.get("state"),
    /** Wait until Python has all that was proposed. */
    taken: () => takeProposed(),
    /** The value as it will be once all that was proposed is taken. @returns {any} */
    value: () => (proposed ? proposed.value : model.get("value")),
    close() {
      link.close();
      window.removeEventListener("keydown", shield, true);
      root.remove();
    },
  };
}
