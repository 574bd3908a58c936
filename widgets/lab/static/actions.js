// What is done with an index: code in a new cell below, a name to the clipboard, changes after a confirmation.

import { copyText, h } from "../../kit/dom.js";
import { textOf } from "./explorer.js";
import { Cancelled } from "./kernel.js";

/** @typedef {import("./explorer.js").Explorer} Explorer */
/** @typedef {import("./kernel.js").Kernels} Kernels */
/** @typedef {import("../types").Preferences} Preferences */
/**
 * @typedef {{app: any, kernels: Kernels, explorer: Explorer, preferences: () => Preferences,
 *   apputils: any, NotebookActions: any, tabs: import("./editor_tabs.js").EditorTabs, Menu: any}} Tools
 */

const CATEGORY = "Search service";
const INDEX_ROW = '.svc-explorer-row[data-kind="index"]';
const CRAWLER_ROW = '.svc-explorer-row[data-kind="crawler"]';
const NAMED_ROW = ".svc-explorer-row[draggable=true]";

/** Commands that write code for an index into a new cell: the action, its label, whether the cell is run. */
const CODES = [
  { action: "edit", label: "Open the workbench", run: true },
  { action: "edit query", label: "Open the query editor", run: true },
  { action: "edit settings", label: "Open the settings editor", run: true },
  { action: "edit synonyms", label: "Open the synonym editor", run: true },
  { action: "edit rules", label: "Open the rule editor", run: true },
  { action: "edit judgments", label: "Open the judgment editor", run: true },
  { action: "edit analytics", label: "Open the analytics", run: true },
  { action: "search", label: "Insert code: search", run: false },
  { action: "browse", label: "Insert code: browse", run: false },
  { action: "load", label: "Insert code: load", run: false },
];

/** Editors that open in a tab: the kind, its label in the menu, its label in the palette. */
const TABS = [
  { kind: "workbench", label: "Workbench", listed: "Open the workbench in a tab" },
  { kind: "query", label: "Query editor", listed: "Open the query editor in a tab" },
  { kind: "settings", label: "Settings editor", listed: "Open the settings editor in a tab" },
  { kind: "synonyms", label: "Synonym editor", listed: "Open the synonym editor in a tab" },
  { kind: "rules", label: "Rule editor", listed: "Open the rule editor in a tab" },
  { kind: "judgments", label: "Judgment editor", listed: "Open the judgment editor in a tab" },
  { kind: "analytics", label: "Analytics", listed: "Open the analytics in a tab" },
];

/** Changes as the verbs of the same names make them. */
const CHANGES = [
  { verb: "copy", label: "Copy to…", listed: "Copy an index…", done: "Copied", to: "Copy the index to the name" },
  { verb: "move", label: "Move to…", listed: "Move an index…", done: "Moved", to: "Move the index to the name" },
  { verb: "clear", label: "Clear…", listed: "Clear an index…", done: "Cleared", to: "" },
  { verb: "drop", label: "Drop…", listed: "Drop an index…", done: "Dropped", to: "" },
];

