// The query editor: a search box, its hits, facets, parameters, history and comparison.

import { button, fill, freshId, h } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { sidePanel } from "./kit/side_panel.js";
import { tabs } from "./kit/tabs.js";
import { oneAtATime } from "./kit/timing.js";
import { comparePanel } from "./query/compare_panel.js";
import { facetPanel } from "./query/facets.js";
import { activeFilterRow } from "./query/active_filters.js";
import { draftBar } from "./query/drafts.js";
import { hitList } from "./query/hits.js";
import { historyPanel, jsonPanel } from "./query/json.js";
import { parameterPanel } from "./query/parameters.js";

/** Keystrokes within this time are one undo step. */
const UNDO_STEP_MS = 1200;
/** @type {[string, string][]} */
const KEYS = [
  ["/", "go to the search box"],
  ["↓", "go from the search box to the hits"],
  ["↑ ↓", "move among hits, or among the values of a filter"],
  ["Enter", "explain the rank of a hit"],
  ["Esc", "close, or clear the search box"],
];
/** Applied rules that are named; others are counted. */
const MAX_NAMED_RULES = 3;

/** @param {import("./types").Mount} mount */
function render(mount) {
  const view = frame(mount, { named: "query", retry: "look", keys: KEYS });
  let typed = 0;
  // Typed text without an answer is newer than the value from Python; afterwards that value is shown.
  let waiting = false;
  let isOutdated = false;
  const type = oneAtATime(async (/** @type {string} */ query) => {
    const merge = Date.now() - typed < UNDO_STEP_MS;
    typed = Date.now();
    const { page: _, ...rest } = view.value() ?? {};
    await view.propose(query ? { ...rest, query } : without(rest, "query"), merge);
    if (box.value !== query) return;
    if (isOutdated) box.value = view.value()?.query ?? "";
    waiting = isOutdated = false;
  });
  const box = h("input", {
    class: "input search",
    type: "search",
    placeholder: "Search…",
    "aria-label": "Query",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    on: {
      input: () => {
        waiting = true;
        type(box.value);
      },
      keydown: handleKey,
    },
  });
  const count = h("div", { class: "count", role: "status", "aria-live": "polite" });
  const activeFilters = activeFilterRow(view, () => box.focus());
  const facets = facetPanel(view);
  /** @type {ReturnType<typeof parameterPanel> | undefined} */
  let parameters;
  const filters = sidePanel(view.root, "Filters", [facets.el]);
  const hits = hitList(view, mount.model, [filters.button]);
  const skip = button("Skip to the hits", goToHits, { class: ["button", "skip"] });
  const panels = tabs({
    label: "Query editor",
    opened: (name) => name === "parameters" && parameters?.regroup(),
    panels: [
      { name: "hits", title: "Hits", draw: () => h("div", { class: "results" }, filters.el, hits.el) },
      { name: "parameters", title: "Parameters", draw: () => (parameters = parameterPanel(view)).el },
      { name: "json", title: "JSON", draw: () => jsonPanel(view).el },
      { name: "history", title: "History", draw: () => historyPanel(view, () => panels.open("hits")).el },
      { name: "compare", title: "Compare", draw: () => comparePanel(view).el },
    ],
  });
  fill(view.body, h("div", { class: "search-row" }, box, skip, sorting(view), count), activeFilters.el, draftBar(view).el, panels.el);

  function goToHits() {
    panels.open("hits");
    hits.focus();
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      goToHits();
    } else if (event.key === "Escape" && box.value) {
      box.value = "";
      typed = 0;
      type("");
    }
  }

  /** @param {any} answer */
  function draw(answer) {
    if (!answer?.hits) return;
    hits.show(answer);
    activeFilters.show(answer.held ?? []);
    fill(
      count,
      h("b", {}, answer.nbHits.toLocaleString()),
      answer.nbHits === 1 ? " hit" : " hits",
      h(
        "span",
        { class: "hint" },
        ` in ${answer.processingTimeMS} ms (${Math.round(answer.took)} ms round trip)`,
      ),
      answer.message ? h("span", { class: "hint" }, ` · ${answer.message}`) : null,
      answer.appliedRules?.length ? h("span", { class: "hint" }, ` · ${describeRules(answer.appliedRules)}`) : null,
    );
  }

  view.link.watch("value", (value) => {
    isOutdated = waiting && document.activeElement === box;
    if (!isOutdated) box.value = value?.query ?? "";
  });
  view.link.watch("answer", draw);
  view.link.watch("facets", (found) => {
    facets.show(found ?? []);
    filters.show(countFilters(found ?? []));
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /** @type {HTMLElement} */ (event.target).matches("input, textarea, select"))
      return;
    event.preventDefault();
    box.focus();
    box.select();
  });
  return () => {
    filters.close();
    view.close();
  };
}

/** Count the selected values and ranges of all facets. @param {import("./query/facets.js").Facet[]} facets */
export const countFilters = (facets) =>
  facets.reduce(
    (sum, { chosen, least, most }) => sum + chosen.length + Number(least !== null || most !== null),
    0,
  );

/** Describe the rules that a search applied. @param {{objectID: string}[]} rules */
export function describeRules(rules) {
  const names = rules.slice(0, MAX_NAMED_RULES).map(({ objectID }) => objectID);
  const more = rules.length - names.length;
  return `${rules.length === 1 ? "rule" : "rules"} ${names.join(", ")}${more ? ` and ${more} more` : ""}`;
}

/** The index itself or one of its replicas. @param {import("./kit/frame.js").Frame} view */
function sorting(view) {
  const id = freshId("sort");
  const select = h("select", {
    class: "input",
    id,
    on: { change: () => view.run("sort", { index: select.value }) },
  });
  const el = h("div", { class: "row sort" }, h("label", { for: id, class: "hint" }, "sorted by"), select);
  view.link.watch("state", (state) => {
    const replicas = state?.replicas ?? [];
    el.hidden = !replicas.length;
    const names = [
      [state?.primary, "relevance"],
      ...replicas.map((/** @type {string} */ name) => [name, name]),
    ];
    fill(
      select,
      names.map(([value, text]) => h("option", { value, selected: value === state?.index }, text)),
    );
  });
  return el;
}

/** @param {Record<string, any>} value @param {string} name */
function without(value, name) {
  const { [name]: _, ...rest } = value;
  return rest;
}

export default { render };
