// Two searches side by side, with lines between the hits that both have.

import { button, fill, freshId, h } from "../kit/dom.js";
import { drawMarked } from "../kit/highlight.js";
import { drawImage } from "../kit/hit_card.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{sides: {index: string, nbHits: number, hits: import("../kit/hit_card.js").Hit[]}[], shared: [number, number][],
 *   gained: number, lost: number, moved: number}} Comparison */

const ROW_PIXELS = 30; // height of a hit, which the lines depend on

/** @param {Frame} view */
export function comparePanel(view) {
  const index = h("input", {
    class: "input",
    type: "text",
    placeholder: "the same index",
    id: freshId("index"),
  });
  const area = h("textarea", {
    rows: 5,
    spellcheck: "false",
    "aria-label": "Parameters of the other search, as JSON",
  });
  const result = h("div", { class: "comparison" });
  const errorText = h("p", { class: "wrong-text", role: "alert" });
  useCurrent();

  // Without a query, the other search uses the query that is typed above.
  function useCurrent() {
    const { query: _, ...rest } = view.value() ?? {};
    area.value = JSON.stringify(rest, null, 2);
  }

  let comparisons = 0;

  async function compare() {
    const number = ++comparisons;
    let value;
    try {
      value = withQuery(JSON.parse(area.value || "{}"), view.value()?.query);
      fill(errorText);
    } catch (error) {
      fill(result);
      return fill(errorText, String(error instanceof Error ? error.message : error));
    }
    const found = await view.run("compare", { index: index.value.trim(), value }, {});
    // A failed search clears the previous result.
    if (number === comparisons) fill(result, found ? drawComparison(found) : null);
  }

  view.link.watch("answer", () => {
    if (comparisons) compare();
  });
  return {
    el: h(
      "div",
      { class: "compare" },
      h(
        "p",
        { class: "hint" },
        "Compares the current search with the search below: another index, other parameters, or both. Without a `query` it uses the typed query.",
      ),
      h("div", { class: "row" }, h("label", { for: index.id }, "Index"), index),
      area,
      errorText,
      h(
        "div",
        { class: "row" },
        button("Compare", compare, { class: ["button", "main"] }),
        button("Use current search", useCurrent),
      ),
      result,
    ),
  };
}

/** Add the typed query to search parameters without a query. @param {any} value @param {string | undefined} query */
export function withQuery(value, query) {
  const plain = value !== null && typeof value === "object" && !Array.isArray(value);
  return plain && query && !("query" in value) ? { query, ...value } : value;
}

/** @param {Comparison} found */
export function drawComparison({ sides, shared, gained, lost, moved }) {
  const both = new Map(shared);
  const right = new Map(shared.map(([from, to]) => [to, from]));
  const height = Math.max(1, ...sides.map((side) => side.hits.length)) * ROW_PIXELS;
  return h(
    "div",
    {},
    h(
      "p",
      { role: "status" },
      `${moved} moved, ${gained} new, ${lost} dropped out; ${sides.map((side) => side.nbHits.toLocaleString()).join(" and ")} hits total.`,
    ),
    h(
      "div",
      { class: "sides" },
      column(sides[0], both, "lost"),
      lines(shared, height),
      column(sides[1], right, "gained"),
    ),
  );
}

/** @param {{index: string, hits: import("../kit/hit_card.js").Hit[]}} side @param {Map<number, number>} other @param {"gained" | "lost"} alone */
function column({ index, hits }, other, alone) {
  return h(
    "div",
    { class: "side" },
    h("h4", { dir: "auto" }, index),
    h(
      "ol",
      {},
      hits.map((hit, place) => {
        const to = other.get(place);
        const step = to === undefined ? ALONE[alone] : to === place ? "" : `${place + 1} ↔ ${to + 1}`;
        return h(
          "li",
          { class: ["side-hit", to === undefined && alone], style: { height: `${ROW_PIXELS}px` } },
          h("span", { class: "place" }, String(place + 1)),
          h("span", { class: "side-title", dir: "auto", title: hit.id }, drawMarked(hit.title || hit.id)),
          drawImage(hit, false),
          h("span", { class: "hint" }, step),
        );
      }),
    ),
  );
}

/** The text beside a hit that only one of the searches has. */
const ALONE = { gained: "new", lost: "dropped out" };

/** @param {[number, number][]} shared @param {number} height */
function lines(shared, height) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({
    class: "svc-lines",
    viewBox: `0 0 40 ${height}`,
    height,
    width: 40,
    "aria-hidden": "true",
  }))
    svg.setAttribute(name, String(value));
  for (const [from, to] of shared) {
    const line = document.createElementNS(space, "line");
    const ends = { x1: 0, y1: (from + 0.5) * ROW_PIXELS, x2: 40, y2: (to + 0.5) * ROW_PIXELS };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, String(value));
    if (from !== to) line.setAttribute("class", "svc-moved");
    svg.append(line);
  }
  return svg;
}