/** Add the commands, with their places in the palette and in the explorer's menu. @param {Tools} tools @param {any} palette */
export function addActions(tools, palette) {
  const { app, kernels, explorer } = tools;
  const ready = () => Boolean(kernels.current?.answers && explorer.connection?.connected);
  let rank = 0;

  /**
   * Add a command under a label; the palette lists it under `listed`, if that is a text.
   * @param {string} id @param {string} label @param {(args: any) => any} execute
   * @param {{selector?: string, enabled?: () => boolean, listed?: string}} [place]
   */
  function add(id, label, execute, { selector, enabled = ready, listed = label } = {}) {
    const text = /** @param {any} args */ (args) => (args.menu ? label : listed || label);
    app.commands.addCommand(id, { label: text, execute, isEnabled: enabled });
    if (listed) palette?.addItem({ command: id, category: CATEGORY });
    if (selector) app.contextMenu.addItem({ command: id, args: { menu: true }, selector, rank: rank++ });
  }

  // Editors offer their code; one in a tab of its own offers it to the current notebook.
  document.addEventListener("svc-insert-cell", (event) => {
    const panel = tools.kernels.tracker.currentWidget;
    if (!panel) return;
    event.preventDefault();
    const { code } = /** @type {CustomEvent<{code: string}>} */ (event).detail;
    // Several magics are several cells.
    if (code) for (const cell of code.split(/\n\n(?=%)/)) insertCell(tools, panel, cell);
  });
  for (const { action, label, run } of CODES)
    add(
      action === "edit" ? "svc:edit-workbench" : `svc:${action.replace(" ", "-")}`,
      label,
      async (args) => {
        const index = await chosenIndex(tools, args, label);
        if (index) await insertCode(tools, action, index, run);
      },
      { selector: INDEX_ROW },
    );
  addTabs();
  separator(INDEX_ROW);
  add(
    "svc:edit-crawler",
    "Open the crawler editor",
    async (args) => {
      const name = await chosenCrawler(args, "Open the crawler editor");
      if (name) await insertCode(tools, "edit crawler", name, true);
    },
    { selector: CRAWLER_ROW },
  );
  add(
    "svc:tab-crawler",
    "Open the crawler editor in a tab",
    async (args) => {
      const name = await chosenCrawler(args, "Open the crawler editor in a tab");
      if (name) await tools.tabs.open("crawler", name);
    },
    { selector: CRAWLER_ROW },
  );
  add("svc:new-crawler", "New crawler…", async () => {
    const name = await askText(tools, "New crawler", "Name of the crawler");
    const value = name && (await askText(tools, `New crawler ${name}`, "Address of the first page, such as https://example.com/"));
    if (value) await insertCode(tools, "new crawler", name, true, value);
  });
  add("svc:copy-name", "Copy name", () => copyText(explorer.current?.name ?? ""), {
    selector: NAMED_ROW,
    enabled: () => Boolean(explorer.current?.name),
    listed: "",
  });
  separator(INDEX_ROW);
  for (const change of CHANGES)
    add(
      `svc:${change.verb}`,
      change.label,
      async (args) => {
        const index = await chosenIndex(tools, args, change.listed.replace("…", ""));
        if (index) await changeIndex(tools, change, index);
      },
      { selector: INDEX_ROW, listed: change.listed },
    );
  palette?.addItem({ command: "svc:show-explorer", category: CATEGORY });
  add("svc:overview", "Open the overview of the service", async () => {
    const { profile, application } = (await kernels.current?.call("read_connection")) ?? {};
    if (application) await tools.tabs.open("overview", profile || application);
  });
  add("svc:refresh", "Refresh the explorer", () => explorer.refresh(), { enabled: () => Boolean(kernels.current) });
  add(
    "svc:connect",
    "Connect the notebook's kernel…",
    async (args) => {
      const profile = args.profile ?? (await askItem(tools, "Connect to", await kernels.current?.call("read_profiles")));
      if (profile) await explorer.connect(profile);
    },
    { enabled: () => Boolean(kernels.current?.answers) },
  );

  /** The crawler of the explorer's row, or one that is typed. @param {any} args @param {string} title */
  async function chosenCrawler(args, title) {
    const row = explorer.current;
    return args.name ?? (row?.kind === "crawler" ? row.name : await askText(tools, title, "Name of the crawler"));
  }

  /** Add the editors in tabs: to the palette, and to a menu of their own. */
  function addTabs() {
    const menu = new tools.Menu({ commands: app.commands });
    menu.title.label = "Open in a tab";
    for (const { kind, label, listed } of TABS) {
      const id = `svc:tab-${kind}`;
      const open = async (/** @type {any} */ args) => {
        const index = await chosenIndex(tools, args, listed);
        if (index) await tools.tabs.open(kind, index);
      };
      add(id, label, open, { listed });
      menu.addItem({ command: id, args: { menu: true } });
    }
    app.contextMenu.addItem({ type: "submenu", submenu: menu, selector: INDEX_ROW, rank: rank++ });
  }

  /** @param {string} selector */
  function separator(selector) {
    app.contextMenu.addItem({ type: "separator", selector, rank: rank++ });
  }
}

