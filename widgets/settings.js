// The settings editor: settings by group, and a preview of the draft.

import { button, fill, freshId, h } from "./kit/dom.js";
import { noMatch } from "./kit/empty.js";
import { frame } from "./kit/frame.js";
import { tabs } from "./kit/tabs.js";
import { jsonPanel } from "./query/json.js";
import { settingBox } from "./settings/box.js";
import { drawReview, historyPanel } from "./settings/changes.js";
import { previewPanel } from "./settings/preview.js";
import { fits, groupedRows } from "./kit/parameter_groups.js";

/** @typedef {import("./settings/state.js").Row} Row */
/** @typedef {import("./settings/state.js").Change} Change */
/** @typedef {ReturnType<typeof settingBox>} Box */

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  const view = frame(mount, {
    named: "settings",
    keys: [["/", "find a setting"]],
    retry: "refresh",
    tools: [
      button("Reload", () => view.run("refresh"), {
        icon: "⟳",
        bare: true,
        title: "Reload the saved settings; your changes stay",
      }),
    ],
    diff: () => drawReview(view, model.get("changes") ?? [], model.get("problems") ?? []),
  });
  const known = h("datalist", { id: freshId("attributes") });
  /** @type {Row[]} */
  let rows = [];
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  const list = groupedRows({ label: "Settings by group", draw: (/** @type {Row} */ row) => boxOf(row) });
  const find = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a setting by name or meaning…",
    "aria-label": "Find a setting",
    on: { input: filterRows },
  });
  const only = h("input", { type: "checkbox", on: { change: filterRows } });
  const changed = h("div", { class: "row changed", role: "status" });
  const none = noMatch("settings", { find, only, show: filterRows });
  const findRow = h("div", { class: "row find-row" }, find, h("label", { class: "row hint" }, only, "Only modified"));
  const panels = tabs({
    label: "Settings",
    opened: (name) => name === "settings" && filterRows(),
    panels: [
      { name: "settings", title: "Settings", draw: () => h("div", {}, findRow, list.el, none) },
      {
        name: "json",
        title: "JSON",
        draw: () => jsonPanel(view, { label: "Settings as JSON", action: "Use as draft" }).el,
      },
      { name: "history", title: "History", draw: () => historyPanel(view, () => panels.open("settings")).el },
    ],
  });
  const follows = h("p", { class: "hint follows", hidden: true });
  fill(
    view.body,
    known,
    follows,
    changed,
    h(
      "div",
      { class: "workbench" },
      h("div", { class: "setting-panels" }, panels.el),
      previewPanel(view),
    ),
  );

  /** The suggested attributes of a setting. @param {Row} row */
  function suggest(row) {
    /** @type {{name: string, kinds: string[]}[]} */
    const attributes = view.state()?.attributes ?? [];
    if (row.name === "ranking") return row.choices;
    const kinds = ACCEPTED_KINDS[row.name];
    return attributes.filter((a) => !kinds || a.kinds.some((kind) => kinds.includes(kind))).map((a) => a.name);
  }

  /** Show the matching rows; those that differ from the defaults move to the first section. */
  function filterRows() {
    const value = view.value() ?? {};
    const text = find.value.trim();
    const isModified = (/** @type {Row} */ row) => isSet(value, row) || isChanged(row.name);
    const shown = rows.filter((row) => fits(row, text) && (!only.checked || isModified(row)));
    none.hidden = shown.length > 0 || !rows.length;
    list.show(shown, new Set(rows.filter(isModified).map((row) => row.name)), Boolean(text) || only.checked);
  }

  /** @param {string} name */
  const isChanged = (name) =>
    (model.get("changes") ?? []).some((/** @type {Change} */ change) => change.name === name);

  /** @param {Row} row */
  const boxOf = (row) => /** @type {Box} */ (boxes.get(row.name)).el;

  function draw() {
    const value = view.value() ?? {};
    // A row that is being edited stays where it is.
    if (!list.el.contains(document.activeElement)) filterRows();
    /** @type {Change[]} */
    const changes = model.get("changes") ?? [];
    const problems = model.get("problems") ?? [];
    for (const row of rows)
      boxes.get(row.name)?.show(
        value,
        changes.find((change) => change.name === row.name),
        problems.filter((/** @type {any} */ problem) => problem.name === row.name),
      );
    fill(
      changed,
      changes.length ? `${changes.length} ${changes.length === 1 ? "change" : "changes"}:` : null,
      changes.map(({ name, how }) =>
        h(
          "button",
          { type: "button", class: `changed-name is-${how}`, on: { click: () => reveal(name) } },
          how === "reset" ? `${name} (reset)` : name,
        ),
      ),
    );
  }

  /** Scroll to a setting. @param {string} name */
  function reveal(name) {
    const row = rows.find((other) => other.name === name);
    if (!row) return;
    find.value = "";
    only.checked = false;
    panels.open("settings");
    list.open(name);
    const el = boxOf(row);
    el.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (el.querySelector("select, input, textarea, [tabindex='0']"))?.focus();
  }

  async function load() {
    rows = (await view.run("settings")) ?? [];
    /** @type {{name: string, kinds: string[], share: number}[]} */
    const attributes = view.state()?.attributes ?? [];
    fill(
      known,
      attributes.map(({ name, kinds, share }) =>
        h("option", { value: name }, `${kinds.join(" or ")}, in ${Math.ceil(share * 100)} % of records`),
      ),
    );
    for (const row of rows) boxes.set(row.name, settingBox(view, row, { known: known.id, suggest }));
    filterRows();
    draw();
  }

  for (const name of ["value", "changes", "problems"]) view.link.watch(name, draw);
  view.link.watch("state", (state) => {
    follows.hidden = !state?.follows;
    fill(follows, "This index is a replica of ", h("code", {}, state?.follows), " and has its records.");
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /** @type {HTMLElement} */ (event.target).matches("input, textarea, select")) return;
    event.preventDefault();
    find.focus();
    find.select();
  });
  load();
  return () => view.close();
}

/** The kinds of attributes that a setting accepts, if not all. @type {Record<string, string[]>} */
const ACCEPTED_KINDS = {
  searchableAttributes: ["text"],
  customRanking: ["number", "true or false"],
  disableTypoToleranceOnAttributes: ["text"],
  disableExactOnAttributes: ["text"],
  disablePrefixOnAttributes: ["text"],
  camelCaseAttributes: ["text"],
  disableTypoToleranceOnWords: [],
  optionalWords: [],
};

/** Whether a setting is set, to another value than its default. @param {Record<string, any>} value @param {Row} row */
const isSet = (value, { name, default: fallback }) =>
  value[name] !== undefined && value[name] !== null && JSON.stringify(value[name]) !== JSON.stringify(fallback);

export default { render };
