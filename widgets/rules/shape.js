// Conversion between a rule and the values of its form.

import { toLocal, zone } from "../kit/moment.js";

/** @typedef {{when: string, pattern: string, alternatives: boolean, context: string, filters: string}} Card */

/** The anchorings of a pattern, and their labels. */
export const WHEN = /** @type {[string, string][]} */ ([
  ["any", "any query"],
  ["is", "query is"],
  ["contains", "query contains"],
  ["startsWith", "query starts with"],
  ["endsWith", "query ends with"],
  ["empty", "query is empty"],
]);

/** @param {any} condition @returns {Card} */
export function toCard(condition) {
  const { pattern, anchoring, alternatives = false, context = "", filters = "" } = condition;
  const when = pattern === undefined ? "any" : pattern === "" ? "empty" : anchoring;
  return { when, pattern: pattern ?? "", alternatives, context, filters };
}

/** Convert form values to a condition; null if they are incomplete. @param {Card} card */
export function fromCard({ when, pattern, alternatives, context, filters }) {
  const words = pattern.trim();
  if (!["any", "empty"].includes(when) && !words) return null;
  const more = { ...(context && { context }), ...(filters.trim() && { filters: filters.trim() }) };
  if (when === "any") return context || filters.trim() ? more : null;
  if (when === "empty") return { pattern: "", anchoring: "is", ...more };
  return { pattern: words, anchoring: when, ...(alternatives && { alternatives }), ...more };
}

/** A pin of one record or several. @param {string[]} ids @param {number} position from 0 */
export function pinOf(ids, position) {
  return ids.length === 1 ? { objectID: ids[0], position } : { objectIDs: ids, position };
}

/** @param {any} pin @returns {string[]} */
export const idsOf = (pin) => pin.objectIDs ?? [pin.objectID];

/** Set one member of an object, or remove it if the value is undefined. @param {any} object @param {string} name @param {any} value */
export function withMember(object, name, value) {
  const { [name]: _, ...rest } = object ?? {};
  if (value === undefined) return rest;
  return name in (object ?? {}) ? { ...object, [name]: value } : { ...rest, [name]: value };
}

/** A list, or undefined if it is empty. @template T @param {T[]} list */
export const listed = (list) => (list.length ? list : undefined);

/** @typedef {{from?: number, until?: number}} Span a time range in Unix seconds; open at a missing end */

/** Describe the error of a time range; empty if it is valid. @param {Span} span */
export function findSpanProblem({ from, until }) {
  if (from === undefined && until === undefined) return "Set a start or an end, or remove this time range.";
  return from !== undefined && until !== undefined && from >= until ? "End must be after start." : "";
}

/** Describe a time range. @param {Span} span @param {(seconds: number) => string} format */
export function describeSpan({ from, until }, format) {
  if (from === undefined) return until === undefined ? "always" : `until ${format(until)}`;
  return until === undefined ? `from ${format(from)}` : `${format(from)} – ${format(until)}`;
}

/** Describe a schedule, in the browser's time zone. @param {Span[]} spans */
export const describeSpans = (spans) =>
  spans.map((span) => describeSpan(span, (at) => toLocal(at).replace("T", " "))).join(", ") + ` (${zone()})`;

/** A rule with one member of its consequence set. @param {any} rule @param {string} name @param {any} value */
export const withConsequence = (rule, name, value) => ({
  ...rule,
  consequence: withMember(rule.consequence, name, value),
});

/** A rule with one parameter set; `params` is removed if it is empty. @param {any} rule @param {string} name @param {any} value */
export function withParam(rule, name, value) {
  const params = withMember(rule.consequence.params, name, value);
  return withConsequence(rule, "params", Object.keys(params).length ? params : undefined);
}

/** @typedef {{old: string[], removed: string[], replaced: any[]}} QueryWords `old`: those of `removed` in the member `remove` */

/** The words that a query edit removes, and its replacements. @param {any} query @returns {QueryWords} */
export function wordsOf(query) {
  const { remove: old = [], edits = [] } = query && typeof query === "object" ? query : {};
  const ofType = (/** @type {string} */ type) => edits.filter((/** @type {any} */ edit) => edit.type === type);
  return { old, removed: [...old, ...ofType("remove").map((/** @type {any} */ edit) => edit.delete)], replaced: ofType("replace") };
}

/**
 * A query edit that removes words and has these replacements; undefined if it has none. Both forms of
 * a removal are preserved; a word that is added becomes an edit.
 * @param {QueryWords} now @param {string[]} removed @param {any[]} replaced
 */
export function withWords({ old }, removed, replaced) {
  const remove = old.filter((word) => removed.includes(word));
  const added = removed.filter((word) => !old.includes(word)).map((word) => ({ type: "remove", delete: word }));
  const edits = [...added, ...replaced];
  if (!remove.length && !edits.length) return undefined;
  return { ...(remove.length && { remove }), ...(edits.length && { edits }) };
}

/** The first pattern without placeholders, to try the rule on. @param {any} rule */
export function typicalQuery(rule) {
  const patterns = (rule?.conditions ?? []).map((/** @type {any} */ one) => one.pattern ?? "");
  return patterns.find((/** @type {string} */ words) => words && !words.includes("{")) ?? "";
}

/**
 * A function that returns a list with one item replaced, or removed if the new item is undefined. The
 * item is found by identity, because other items may be added, moved or removed meanwhile; a list that
 * was read again has it at its place. An item without a place is appended.
 * @template T @param {T | undefined} item @param {number} [place]
 * @returns {(list: T[] | undefined, next: T | undefined) => T[] | undefined}
 */
export function listItem(item, place = Infinity) {
  return (list = [], next) => {
    const found = item === undefined ? -1 : list.indexOf(item);
    const at = found < 0 ? place : found;
    item = next;
    if (next === undefined) {
      place = Infinity; // what stands there now is another item
      return listed(list.toSpliced(at, 1));
    }
    return at < list.length ? list.with(at, next) : [...list, next];
  };
}
