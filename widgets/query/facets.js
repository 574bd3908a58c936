// The facets of the hits: values to select, and ranges of numbers.

import { drawCode } from "../kit/code_text.js";
import { button, fill, focusedIn, follow, h, setAttribute } from "../kit/dom.js";
import { debounce } from "../kit/timing.js";
import { rangeBox } from "./range.js";

/** @typedef {{name: string, mode: "any" | "all", values: [string, number, boolean][], chosen: string[],
 *   stats: {min: number, max: number} | null, least: number | null, most: number | null, step: number, bins: number[],
 *   limited: boolean, hint: string}} Facet */
/** @typedef {import("../kit/frame.js").Frame} Frame */

const SHOWN_VALUES = 8; // without "more"

/** @typedef {"count" | "name"} Order */

/** Values in order: by count, highest first, or by name. @param {Facet["values"]} values @param {Order} order */
export function sortValues(values, order) {
  const byName = new Intl.Collator(undefined, { numeric: true }).compare;
  return values.toSorted(([a, m], [b, n]) => (order === "name" ? byName(a, b) : n - m));
}

/** Whether a facet has something to select. @param {Facet} facet */
const isFilled = (facet) =>
  facet.values.length > 0 || Boolean(facet.stats) || facet.least !== null || facet.most !== null;

/** @param {Frame} view */
export function facetPanel(view) {
  const list = h("div", { class: "facet-list" });
  const none = h("div", { class: "hint" });
  const reset = button("Clear all", () => view.run("clear"), { class: ["button", "small"] });
  const order = h(
    "select",
    { class: ["input", "small"], "aria-label": "Sort values", on: { change: redraw } },
    h("option", { value: "count" }, "Sort by count"),
    h("option", { value: "name" }, "Sort by name"),
  );
  const empty = h("details", { class: "empty-facets" });
  /** @type {Facet[]} */
  let facets = [];
  /** @type {Map<string, ReturnType<typeof facetBox>>} */
  const boxes = new Map();

  function redraw() {
    const filled = facets.filter(isFilled);
    none.hidden = facets.length > 0;
    order.hidden = !filled.some((facet) => facet.values.length > 1);
    reset.hidden = !facets.some((f) => f.chosen.length || f.least !== null || f.most !== null);
    follow(
      list,
      filled,
      (facet) => facet.name,
      (facet) => {
        const box = boxes.get(facet.name) ?? facetBox(view, facet.name);
        boxes.set(facet.name, box);
        box.show(facet, /** @type {Order} */ (order.value));
        return box.el;
      },
    );
    drawEmpty(facets.filter((facet) => !isFilled(facet)));
  }

  /** @param {Facet[]} own */
  function drawEmpty(own) {
    empty.hidden = !own.length;
    fill(
      empty,
      h("summary", {}, `${own.length} ${own.length === 1 ? "facet" : "facets"} without values`),
      own.map(({ name, hint }) => h("p", {}, h("b", {}, h("bdi", {}, name)), " ", h("span", { class: "hint" }, drawCode(hint)))),
    );
  }

  return {
    el: h(
      "div",
      { class: "facet-panel", role: "group", "aria-label": "Filters" },
      h("div", { class: "row facet-tools" }, order, reset),
      list,
      empty,
      none,
    ),
    /** @param {Facet[]} next */
    show(next) {
      facets = next;
      fill(
        none,
        drawCode(
          "This index has no facets. Add attributes to `attributesForFaceting` in the settings editor.",
        ),
        button("Insert code that opens it", () => view.offerCode(settingsCode(view.state()?.index ?? ""))),
      );
      redraw();
    },
  };
}

/** Code that opens the settings of an index. @param {string} index */
const settingsCode = (index) => `import svc_notebook as svc\n\nsvc.edit.settings(${JSON.stringify(index)})`;