/** The index of the explorer's row, or one that is chosen from a list. @param {Tools} tools @param {any} args @param {string} title */
async function chosenIndex(tools, args, title) {
  if (args.index) return args.index;
  const { current } = tools.explorer;
  if (args.menu && current?.kind === "index") return current.name ?? null;
  const indices = await tools.kernels.current?.call("read_indices");
  const names = indices.map((/** @type {{name: string}} */ entry) => entry.name);
  if (!names.length) {
    await tell(tools, "There is no index yet", "Load a file to create one.");
    return null;
  }
  return askItem(tools, title, names, current?.index);
}

/**
 * Write code into a new cell below the active one; `value` is what the action begins with.
 * @param {Tools} tools @param {string} action @param {string} name @param {boolean} run @param {string} [value]
 */
async function insertCode(tools, action, name, run, value = "") {
  const { kernels, NotebookActions, preferences } = tools;
  const panel = kernels.tracker.currentWidget;
  const code = await kernels.current?.call("write_code", { action, name, value, style: preferences().codeStyle });
  if (!panel || !code) return;
  insertCell(tools, panel, code);
  if (run) await NotebookActions.run(panel.content, panel.sessionContext);
  else panel.content.mode = "edit";
}

/** Write code into a new cell below the active one. @param {Tools} tools @param {any} panel @param {string} code */
function insertCell({ app, NotebookActions }, panel, code) {
  NotebookActions.insertBelow(panel.content);
  panel.content.activeCell.model.sharedModel.setSource(code);
  app.shell.activateById(panel.id);
}

/** Change an index after the question of its verb. @param {Tools} tools @param {typeof CHANGES[0]} change @param {string} index */
async function changeIndex(tools, { verb, label, done, to }, index) {
  const { kernels, explorer, apputils } = tools;
  const link = kernels.current;
  if (!link) return;
  const title = label.replace("…", "").replace(" to", "");
  try {
    const destination = to ? await askText(tools, `${title} ${index}`, to) : "";
    if (to && !destination) return;
    const args = { verb, index, destination };
    const question = await link.call("describe_change", args);
    const records = explorer.known.indices.find((entry) => entry.name === index)?.records;
    const body = widget(
      tools,
      h("p", {}, question),
      records === undefined ? null : h("p", {}, `${index} has ${records.toLocaleString("en")} records.`),
    );
    const buttons = [apputils.Dialog.cancelButton(), apputils.Dialog.warnButton({ label: title })];
    const answer = await apputils.showDialog({ title: `${title} ${index}?`, body, buttons, defaultButton: 0 });
    if (!answer.button.accept) return;
    await link.call("change_index", args);
    apputils.Notification.success(`${done} ${index}${destination ? ` to ${destination}` : ""}.`, { autoClose: 4000 });
  } catch (error) {
    if (!(error instanceof Cancelled)) await tell(tools, `${title} failed`, textOf(error));
  } finally {
    await explorer.refresh();
  }
}

/** @param {Tools} tools @param {...(Node | null)} nodes */
function widget({ apputils }, ...nodes) {
  return new apputils.Widget({ node: h("div", { class: "lab-question" }, nodes) });
}

/** @param {Tools} tools @param {string} title @param {string[]} items @param {string} [current] @returns {Promise<string | null>} */
async function askItem({ apputils }, title, items, current) {
  const place = Math.max(0, items.indexOf(current ?? ""));
  const answer = await apputils.InputDialog.getItem({ title, items, current: place });
  return answer.button.accept ? answer.value : null;
}

/** @param {Tools} tools @param {string} title @param {string} label @returns {Promise<string | null>} */
async function askText({ apputils }, title, label) {
  const answer = await apputils.InputDialog.getText({ title, label });
  return answer.button.accept ? answer.value : null;
}

/** @param {Tools} tools @param {string} title @param {string} text */
async function tell({ apputils, ...tools }, title, text) {
  const body = widget(/** @type {Tools} */ ({ apputils, ...tools }), h("p", {}, text));
  await apputils.showDialog({ title, body, buttons: [apputils.Dialog.okButton()] });
}
