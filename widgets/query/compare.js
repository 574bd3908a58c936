// Two searches side by side, with lines between the hits that both have.

import { h } from "../kit/dom.js";
import { drawMarked } from "../kit/highlight.js";
import { drawImage } from "../kit/hit_card.js";

/** `detail` distinguishes hits with the same headline. @typedef {import("../kit/hit_card.js").Hit & {detail?: string}} ComparedHit */
/** @typedef {{sides: {index: string, nbHits: number, hits: ComparedHit[]}[], shared: [number, number][],
 *   gained: number, lost: number, moved: number}} Comparison */

const ROW_PIXELS = 30; // height of a hit, which the lines depend on

/**
 * Describe in words what differs.
 * @param {{moved: number, gained: number, lost: number}} counts @param {number[]} totals
 */
export function describeMoves({ moved, gained, lost }, [before, after]) {
  const parts = [
    moved && `${moved} moved`,
    gained && `${gained} ${gained === 1 ? "is" : "are"} new`,
    lost && `${lost} dropped out`,
  ].filter(Boolean);
  const totals =
    before === after
      ? `${before.toLocaleString()} ${before === 1 ? "hit" : "hits"} each.`
      : `${before.toLocaleString()} and ${after.toLocaleString()} hits.`;
  return `${parts.length ? `Of the first hits, ${parts.join(", ")}` : "The first hits and their order are the same"}. ${totals}`;
}

/** Describe in words how a hit moved; the second column has the words for both. @param {number} place @param {number | undefined} to @param {"gained" | "lost"} alone */
export function describeMove(place, to, alone) {
  if (to === undefined) return ALONE[alone];
  if (to === place || alone === "lost") return "";
  return place < to ? `up from ${to + 1}` : `down from ${to + 1}`;
}

/** @param {Comparison} found */
export function drawComparison({ sides, shared, gained, lost, moved }) {
  const both = new Map(shared);
  const right = new Map(shared.map(([from, to]) => [to, from]));
  const height = Math.max(1, ...sides.map((side) => side.hits.length)) * ROW_PIXELS;
  return h(
    "div",
    {},
    h("p", { role: "status" }, describeMoves({ moved, gained, lost }, sides.map((side) => side.nbHits))),
    h(
      "div",
      { class: "sides" },
      column(sides[0], both, "lost"),
      lines(shared, height),
      column(sides[1], right, "gained"),
    ),
  );
}

/** @param {{index: string, hits: ComparedHit[]}} side @param {Map<number, number>} other @param {"gained" | "lost"} alone */
function column({ index, hits }, other, alone) {
  return h(
    "div",
    { class: "side" },
    h("h4", { dir: "auto", title: index }, index),
    h(
      "ol",
      {},
      hits.map((hit, place) => {
        const to = other.get(place);
        const step = describeMove(place, to, alone);
        return h(
          "li",
          { class: ["side-hit", to === undefined && alone], style: { height: `${ROW_PIXELS}px` } },
          h("span", { class: "place" }, String(place + 1)),
          h("span", { class: "side-title", dir: "auto", title: hit.id }, drawMarked(hit.title || hit.id), hit.detail ? h("span", { class: "hint" }, " · ", drawMarked(hit.detail)) : null),
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
