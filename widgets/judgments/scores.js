// The scores beside the hits: of this query, and of all queries, with a line of their history.

import { fill, h } from "../kit/dom.js";

/** @typedef {{variant: string, mean: number | null, low: number | null, high: number | null, upper: number | null,
 *   judged: number | null, queries: number, without_hits: number, without_relevant: number}} VariantScore */
/** @typedef {{metric: string, metrics: string[], whole: VariantScore[], each: VariantScore[][], history: (number | null)[][]}} Scores */

const SVG = "http://www.w3.org/2000/svg";
const [LINE_WIDTH, LINE_HEIGHT] = [120, 26]; // pixels

/** @param {number | null} value */
export const writeScore = (value) => (value === null ? "–" : value.toFixed(3));

/** @param {number | null} share */
const writeShare = (share) => (share === null ? "no hits" : `${Math.round(share * 100)} % judged`);

/** Describe what limits a score of one query. @param {VariantScore} score */
export function describeQueryScore(score) {
  if (score.without_hits) return "no hits";
  const judged = writeShare(score.judged);
  if (score.mean === null) return score.judged ? `${judged}, no relevant record yet` : judged;
  // Unjudged hits count as irrelevant; the score can only rise.
  return score.judged !== 1 && score.upper !== null && score.upper > score.mean ? `${judged}, up to ${writeScore(score.upper)}` : judged;
}

/** Describe the uncertainty of the score of all queries. @param {VariantScore} score @param {number} total */
export function describeSetScore(score, total) {
  const interval = score.low === null || score.high === null ? "" : `95 % interval ${writeScore(score.low)} to ${writeScore(score.high)}`;
  const used = score.queries === total ? "" : `${score.queries} of ${total} queries have a score`;
  return [interval, score.judged === null ? "" : writeShare(score.judged), used].filter(Boolean).join(", ");
}

/**
 * The points of a line of scores in a box; unknown scores are left out.
 * @param {(number | null)[]} values @param {number} width @param {number} height
 */
export function linePoints(values, width, height) {
  const known = values.flatMap((value, place) => (value === null ? [] : [{ value, place }]));
  const low = Math.min(...known.map(({ value }) => value));
  const range = Math.max(...known.map(({ value }) => value)) - low;
  return known.map(({ value, place }) => [
    (place / Math.max(1, values.length - 1)) * width,
    range ? height - ((value - low) / range) * height : height / 2,
  ]);
}

/** @param {import("../types").Model} model */
export function scorePanel(model) {
  /** @type {Scores | null} */
  let scores = null;
  let place = 0;
  const metric = h("select", {
    class: "input",
    "aria-label": "Metric",
    on: {
      change: () => {
        model.set("metric", metric.value);
        model.save_changes();
      },
    },
  });
  const ofQuery = h("div", { class: "score" });
  const wholeSet = h("div", { class: "score" });
  const el = h("div", { class: "scores", role: "group", "aria-label": "Scores", hidden: true }, ofQuery, wholeSet, metric);

  function draw() {
    const each = scores?.each?.[place];
    el.hidden = !scores?.whole || !each;
    if (!scores || !each) return;
    const total = scores.each.length;
    const many = scores.whole.length > 1;
    fill(
      ofQuery,
      h("span", { class: "score-name" }, "This query"),
      each.map((score) => drawScore(score, describeQueryScore(score), many)),
    );
    fill(
      wholeSet,
      h("span", { class: "score-name" }, total === 1 ? "All queries (1)" : `All ${total.toLocaleString()} queries`),
      scores.whole.map((score, at) => [
        drawScore(score, describeSetScore(score, total), many),
        drawLine(scores?.history.map((point) => point[at] ?? null) ?? []),
      ]).flat(),
    );
    if (metric.children.length !== scores.metrics.length) fill(metric, scores.metrics.map((name) => h("option", { value: name }, name)));
    metric.value = scores.metric;
  }

  return {
    el,
    /** @param {Scores} next */
    show(next) {
      scores = next?.whole ? next : null;
      draw();
    },
    /** @param {number} at the place of the open query */
    turn(at) {
      place = at;
      draw();
    },
  };
}

/** @param {VariantScore} score @param {string} about @param {boolean} named */
function drawScore(score, about, named) {
  return h(
    "span",
    { class: "score-value", title: about },
    h("b", {}, writeScore(score.mean)),
    h("span", { class: "hint" }, named ? h("bdi", {}, score.variant) : null, named ? ": " : null, about),
  );
}

/** Draw the history of a score, from its lowest to its highest value. @param {(number | null)[]} values */
function drawLine(values) {
  const points = linePoints(values, LINE_WIDTH, LINE_HEIGHT);
  if (points.length < 2) return null;
  const known = values.filter((value) => value !== null);
  const svg = document.createElementNS(SVG, "svg");
  const text = `Scores while judging: first ${writeScore(known[0] ?? null)}, now ${writeScore(known[known.length - 1] ?? null)}`;
  for (const [name, value] of Object.entries({
    class: "svc-score-line",
    viewBox: `-3 -3 ${LINE_WIDTH + 6} ${LINE_HEIGHT + 6}`,
    width: LINE_WIDTH,
    height: LINE_HEIGHT,
    role: "img",
    "aria-label": text,
  }))
    svg.setAttribute(name, String(value));
  const title = document.createElementNS(SVG, "title");
  title.textContent = text;
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", points.map((point) => point.map((at) => at.toFixed(1)).join(",")).join(" "));
  const end = document.createElementNS(SVG, "circle");
  const [x, y] = points[points.length - 1];
  for (const [name, value] of Object.entries({ cx: x, cy: y, r: 2.5 })) end.setAttribute(name, value.toFixed(1));
  svg.append(title, line, end);
  return svg;
}
