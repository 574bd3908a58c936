// Editors in tabs of the main area, beside the notebook whose kernel they belong to.

import { button, fill, h } from "../../kit/dom.js";

/** @typedef {import("./kernel.js").Kernels} Kernels */
/** @typedef {{app: any, kernels: Kernels, icon: any, Panel: any, apputils: any, connection: () => string | undefined}} Parts */
/** @typedef {{kind: string, name: string, notebook: any, panel: any, connection: string | undefined, model: string, closing: boolean}} Tab */

const VIEW = "application/vnd.jupyter.widget-view+json";
const ENDED = ["restarting", "autorestarting", "dead", "terminating"];
/** How long a closing tab waits for the kernel's answer whether there are unsaved changes. */
const ANSWER_MS = 1500;

/** The open tabs, one for each kind of editor, index and notebook. */
export class EditorTabs {
  /** @param {Parts} parts */
  constructor({ app, kernels, icon, Panel, apputils, connection }) {
    this.app = app;
    this.kernels = kernels;
    this.icon = icon;
    this.Panel = Panel;
    this.apputils = apputils;
    this.connection = connection;
    /** @type {Tab[]} */
    this.tabs = [];
  }

  /** Open an editor of the active notebook's kernel, or show its tab. @param {string} kind @param {string} name */
  async open(kind, name) {
    const notebook = this.kernels.tracker.currentWidget;
    if (!notebook) return;
    const known = this.tabs.find((tab) => tab.kind === kind && tab.name === name && tab.notebook === notebook && tab.connection === this.connection());
    if (known) return this.app.shell.activateById(known.panel.id);
    const tab = this.add(kind, name, notebook);
    await this.fill(tab);
  }

  /** @param {string} kind @param {string} name @param {any} notebook @returns {Tab} */
  add(kind, name, notebook) {
    const panel = new this.Panel();
    /** @type {Tab} */
    const tab = { kind, name, notebook, panel, connection: this.connection(), model: "", closing: false };
    const last = this.tabs.filter((other) => other.notebook === notebook).at(-1);
    panel.id = `svc-tab-${Math.random().toString(36).slice(2)}`;
    panel.addClass("svc-editor-tab");
    panel.title.label = name;
    panel.title.caption = `${kind}: ${name}, ${notebook.title.label}`;
    panel.title.icon = this.icon;
    panel.title.closable = true;
    panel.onCloseRequest = () => void this.close(tab);
    const status = (/** @type {any} */ _, /** @type {string} */ now) => {
      if (ENDED.includes(now)) this.end(tab);
    };
    const changed = () => this.end(tab);
    notebook.sessionContext.statusChanged.connect(status);
    notebook.sessionContext.kernelChanged.connect(changed);
    const leave = () => panel.dispose();
    notebook.disposed.connect(leave);
    panel.disposed.connect(() => {
      this.tabs = this.tabs.filter((other) => other !== tab);
      notebook.disposed.disconnect(leave);
      if (!notebook.isDisposed) {
        notebook.sessionContext.statusChanged.disconnect(status);
        notebook.sessionContext.kernelChanged.disconnect(changed);
      }
      this.drop(tab);
    });
    this.tabs.push(tab);
    this.app.shell.add(panel, "main", last ? { mode: "tab-after", ref: last.panel.id } : { mode: "split-right", ref: notebook.id });
    this.app.shell.activateById(panel.id);
    return tab;
  }

  /** Make the editor in the kernel, and show it. @param {Tab} tab */
  async fill(tab) {
    const { kind, name, notebook, panel } = tab;
    this.tell(tab, `Opening ${name}…`);
    try {
      const link = this.kernels.links.get(notebook);
      if (!link) throw new Error("the notebook has no kernel");
      const { model, title } = await link.call("open_editor", { kind, name });
      tab.model = model;
      tab.connection = this.connection();
      if (panel.isDisposed) return this.drop(tab);
      panel.title.label = `${title}: ${name}`;
      const { rendermime } = notebook.content;
      const renderer = rendermime.createRenderer(VIEW);
      const data = { [VIEW]: { model_id: model, version_major: 2, version_minor: 0 } };
      await renderer.renderModel(rendermime.createModel({ data, trusted: true }));
      if (panel.isDisposed || tab.model !== model) return renderer.dispose();
      this.clear(tab);
      panel.addWidget(renderer);
    } catch (error) {
      if (!panel.isDisposed) this.tell(tab, `${name} cannot be opened: ${/** @type {Error} */ (error).message}.`, "Try again");
    }
  }

  /** The kernel of a tab's editor has ended. @param {Tab} tab */
  end(tab) {
    if (tab.panel.isDisposed || !tab.model) return;
    tab.model = "";
    this.tell(tab, "The kernel of this editor has ended. Its unsaved changes are lost.", "Open again");
  }

  /** Show a message in place of the editor. @param {Tab} tab @param {string} text @param {string} [again] */
  tell(tab, text, again) {
    this.clear(tab);
    const node = h("div", { class: "tab-notice", role: "status" });
    fill(node, h("p", {}, text), again ? button(again, () => void this.fill(tab)) : null);
    tab.panel.node.append(node);
  }

  /** @param {Tab} tab */
  clear(tab) {
    for (const widget of [...tab.panel.widgets]) widget.dispose();
    tab.panel.node.replaceChildren();
  }

  /** Close a tab, after a question if the editor has changes. @param {Tab} tab */
  async close(tab) {
    if (tab.closing) return;
    tab.closing = true;
    const link = this.kernels.links.get(tab.notebook);
    const asked = link?.answers ? link.call("has_changes", { model: tab.model }) : Promise.resolve(null);
    const late = new Promise((done) => setTimeout(() => done(null), ANSWER_MS));
    const unsaved = tab.model ? await Promise.race([asked.catch(() => null), late]) : false;
    const { Dialog, showDialog } = this.apputils;
    if (unsaved !== false) {
      const answer = await showDialog({
        title: `Close ${tab.panel.title.label}?`,
        body: unsaved
          ? "Its changes are not saved, and are lost."
          : "The kernel does not answer whether it has unsaved changes; these are lost.",
        buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: "Discard and close" })],
        defaultButton: 0,
      });
      tab.closing = answer.button.accept;
      if (!tab.closing) return;
    }
    tab.panel.dispose();
  }

  /** Close the editor of a tab that is gone. @param {Tab} tab */
  drop(tab) {
    const model = tab.model;
    tab.model = "";
    if (model) this.kernels.links.get(tab.notebook)?.call("close_editor", { model }).catch(() => {});
  }
}