/** @param {Frame} view @param {string} name */
function facetBox(view, name) {
  /** @type {Facet} */
  let facet = { name, mode: "any", values: [], chosen: [], stats: null, least: null, most: null, step: 1, bins: [], limited: false, hint: "" };
  /** @type {Order} */
  let order = "count";
  /** @type {"any" | "all"} the mode of the next selection, as long as nothing is selected */
  let mode = "any";
  /** @type {[string, number, boolean][] | null} */
  let found = null;
  let all = false;
  const values = h("ul", { class: "facet-values", "aria-label": name, on: { keydown: moveAmongValues, focusin: keepOneStop } });
  const more = button(
    "",
    () => {
      all = !all;
      redraw();
    },
    { class: ["button", "bare", "small"] },
  );
  const find = h("input", {
    class: ["input", "small"],
    type: "search",
    placeholder: "Find a value…",
    "aria-label": `Find a value of ${name}`,
    on: { input: () => searchValues(find.value) },
  });
  const modes = /** @type {const} */ (["any", "all"]).map((each) =>
    button(`${each} of`, () => switchMode(each), {
      class: ["button", "small", "mode"],
      title: `Hits have ${each === "any" ? "at least one" : "all"} of the selected values`,
    }),
  );
  const modeSwitch = h("div", { class: "modes", role: "group", "aria-label": `Match of ${name}` }, modes);
  const limit = h("p", { class: "hint" });
  const range = rangeBox(view, name);
  const el = h(
    "section",
    { class: "facet" },
    h("div", { class: "row facet-head" }, h("h4", {}, h("bdi", {}, name)), modeSwitch),
    range.el,
    find,
    values,
    more,
    limit,
  );

  /** @param {"any" | "all"} next */
  function switchMode(next) {
    mode = next;
    drawMode();
    // A value that was clicked just now may not be among the chosen ones yet.
    const isHeld = facet.chosen.length > 0 || [...clicked.values()].some(({ wanted }) => wanted);
    if (isHeld) view.run("switch", { facet: name, mode });
  }

  function drawMode() {
    modes.forEach((one, place) => setAttribute(one, "aria-pressed", (place ? "all" : "any") === mode ? "true" : "false"));
  }

  const searchValues = debounce(async (text) => {
    found = text ? await view.run("values", { facet: name, text }) : null;
    redraw();
  }, 150);

  // Facets that were counted before a click may arrive after it: a box shows the click until facets
  // arrive after its answer.
  /** @type {Map<string, {wanted: boolean, answered: boolean}>} */
  const clicked = new Map();

  /** @param {string} value @param {HTMLInputElement} box */
  async function toggle(value, box) {
    const click = { wanted: box.checked, answered: false };
    clicked.set(value, click);
    const done = await view.run("toggle", { facet: name, value, mode });
    click.answered = true;
    if (done === undefined && clicked.get(value) === click) {
      clicked.delete(value);
      redraw();
    }
  }

  /** @param {[string, number, boolean]} row @param {HTMLElement | null} old */
  function drawValue([value, count, chosen], old) {
    /** @type {HTMLInputElement} */
    const box =
      old?.querySelector("input") ?? h("input", { type: "checkbox", tabindex: -1, on: { change: () => toggle(value, box) } });
    box.checked = clicked.get(value)?.wanted ?? chosen;
    const el =
      old ??
      h(
        "li",
        {},
        h(
          "label",
          {},
          box,
          h("bdi", { class: "facet-value", title: value }, value),
          h("span", { class: "facet-count" }),
        ),
      );
    fill(/** @type {Element} */ (el.querySelector(".svc-facet-count")), count.toLocaleString());
    el.classList.toggle("svc-none", count === 0);
    return el;
  }

  const boxesOfValues = () => /** @type {HTMLInputElement[]} */ ([...values.querySelectorAll("input")]);

  /** The values are one stop of the Tab key; the arrow keys move among them. */
  function keepOneStop() {
    const boxes = boxesOfValues();
    const stop = boxes.find((box) => box === focusedIn(el)) ?? boxes.find((box) => box.tabIndex === 0) ?? boxes[0];
    for (const box of boxes) box.tabIndex = box === stop ? 0 : -1;
  }

  /** @param {KeyboardEvent} event */
  function moveAmongValues(event) {
    const boxes = boxesOfValues();
    const at = boxes.findIndex((box) => box === event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: boxes.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    boxes[Math.min(Math.max(to, 0), boxes.length - 1)].focus();
  }

  function redraw() {
    const rows = found ?? sortValues(facet.values, order);
    // A numeric facet is selected by its range; its single values are folded.
    const isFolded = Boolean(facet.stats) && rows.length > SHOWN_VALUES;
    const first = rows.filter(([, , chosen], place) => chosen || (!isFolded && place < SHOWN_VALUES));
    const shown = found || all ? rows : first;
    follow(values, shown, ([value]) => value, drawValue);
    keepOneStop();
    more.hidden = Boolean(found) || rows.length === first.length;
    fill(more, all ? "fewer" : isFolded ? `${rows.length} single values` : `${rows.length - first.length} more`);
    setAttribute(more, "aria-expanded", all ? "true" : "false");
    find.hidden = (facet.values.length <= SHOWN_VALUES || (isFolded && !all)) && !find.value;
    limit.hidden = !facet.limited || !all || Boolean(found);
    fill(limit, `The ${facet.values.length.toLocaleString()} most frequent values are listed.`);
  }

  return {
    el,
    /** @param {Facet} next @param {Order} by */
    show(next, by) {
      facet = next;
      order = by;
      for (const [value, { answered }] of clicked) if (answered) clicked.delete(value);
      if (facet.chosen.length) mode = facet.mode;
      if (found) found = found.map(([value, count]) => [value, count, next.chosen.includes(value)]);
      modeSwitch.hidden = !facet.chosen.length && (Boolean(facet.stats) || facet.values.length < 2);
      drawMode();
      range.show(facet);
      redraw();
    },
  };
}
