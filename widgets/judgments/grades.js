// Grades: what a hit was given, and which key gives what.

/** @typedef {{id: string, title: string, lines: [string, string][], more: number, image: string,
 *   rating: number | null, unrateable: boolean | null, note: string | null,
 *   found: [string, number][], others: string[]}} Hit */

/** Whether a hit has been dealt with. @param {Hit} hit */
export const isJudged = (hit) => hit.rating !== null || Boolean(hit.unrateable);

/** What a hit was given, in words. @param {Hit} hit @param {Record<string, string>} labels */
export function spoken(hit, labels) {
  if (hit.unrateable) return "unrateable";
  if (hit.rating === null) return "not judged";
  const label = labels[String(hit.rating)];
  return label ? `${hit.rating}, ${label}` : String(hit.rating);
}

/** The next hit that is not judged, after one, else from the start; -1 where all are. @param {Hit[]} hits @param {number} at */
export function nextOpen(hits, at) {
  const after = hits.findIndex((hit, place) => place > at && !isJudged(hit));
  return after >= 0 ? after : hits.findIndex((hit) => !isJudged(hit));
}

/** What a key means for the hit it is pressed on: a rating, `unrateable`, `clear`, or nothing. @param {string} key @param {Record<string, string>} labels */
export function meaningOf(key, labels) {
  if (key in labels) return { rating: Number(key), unrateable: false };
  if (key === "u") return { rating: null, unrateable: true };
  if (key === "Backspace" || key === "Delete") return { rating: null, unrateable: false };
  return null;
}

/** How far all is. @param {{done: number, total: number}[]} questions */
export function progressOf(questions) {
  const sum = (/** @type {"done" | "total"} */ name) => questions.reduce((so, one) => so + one[name], 0);
  const ready = questions.filter(({ done, total }) => done === total).length;
  return { done: sum("done"), total: sum("total"), ready };
}
