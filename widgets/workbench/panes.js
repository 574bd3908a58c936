// Editors inside an editor: each is a widget of its own, drawn by its own module.

import { h } from "../kit/dom.js";

/** @typedef {import("../types").Model} Model */

const REFERENCE = "IPY_MODEL_";
/** What references to widgets begin with in anywidget's hosts. */
const WIDGET = "anywidget:";

/** The editors of a workbench, drawn when they are first shown. */
export class Panes {
  /** @param {import("../types").Mount} mount the workbench's @param {(error: Error) => void} tell */
  constructor({ model, host }, tell) {
    this.parts = /** @type {Record<string, string>} */ (model.get("parts") ?? {});
    this.manager = model.widget_manager;
    this.host = host;
    this.tell = tell;
    /** @type {Map<string, Promise<void>>} */
    this.drawn = new Map();
    /** @type {(() => void)[]} */
    this.closes = [];
    this.ended = new AbortController();
    this.closed = false;
  }

  /** @param {string} name */
  id(name) {
    return String(this.parts[name] ?? "").replace(REFERENCE, "");
  }

  /** The model of one editor; undefined if the front end does not have it. @param {string} name @returns {Promise<Model | undefined>} */
  async model(name) {
    const found = this.manager ? this.manager.get_model(this.id(name)) : this.host?.getModel(this.parts[name] ?? "");
    return found?.catch(() => undefined);
  }

  /** Wait until an editor is drawn. @param {string} name */
  async ready(name) {
    await this.drawn.get(name);
  }

  /** The element in which an editor is drawn. @param {string} name */
  draw(name) {
    const el = h("div", { class: ["pane", `pane-${name}`] }, h("p", { class: "hint", role: "status" }, "Loading…"));
    this.drawn.set(name, this.fill(name, el));
    return el;
  }

  /** @param {string} name @param {HTMLElement} el */
  async fill(name, el) {
    const model = await this.model(name);
    if (this.closed) return;
    if (!model) {
      el.replaceChildren(
        h("p", { class: "missing" }, `This part cannot be shown here. Open it in a cell: svc.edit.${name}(…).`),
      );
      return;
    }
    try {
      const code = model.get("_esm");
      if (!code && this.host?.getWidget) {
        const widget = await this.host.getWidget(WIDGET + this.id(name));
        if (this.closed) return;
        el.replaceChildren();
        return await widget.render({ el, signal: this.ended.signal });
      }
      const definition = await load(code);
      if (this.closed) return;
      el.replaceChildren();
      const close = await definition.render({ model, el });
      if (typeof close === "function") this.closes.push(close);
    } catch (error) {
      this.tell(/** @type {Error} */ (error));
    }
  }

  close() {
    this.closed = true;
    this.ended.abort();
    for (const close of this.closes) close();
  }
}

/** Import a module from its text, as front ends import that of a widget. @param {string} text */
async function load(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ address)).default;
  } finally {
    URL.revokeObjectURL(address);
  }
}
