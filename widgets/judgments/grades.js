// Grades: the judgment of a hit, and the meaning of keys.

/** @typedef {import("../kit/hit_card.js").Hit & {rating: number | null, unrateable: boolean | null, note: string | null, changed?: boolean,
 *   found: [string, number][], others: string[]}} Hit */

/** Whether a hit is rated or unrateable. @param {Hit} hit */
export const isJudged = (hit) => hit.rating !== null || Boolean(hit.unrateable);

/** Describe the judgment of a hit. @param {Hit} hit @param {Record<string, string>} labels */
export function describeJudgment(hit, labels) {
  if (hit.unrateable) return "unrateable";
  if (hit.rating === null) return "not judged";
  const label = labels[String(hit.rating)];
  return label ? `${hit.rating}, ${label}` : String(hit.rating);
}

/** The place of the next unjudged hit after one, else of the first; -1 if all are judged. @param {Hit[]} hits @param {number} at */
export function nextOpen(hits, at) {
  const after = hits.findIndex((hit, place) => place > at && !isJudged(hit));
  return after >= 0 ? after : hits.findIndex((hit) => !isJudged(hit));
}

/** The judgment that a key gives: a rating, unrateable, no judgment, or null for other keys. @param {string} key @param {Record<string, string>} labels */
export function meaningOf(key, labels) {
  if (key in labels) return { rating: Number(key), unrateable: false };
  if (key === "u") return { rating: null, unrateable: true };
  if (key === "Backspace" || key === "Delete") return { rating: null, unrateable: false };
  return null;
}

/** The progress over all queries; those without hits are neither done nor open. @param {{done: number, total: number}[]} questions */
export function progressOf(questions) {
  const sum = (/** @type {"done" | "total"} */ name) => questions.reduce((so, one) => so + one[name], 0);
  const ready = questions.filter(({ done, total }) => total > 0 && done === total).length;
  return { done: sum("done"), total: sum("total"), ready, empty: questions.filter(({ total }) => !total).length };
}
