// The facets of the hits: values to select, and ranges of numbers.

import { button, fill, follow, h, setAttribute } from "../kit/dom.js";
import { debounce } from "../kit/timing.js";

/** @typedef {{name: string, mode: "any" | "all", values: [string, number, boolean][], chosen: string[],
 *   stats: {min: number, max: number} | null, least: number | null, most: number | null}} Facet */
/** @typedef {import("../kit/frame.js").Frame} Frame */

const SHOWN_VALUES = 8; // without "more"

/** @param {Frame} view */
export function facetPanel(view) {
  const list = h("div", { class: "facet-list" });
  const none = h("p", { class: "hint" }, "No facets: set attributesForFaceting.");
  const reset = button("Clear all", () => view.run("clear"), { class: ["button", "small"] });
  /** @type {Map<string, ReturnType<typeof facetBox>>} */
  const boxes = new Map();
  return {
    el: h("div", { class: "facet-panel", role: "group", "aria-label": "Filters" }, reset, list, none),
    /** @param {Facet[]} facets */
    show(facets) {
      none.hidden = facets.length > 0;
      reset.hidden = !facets.some((f) => f.chosen.length || f.least !== null || f.most !== null);
      follow(
        list,
        facets,
        (facet) => facet.name,
        (facet) => {
          const box = boxes.get(facet.name) ?? facetBox(view, facet.name);
          boxes.set(facet.name, box);
          box.show(facet);
          return box.el;
        },
      );
    },
  };
}

/** @param {Frame} view @param {string} name */
function facetBox(view, name) {
  /** @type {Facet} */
  let facet = { name, mode: "any", values: [], chosen: [], stats: null, least: null, most: null };
  /** @type {[string, number, boolean][] | null} */
  let found = null;
  let all = false;
  const values = h("ul", { class: "facet-values", "aria-label": name });
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
  const mode = button(
    "any",
    () => view.run("switch", { facet: name, mode: facet.mode === "any" ? "all" : "any" }),
    { class: ["button", "bare", "small"] },
  );
  const range = rangeBox(view, name);
  const el = h(
    "section",
    { class: "facet" },
    h("div", { class: "row facet-head" }, h("h4", {}, h("bdi", {}, name)), mode),
    range.el,
    find,
    values,
    more,
  );

  const searchValues = debounce(async (text) => {
    found = text ? await view.run("values", { facet: name, text }) : null;
    redraw();
  }, 150);

  /** @param {[string, number, boolean]} row @param {HTMLElement | null} old */
  function drawValue([value, count, chosen], old) {
    const box =
      old?.querySelector("input") ??
      h("input", {
        type: "checkbox",
        on: { change: () => view.run("toggle", { facet: name, value, mode: facet.mode }) },
      });
    box.checked = chosen;
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

  function redraw() {
    const rows = found ?? facet.values;
    const first = rows.filter(([, , chosen], place) => chosen || place < SHOWN_VALUES);
    const shown = found || all ? rows : first;
    follow(values, shown, ([value]) => value, drawValue);
    more.hidden = Boolean(found) || rows.length === first.length;
    fill(more, all ? "fewer" : `${rows.length - first.length} more`);
    setAttribute(more, "aria-expanded", all ? "true" : "false");
    find.hidden = facet.values.length <= SHOWN_VALUES && !find.value;
  }

  return {
    el,
    /** @param {Facet} next */
    show(next) {
      facet = next;
      if (found) found = found.map(([value, count]) => [value, count, next.chosen.includes(value)]);
      const many = facet.chosen.length > 0;
      mode.hidden = !many && facet.mode === "any" && Boolean(facet.stats);
      fill(mode, facet.mode === "any" ? "any of" : "all of");
      mode.title = `Hits match ${facet.mode} of the selected values; click to change`;
      range.show(facet);
      redraw();
    },
  };
}

/** @param {Frame} view @param {string} name */
function rangeBox(view, name) {
  const ends = ["from", "to"].map((end) =>
    h("input", {
      class: ["input", "small"],
      type: "number",
      step: "any",
      "aria-label": `${name} ${end}`,
      on: { change: hold },
    }),
  );
  const el = h("div", { class: "row range" }, ends[0], h("span", { "aria-hidden": true }, "–"), ends[1]);

  function hold() {
    const [least, most] = ends.map((end) => (end.value === "" ? null : Number(end.value)));
    view.run("hold", { facet: name, least, most });
  }

  return {
    el,
    /** @param {Facet} facet */
    show({ stats, least, most }) {
      el.hidden = !stats && least === null && most === null;
      [least, most].forEach((bound, place) => {
        if (document.activeElement !== ends[place]) ends[place].value = bound === null ? "" : String(bound);
        ends[place].placeholder = stats ? String([stats.min, stats.max][place]) : "";
      });
    },
  };
}
