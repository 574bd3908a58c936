// The plugins of the extension: what each needs from the application, and what it adds to it.

import { addActions } from "./actions.js";
import { Explorer } from "./explorer.js";
import { Kernels } from "./kernel.js";

/** @typedef {import("../types").Share} Share */
/** @typedef {import("../types").Preferences} Preferences */

const NAME = "svc-notebook";
/** @type {Preferences} */
const DEFAULTS = { codeStyle: "python", refreshAfterCells: true, underlineErrors: true, hoverHelp: true };

/** Make the plugins. @param {Share} share */
export async function makePlugins(share) {
  const [notebook, apputils, lumino, registry] = await Promise.all(
    ["@jupyterlab/notebook", "@jupyterlab/apputils", "@lumino/widgets", "@jupyterlab/settingregistry"].map(share),
  );
  addStyles();
  /** @type {Preferences} */
  let preferences = DEFAULTS;
  /** @type {Kernels | null} */
  let kernels = null;
  const kernelsOf = (/** @type {any} */ tracker) => (kernels ??= new Kernels(tracker));

  const main = {
    id: `${NAME}:plugin`,
    description: "The explorer of the search service, and what can be done with an index.",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    optional: [apputils.ICommandPalette, registry?.ISettingRegistry].filter(Boolean),
    activate: (/** @type {any} */ app, /** @type {any} */ tracker, /** @type {any} */ palette, /** @type {any} */ settings) => {
      void follow(settings);
      if (app.name !== "JupyterLab") return;
      const explorer = addExplorer(app, kernelsOf(tracker));
      const tools = { app, kernels: kernelsOf(tracker), explorer, preferences: () => preferences };
      const widgets = { ...apputils, Widget: lumino.Widget };
      addActions({ ...tools, apputils: widgets, NotebookActions: notebook.NotebookActions }, palette);
    },
  };
  return [main];

  /** Follow the settings of the extension. @param {any} settings */
  async function follow(settings) {
    if (!settings) return;
    const loaded = await settings.load(`${NAME}:plugin`);
    const read = () => {
      preferences = { ...DEFAULTS, ...loaded.composite };
    };
    loaded.changed.connect(read);
    read();
  }

  /** @param {any} app @param {Kernels} kernels */
  function addExplorer(app, kernels) {
    const explorer = new Explorer(kernels, {
      menu: ({ x, y }, row) =>
        void row.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: x, clientY: y })),
      changed: () => app.commands.notifyCommandChanged(),
      wants: () => preferences.refreshAfterCells,
    });
    const panel = Object.assign(new lumino.Widget({ node: explorer.el }), {
      onAfterShow: () => explorer.show(true),
      onAfterHide: () => explorer.show(false),
      onResize: () => explorer.paint(),
    });
    panel.id = "svc-explorer";
    panel.title.caption = "Search service";
    panel.title.iconClass = "svc-explorer-icon jp-SideBar-tabIcon";
    app.shell.add(panel, "left", { rank: 600 });
    app.commands.addCommand("svc:show-explorer", {
      label: "Show the explorer of the search service",
      execute: () => app.shell.activateById(panel.id),
    });
    return explorer;
  }
}

function addStyles() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("lab.css", import.meta.url).href;
  document.head.append(link);
}
