// What the application shows beside the explorer: new notebooks from templates, and the connection in the status bar.

import { h } from "../../kit/dom.js";

/** @typedef {import("./explorer.js").Explorer} Explorer */

const CATEGORY = "Search service";
const TEMPLATES = [
  { name: "tuning", label: "Tuning notebook", caption: "Change the ranking on a copy and compare the hits", path: "M4 6h9v2H4zm0 5h5v2H4zm0 5h9v2H4zM15 4h2v5h3v2h-8V9h3zm-4 6h2v2h7v2h-7v2h-2z" },
  { name: "load", label: "Load notebook", caption: "Load a file into an index and read its rejected rows", path: "M11 3h2v9l3-3 1.4 1.4L12 15.8l-5.4-5.4L8 9l3 3zM4 18h16v2H4z" },
];
const TUTORIAL_FOLDER = "svc-tutorials";
/** The notebooks in their order, then the modules that they import. */
const TUTORIAL_FILES = [
  "01-from-csv-to-search.ipynb",
  "02-tune-a-search.ipynb",
  "03-operate.ipynb",
  "04-measure-and-improve.ipynb",
  "05-from-live-data-to-a-change.ipynb",
  "06-search-in-marimo.py",
  "cinema.py",
  "films.py",
  "shoppers.py",
];

const TUTORIAL_PATH = "M12 4 1 9l11 5 9-4.1V17h2V9zM5 13.2v4L12 21l7-3.8v-4L12 16.5z";

/** @typedef {(name: string, path: string) => any} MakeIcon makes an icon from the path of an SVG of 24 by 24 units */

/**
 * Add a command that copies the tutorials and opens the first, in the launcher and the palette.
 * @param {{app: any, launcher: any, palette: any, makeIcon: MakeIcon}} options
 */
export function addTutorials({ app, launcher, palette, makeIcon }) {
  const icon = makeIcon("tutorials", TUTORIAL_PATH);
  const command = "svc:open-tutorials";
  app.commands.addCommand(command, {
    label: (/** @type {any} */ args) => (args.isPalette ? "Open the tutorials" : "Tutorials"),
    caption: `Copy the tutorials to the folder ${TUTORIAL_FOLDER} and open the first`,
    icon: (/** @type {any} */ args) => (args.isPalette ? undefined : icon),
    execute: (/** @type {{cwd?: string}} */ args) => openTutorials(app, args.cwd ?? ""),
  });
  launcher?.add({ command, category: CATEGORY, rank: TEMPLATES.length });
  palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
}

/** Copy the files that a folder does not have yet, and open the first notebook. @param {any} app @param {string} path */
async function openTutorials(app, path) {
  const { contents } = app.serviceManager;
  const folder = path ? `${path}/${TUTORIAL_FOLDER}` : TUTORIAL_FOLDER;
  if (!(await exists(contents, folder))) await contents.save(folder, { type: "directory" });
  for (const name of TUTORIAL_FILES) {
    const file = `${folder}/${name}`;
    if (await exists(contents, file)) continue; // the user's own work stays
    const source = await fetch(new URL(`../../notebooks/${name}`, import.meta.url));
    if (!source.ok) throw new Error(`${name} cannot be read: ${source.status} ${source.statusText}`);
    const isNotebook = name.endsWith(".ipynb");
    const content = isNotebook ? await source.json() : await source.text();
    const [type, format] = isNotebook ? ["notebook", "json"] : ["file", "text"];
    await contents.save(file, { type, format, content });
  }
  return app.commands.execute("docmanager:open", { path: `${folder}/${TUTORIAL_FILES[0]}`, factory: "Notebook" });
}

/** @param {any} contents @param {string} path */
async function exists(contents, path) {
  try {
    await contents.get(path, { content: false });
    return true;
  } catch (error) {
    if (/** @type {any} */ (error).response?.status === 404) return false;
    throw error;
  }
}

/**
 * Add a command for each template, in the launcher and the palette.
 * @param {{app: any, launcher: any, palette: any, makeIcon: MakeIcon}} options
 */
export function addTemplates({ app, launcher, palette, makeIcon }) {
  TEMPLATES.forEach(({ name, label, caption, path }, rank) => {
    const icon = makeIcon(name, path);
    const command = `svc:new-${name}`;
    app.commands.addCommand(command, {
      label: (/** @type {any} */ args) => (args.isPalette ? `New ${label.toLowerCase()}` : label),
      caption,
      icon: (/** @type {any} */ args) => (args.isPalette ? undefined : icon),
      execute: (/** @type {{cwd?: string}} */ args) => create(app, name, args.cwd ?? ""),
    });
    launcher?.add({ command, category: CATEGORY, rank });
    palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
  });
}

/** Write a notebook from a template into a folder and open it. @param {any} app @param {string} name @param {string} path */
async function create(app, name, path) {
  const { contents, kernelspecs } = app.serviceManager;
  const content = await (await fetch(new URL(`templates/${name}.ipynb`, import.meta.url))).json();
  await kernelspecs.ready;
  const spec = kernelspecs.specs?.kernelspecs[kernelspecs.specs.default];
  if (spec) content.metadata.kernelspec = { name: spec.name, display_name: spec.display_name, language: spec.language };
  const made = await contents.newUntitled({ path, type: "notebook" });
  await contents.save(made.path, { type: "notebook", format: "json", content });
  return app.commands.execute("docmanager:open", { path: made.path, factory: "Notebook" });
}

/**
 * Show the connection and the pending tasks in the status bar; a click shows the explorer. Returns
 * what draws it again.
 * @param {{app: any, statusBar: any, explorer: Explorer, Widget: any}} options
 */
export function addStatus({ app, statusBar, explorer, Widget }) {
  const show = () => app.commands.execute("svc:show-explorer");
  const title = "Show the explorer of the search service";
  const el = h("button", { type: "button", class: "status", title, on: { click: show } });
  const item = new Widget({ node: h("div", { class: "status-item" }, el) });
  statusBar.registerStatusItem("svc-notebook:status", { item, align: "left", rank: 20 });
  return () => {
    el.textContent = explorer.summary;
    item.setHidden(!explorer.summary);
  };
}
