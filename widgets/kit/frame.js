// The frame of every editor: name, state, undo, apply, errors and code.

import { connect, CallError, Cancelled } from "./bridge.js";
import { button, copyText, fill, focusedIn, h, setAttribute } from "./dom.js";
import { ask } from "./dialog.js";
import { lowerEdge } from "./height.js";
import { notices } from "./notice.js";
import { debounce, oneAtATime } from "./timing.js";

/** @typedef {import("../types").Mount} Mount */
/** @typedef {import("../types").State} State */
/** @typedef {import("../types").Progress} Progress */
/** @typedef {ReturnType<typeof frame>} Frame */

/** The event by which an editor offers code to the JupyterLab extension, as `detail.code`. */
const CELL_EVENT = "svc-insert-cell";
/** The event by which the JupyterLab extension notifies an editor that its kernel has ended or was restarted. */
const ENDED_EVENT = "svc-kernel-ended";
/** The pause after a decision until cells that follow the editor run again. */
const DECISION_DELAY_MS = 200;
const CELL_LANGUAGES = ["Python", "Magic"];
const KEY_SOURCE =
  "The API key is not in the code. Python and magics use the connection of the notebook, svc.connect(); curl reads $SVC_API_KEY.";
/** @type {[string, string]} */
const APPLY_KEY = ["Ctrl+S", "apply the changes"];
/** @type {[string, string][]} */
const COMMON_KEYS = [
  ["Ctrl+Z", "undo"],
  ["Ctrl+Shift+Z", "redo"],
  ["?", "these keys"],
];
/** Controls that take typed characters. */
const TYPED = "input:not([type=checkbox]), textarea, select";
/** The attribute that disables a notebook's shortcuts for an element. */
const NO_SHORTCUTS = "data-lm-suppress-shortcuts";

/**
 * Build an editor's frame in a notebook's element. `diff(value)` draws the changes that applying
 * makes; `named` is the editor's class, `retry` a call that may resolve an error.
 * @param {Mount} mount
 * @param {{named: string, diff?: (value: any) => Node | Promise<Node>, tools?: Node[], retry?: string,
 *   keys?: [string, string][]}} options `keys` are those of the editor, with their effect
 */
