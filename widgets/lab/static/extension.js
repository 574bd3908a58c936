// The plugins of the extension: what each needs from the application, and what it adds to it.

import { addActions } from "./actions.js";
import { makeCellLanguage } from "./cell_language.js";
import { EditorTabs } from "./editor_tabs.js";
import { Explorer } from "./explorer.js";
import { SUFFIXES, fullPath, openFileLoader } from "./file_loader.js";
import { Kernels } from "./kernel.js";
import { addStatus, addTemplates, addTutorials } from "./launcher.js";

/** @typedef {import("../types").Share} Share */
/** @typedef {import("../types").Preferences} Preferences */

const NAME = "svc-notebook";
/** @type {Preferences} */
const DEFAULTS = { codeStyle: "python", refreshAfterCells: true, underlineErrors: true, hoverHelp: true };

const SEARCH_PATH =
  "M10 3a7 7 0 1 0 4.2 12.6l5.1 5.1 1.4-1.4-5.1-5.1A7 7 0 0 0 10 3m0 2a5 5 0 1 1 0 10 5 5 0 0 1 0-10M7 8h6v1.5H7zm0 2.7h4v1.5H7z";
/** @param {string} path */
const drawIcon = (path) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><path class="jp-icon3 jp-icon-selectable" fill="#616161" d="${path}"/></svg>`;

/** Make the plugins. @param {Share} share */
export async function makePlugins(share) {
  const [notebook, apputils, lumino, registry, codemirror, view, filebrowser, coreutils, ui, launching, status] = await Promise.all(
    [
      "@jupyterlab/notebook",
      "@jupyterlab/apputils",
      "@lumino/widgets",
      "@jupyterlab/settingregistry",
      "@jupyterlab/codemirror",
      "@codemirror/view",
      "@jupyterlab/filebrowser",
      "@jupyterlab/coreutils",
      "@jupyterlab/ui-components",
      "@jupyterlab/launcher",
      "@jupyterlab/statusbar",
    ].map(share),
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
    optional: [apputils.ICommandPalette, registry?.ISettingRegistry, launching?.ILauncher, status?.IStatusBar].filter(Boolean),
    activate: (/** @type {any} */ app, /** @type {any} */ tracker, /** @type {any[]} */ ...services) => {
      const [palette, settings, launcher, statusBar] = services;
      void follow(settings);
      if (app.name !== "JupyterLab") return;
      const makeIcon = (/** @type {string} */ name, /** @type {string} */ path) =>
        new ui.LabIcon({ name: `svc-notebook:${name}`, svgstr: drawIcon(path) });
      const icon = makeIcon("search", SEARCH_PATH);
      const kernels = kernelsOf(tracker);
      let drawStatus = () => {};
      const explorer = addExplorer(app, kernels, icon, () => drawStatus());
      if (statusBar) drawStatus = addStatus({ app, statusBar, explorer, Widget: lumino.Widget });
      const widgets = { ...apputils, Widget: lumino.Widget };
      const tabs = new EditorTabs({ app, kernels, icon, Panel: lumino.Panel, apputils, connection: () => explorer.connection?.id });
      addActions(
        { app, kernels, explorer, tabs, preferences: () => preferences, Menu: ui.MenuSvg,
          apputils: widgets, NotebookActions: notebook.NotebookActions },
        palette,
      );
      addTemplates({ app, launcher, palette, makeIcon });
      addTutorials({ app, launcher, palette, makeIcon });
    },
  };

  const cells = {
    id: `${NAME}:cells`,
    description: "Colours, help and errors in %svc lines and %%svc cells.",
    autoStart: true,
    requires: [codemirror.IEditorExtensionRegistry],
    optional: [notebook.INotebookTracker],
    activate: (/** @type {any} */ app, /** @type {any} */ editors, /** @type {any} */ tracker) => {
      const language = makeCellLanguage({
        view,
        table: once(async () => {
          await app.restored;
          return (await fetch(new URL("language.json", import.meta.url))).json();
        }),
        hovers: () => preferences.hoverHelp,
        check: async (text, dom) => {
          const link = tracker && kernelsOf(tracker).current;
          if (!preferences.underlineErrors || !link?.answers || !tracker.currentWidget.node.contains(dom)) return null;
          return link.call("check_cell", { text }).catch(() => null);
        },
      });
      const extension = codemirror.EditorExtensionRegistry.createImmutableExtension(language);
      editors.addExtension({ name: "svc-notebook:cells", factory: () => extension });
    },
  };

  const files = {
    id: `${NAME}:files`,
    description: "The file browser's entry that loads a file into an index.",
    autoStart: true,
    requires: [filebrowser.IFileBrowserFactory],
    optional: [notebook.INotebookTracker],
    activate: (/** @type {any} */ app, /** @type {any} */ browsers, /** @type {any} */ tracker) => {
      const selected = () => [...(browsers.tracker.currentWidget?.selectedItems() ?? [])].filter(({ path }) => SUFFIXES.test(path));
      app.commands.addCommand("svc:load-file", {
        label: "Load into an index…",
        isVisible: () => selected().length === 1,
        execute: async (/** @type {{path?: string}} */ args) => {
          const path = args.path ?? selected()[0]?.path;
          if (!path) return;
          const file = fullPath(coreutils.PageConfig.getOption("serverRoot"), app.serviceManager.contents.localPath(path));
          const name = path.slice(path.lastIndexOf("/") + 1);
          const kernels = tracker ? kernelsOf(tracker) : null;
          await openFileLoader({ app, kernels, file, name, done: () => kernels?.tell("executed"), openEditor });

          /** @param {string} index @param {string} profile */
          async function openEditor(index, profile) {
            const { commands, serviceManager } = app;
            if (kernels?.current?.answers && commands.hasCommand("svc:tab-query")) return commands.execute("svc:tab-query", { index });
            await serviceManager.kernelspecs.ready;
            const panel = await commands.execute("notebook:create-new", { kernelName: serviceManager.kernelspecs.specs?.default });
            await Promise.all([panel.context.ready, panel.sessionContext.ready]);
            const connect = profile ? `svc.connect(${JSON.stringify(profile)})\n` : "";
            const code = `import svc_notebook as svc\n${connect}svc.edit.query(${JSON.stringify(index)})`;
            panel.content.activeCell.model.sharedModel.setSource(code);
            await commands.execute("notebook:run-cell");
          }
        },
      });
      const selector = '.jp-DirListing-item[data-isdir="false"]';
      app.contextMenu.addItem({ command: "svc:load-file", selector, rank: 3 });
    },
  };
  return [main, cells, files];

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

  /** @param {any} app @param {Kernels} kernels @param {any} icon @param {() => void} changed */
  function addExplorer(app, kernels, icon, changed) {
    let enabled = "";
    /** @type {Explorer | null} */
    let made = null; // the first drawing is before it
    const explorer = new Explorer(kernels, {
      menu: ({ x, y }, row) =>
        void row.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: x, clientY: y })),
      changed: () => {
        const now = `${kernels.current?.answers} ${made?.connection?.connected} ${made?.current?.name}`;
        if (now !== enabled) app.commands.notifyCommandChanged(); // draws every menu and toolbar
        enabled = now;
        changed();
      },
      wants: () => preferences.refreshAfterCells,
      showOverview: () => void app.commands.execute("svc:overview"),
      newCrawler: () => void app.commands.execute("svc:new-crawler"),
      showFiles: () => void app.commands.execute("filebrowser:activate"),
      openNotebook: async () => {
        const { kernelspecs } = app.serviceManager;
        await kernelspecs.ready;
        await app.commands.execute("notebook:create-new", { kernelName: kernelspecs.specs?.default });
      },
      askTrust: async ({ folder, profile, address }) => {
        const body =
          `The folder ${folder} defines the profile ${profile}. Connecting sends your API key to ${address}. ` +
          "Trust the folder only if you know where it comes from.";
        const buttons = [apputils.Dialog.cancelButton(), apputils.Dialog.warnButton({ label: "Trust and connect" })];
        const answer = await apputils.showDialog({ title: `Send your key to ${address}?`, body, buttons, defaultButton: 0 });
        return answer.button.accept;
      },
    });
    made = explorer;
    const panel = Object.assign(new lumino.Widget({ node: explorer.el }), {
      onAfterShow: () => explorer.show(true),
      onAfterHide: () => explorer.show(false),
      onResize: () => explorer.paint(),
    });
    panel.id = "svc-explorer";
    panel.title.caption = "Search service";
    panel.title.icon = icon;
    app.shell.add(panel, "left", { rank: 600 });
    app.commands.addCommand("svc:show-explorer", {
      label: "Show the explorer",
      execute: () => app.shell.activateById(panel.id),
    });
    return explorer;
  }
}

/** @template T @param {() => Promise<T>} read @returns {() => Promise<T>} */
function once(read) {
  /** @type {Promise<T> | null} */
  let made = null;
  return () => (made ??= read());
}

function addStyles() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("lab.css", import.meta.url).href;
  document.head.append(link);
}