export function frame({ model, el }, { named, diff, tools: more = [], retry = "", keys = [] }) {
  const messages = notices();
  const body = h("div", { class: "body" });
  const title = h("span", { class: "title" });
  const place = h("span", { class: "hint place" });
  const note = h("div", { class: "note", role: "status", hidden: true });
  const interrupted = h("div", { class: "note interrupted", role: "status", hidden: true });
  const bar = h(
    "div",
    { class: "progress", hidden: true },
    h("progress", { "aria-label": "progress" }),
    h("span", {}),
    button("Cancel", () => work?.abort()),
  );
  const ended = h(
    "div",
    { class: "note ended", role: "alert", hidden: true },
    "The kernel of this editor has ended or was restarted; this is its last state. Run its cell again.",
  );
  const busyNote = h(
    "div",
    { class: "waiting", role: "status", hidden: true },
    h("span", { class: "spinner", "aria-hidden": true }),
    "The kernel is busy; waiting for its answer.",
  );
  const link = connect(model, {
    busy: (late) => {
      busyNote.hidden = !late || !ended.hidden;
    },
  });
  /** @type {AbortController | null} */
  let work = null;
  /** @type {CallError | null} */
  let failed = null;
  /** @type {(() => void) | undefined} */
  let retryFailed;
  const buttons = {
    undo: button("Undo", () => step("undo"), { icon: "↶", bare: true, title: "Undo (Ctrl+Z)" }),
    redo: button("Redo", () => step("redo"), { icon: "↷", bare: true, title: "Redo (Ctrl+Shift+Z)" }),
    revert: button("Revert", () => step("revert"), {
      icon: "\u21a9\ufe0e",
      class: ["button", "foldable"],
      title: "Revert to the saved value",
    }),
    apply: button("Apply…", () => review(), {
      class: ["button", "main"],
      title: "Write the changes to the service (Ctrl+S)",
    }),
    code: button("Code", () => showCode(), {
      icon: "‹›",
      class: ["button", "foldable"],
      title: "Export as Python, magic or curl",
    }),
  };
  const tools = h(
    "div",
    { class: "tools" },
    more,
    buttons.undo,
    buttons.redo,
    buttons.code,
    buttons.revert,
    button("Keys", showKeys, { icon: "?", bare: true, title: "Keys (?)" }),
    buttons.apply,
  );
  const root = h(
    "section",
    { class: ["editor", named], tabindex: -1, on: { keydown: handleKey, [ENDED_EVENT]: end } },
    h(
      "header",
      { class: "head" },
      h("div", { class: "names" }, title, place),
      tools,
    ),
    ended,
    note,
    interrupted,
    messages.el,
    busyNote,
    bar,
    body,
  );
  const edge = lowerEdge(root, model);
  root.append(edge.el);

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
            ? "Unsaved changes"
            : "Saved",
    );
    setAttribute(place, "title", state.applies ? state.address : null);
    setAttribute(root, "aria-label", `${state.title}: ${state.index}`);
    setAttribute(root, "aria-busy", state.busy ? "true" : null);
    root.classList.toggle("svc-dirty", state.dirty && state.applies);
    showError();
    note.hidden = !state.readOnly && !state.sessionApplication;
    fill(
      note,
      state.readOnly ? `Read-only: ${state.readOnly}. ` : null,
      state.sessionApplication
        ? `The session is connected to the application ${state.sessionApplication}; this editor stays with ${state.address}.`
        : null,
    );
    drawInterrupted(state);
    fill(buttons.apply, h("span", {}, state.isNew ? "Create…" : "Apply…"));
    buttons.undo.disabled = !state.undo;
    buttons.redo.disabled = !state.redo;
    for (const name of /** @type {const} */ (["revert", "apply"])) {
      buttons[name].hidden = !state.applies || Boolean(state.readOnly);
      buttons[name].disabled = !state.dirty || Boolean(state.busy);
    }
  }

  /** Show each interrupted change of the index, with the two ways to end it. @param {State} state */
  function drawInterrupted({ interrupted: changes = [], applies, readOnly, busy }) {
    interrupted.hidden = !applies || !changes.length;
    fill(
      interrupted,
      changes.map((/** @type {any} */ { change, text, ...labels }) =>
        h(
          "div",
          { class: "row" },
          h("span", { class: "interrupted-text" }, text),
          readOnly
            ? null
            : /** @type {const} */ (["finish", "revert"]).map((end) => {
                const act = () => run("end_interrupted", { change, end }, { long: true });
                return button(labels[end], act, { disabled: Boolean(busy) });
              }),
        ),
      ),
    );
  }

  // The error of a call of this view, else the error of the Python half.
  function showError() {
    const error = failed ?? model.get("state")?.error ?? null;
    const again = failed ? retryFailed : retry ? () => void run(retry) : undefined;
    messages.error(error, again && { label: "Try again", act: again });
  }

  /** @param {"undo" | "redo" | "revert"} name */
  async function step(name) {
    await waitForProposed();
    await run("go", { step: name });
  }

  async function review() {
    if (buttons.apply.hidden) return;
    await finishTyping();
    if (buttons.apply.disabled) return;
    let done = "Applied and published.";
    if (diff) {
      const body = /** @type {HTMLElement} */ (await diff(model.get("value")));
      const answer = await ask(root, {
        title: body.dataset?.title || "Apply these changes?",
        body,
        buttons: [
          { name: "", label: "Cancel" },
          { name: "apply", label: body.dataset?.action || "Apply", main: true },
        ],
      });
      if (answer !== "apply") return;
      done = body.dataset?.done || done;
    }
    const answer = await run("write", {}, { long: true });
    if (answer !== undefined) messages.say(done);
  }

  /** Finish input that is being typed or sent, so that the review includes it. */
  async function finishTyping() {
    const focused = focusedIn(root);
    if (root.contains(focused) && focused?.matches("input, textarea, select")) {
      focused.blur();
      focused.focus();
    }
    await waitForProposed();
    // Calls start in order: when this one is answered, the earlier ones have done their work.
    if (link.pending()) await link.call("code").catch(() => {});
  }

  async function waitForProposed() {
    while (proposed) await sending;
  }

  /** Show at once that the kernel is gone, and that nothing here works without it. */
  function end() {
    [ended.hidden, busyNote.hidden] = [false, true];
    for (const part of [body, tools]) part.inert = true;
  }

  function showKeys() {
    const shown = [...keys, ...(model.get("state")?.applies ? [APPLY_KEY] : []), ...COMMON_KEYS];
    void ask(root, {
      title: "Keys",
      body: h("table", { class: "keys-table" }, shown.map(([key, text]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, text)))),
      buttons: [{ name: "", label: "Close", main: true }],
    });
  }

  async function showCode() {
    const codes = await run("code");
    if (codes) await showCodes(codes);
  }

  /** Insert code as a cell where the notebook does that; else show it. @param {string} code */
  async function offerCode(code) {
    if (!offerCell(code)) await showCodes({ Python: code });
  }

  /** @param {Record<string, string>} codes the text for each language */
  async function showCodes(codes) {
    const inserts = offerCell("");
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
          inserts && CELL_LANGUAGES.includes(name)
            ? button("Insert as cell", () => offerCell(text), { title: `Insert ${name} as a cell below` })
            : null,
        ),
        h("pre", { tabindex: 0 }, text),
      ),
    );
    await ask(root, {
      title: "Export as code",
      body: h("div", {}, h("p", { class: "hint" }, KEY_SOURCE), rows),
      buttons: [{ name: "", label: "Close", main: true }],
    });
  }

  /**
   * Offer code to the notebook around the editor, which may insert it as a cell; an empty code only
   * checks whether it would. The JupyterLab extension handles the event.
   * @param {string} code
   */
  const offerCell = (code) => !root.dispatchEvent(new CustomEvent(CELL_EVENT, { bubbles: true, cancelable: true, detail: { code } }));

  /**
   * Call the Python half; an error is shown and undefined returned. A long call shows how far it
   * is and can be cancelled.
   * @param {string} name @param {Record<string, any>} [args]
   * @param {{long?: boolean, again?: () => void, signal?: AbortSignal}} [options]
   */
  async function run(name, args = {}, { long = false, again, signal } = {}) {
    if (long) work = new AbortController();
    try {
      const value = await link.call(name, args, { signal: signal ?? work?.signal, onProgress: drawProgress });
      failed = null;
      showError();
      return value;
    } catch (error) {
      if (error instanceof CallError) {
        [failed, retryFailed] = [error, again];
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
  const isSave = (event) => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";

  // A notebook has shortcuts for single letters. Keys typed here are not passed on, except Ctrl+S if
  // the editor has nothing to save. Notebook 7 handles keys before they arrive here, unless the
  // focused element has the attribute.
  /** @type {HTMLElement} */
  let markedElement = root;
  /** @param {KeyboardEvent} event */
  function markElement(event) {
    if (root.parentElement?.closest(".svc-editor")) return; // the editor around this one marks
    markedElement.removeAttribute(NO_SHORTCUTS);
    const focused = event.target instanceof HTMLElement && root.contains(event.target) ? event.target : null;
    if (!focused || (isSave(event) && buttons.apply.hidden)) return;
    markedElement = focused;
    markedElement.setAttribute(NO_SHORTCUTS, "");
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const key = event.key.toLowerCase();
    if (!isSave(event) || !buttons.apply.hidden) event.stopPropagation();
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "?" && !event.defaultPrevented && !target.matches?.(TYPED)) {
      event.preventDefault();
      showKeys();
    }
    if (!(event.ctrlKey || event.metaKey)) return;
    const inText = target.matches?.("input, textarea");
    if (isSave(event) && !buttons.apply.hidden) {
      event.preventDefault();
      review();
    } else if (!inText && (key === "z" || key === "y")) {
      event.preventDefault();
      step(key === "y" || event.shiftKey ? "redo" : "undo");
    }
  }

  /** The proposed value that has no answer yet. */
  let proposed = /** @type {{value: any} | null} */ (null);
  /** @type {Promise<any>} */
  let sending = Promise.resolve();
  /** Whether all values that are not sent yet merge into one undo step. */
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
  link.watch("state", (state) => {
    if (state?.outdated) void run("read_again");
  });
  link.watch("height", edge.draw);
  // marimo runs the cells that read this editor when the view saves a trait.
  const saveRevision = debounce(() => {
    model.set("seen_revision", model.get("revision"));
    model.save_changes();
  }, DECISION_DELAY_MS);
  link.watch("revision", (revision) => {
    if (revision > model.get("seen_revision")) saveRevision();
  });
  window.addEventListener("keydown", markElement, true);
  const fallbackStyle = h("style", {});
  // Only this editor's fallback, and only beside this view: others may have no live view, and a copy
  // of the notebook on the same page has a fallback of the same name. Where outputs are not
  // JupyterLab's, a page has one notebook.
  link.watch("fallback_class", (name) => {
    if (!name) return;
    root.dataset.fallback = name;
    fallbackStyle.textContent =
      `.jp-OutputArea:has([data-fallback="${name}"]) :is(.${name}, .jp-OutputArea-child:has(.${name})), ` +
      `body:not(:has(.jp-OutputArea)) .${name} { display: none; }`;
  });
  el.append(fallbackStyle, root);
  return {
    root,
    body,
    link,
    run,
    /** Show the changes and apply them after a confirmation. */
    review,
    say: messages.say,
    error: messages.error,
    ask: (/** @type {Parameters<typeof ask>[1]} */ question) => ask(root, question),
    offerCode,
    /** Propose a value; Python sets the model's value in response. @param {any} value @param {boolean} [merge] */
    propose: (value, merge = false) => propose(value, merge),
    /** @returns {State} */
    state: () => model.get("state"),
    /** Wait until Python has received all proposed values. */
    taken: () => waitForProposed(),
    /** The current value, proposed values included. @returns {any} */
    value: () => (proposed ? proposed.value : model.get("value")),
    close() {
      saveRevision.cancel();
      link.close();
      window.removeEventListener("keydown", markElement, true);
      fallbackStyle.remove();
      root.remove();
    },
  };
}
