// Parts of a rule as a form holds them, and back; what is not complete is no part of a rule yet.

/** @typedef {{when: string, pattern: string, alternatives: boolean, context: string, filters: string}} Card */

/** How a query may meet a pattern, in words. */
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

/** A card as a condition, or null where something is missing. @param {Card} card */
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

/** An object with one member set, or without it where it is undefined. @param {any} object @param {string} name @param {any} value */
export function withMember(object, name, value) {
  const { [name]: _, ...rest } = object ?? {};
  if (value === undefined) return rest;
  return name in (object ?? {}) ? { ...object, [name]: value } : { ...rest, [name]: value };
}

/** A list as a member: none where it is empty. @template T @param {T[]} list */
export const listed = (list) => (list.length ? list : undefined);

/** @typedef {{from?: number, until?: number}} Span a time range in Unix seconds; open at an end it does not have */

/** What is wrong with a time range as it is typed, or nothing. @param {Span} span */
export function spanFault({ from, until }) {
  if (from === undefined && until === undefined) return "Set a start or an end, or remove this time.";
  return from !== undefined && until !== undefined && from >= until ? "End must be after start." : "";
}

/** A time range in words. @param {Span} span @param {(seconds: number) => string} say */
export function saySpan({ from, until }, say) {
  if (from === undefined) return until === undefined ? "always" : `until ${say(until)}`;
  return until === undefined ? `from ${say(from)}` : `${say(from)} – ${say(until)}`;
}

/** A rule with one member of its consequence set. @param {any} rule @param {string} name @param {any} value */
export const withConsequence = (rule, name, value) => ({
  ...rule,
  consequence: withMember(rule.consequence, name, value),
});

/** A rule with one parameter set; without any it has no params. @param {any} rule @param {string} name @param {any} value */
export function withParam(rule, name, value) {
  const params = withMember(rule.consequence.params, name, value);
  return withConsequence(rule, "params", Object.keys(params).length ? params : undefined);
}

/** The first plain words a rule is for, to try it on. @param {any} rule */
export function typicalQuery(rule) {
  const patterns = (rule?.conditions ?? []).map((/** @type {any} */ one) => one.pattern ?? "");
  return patterns.find((/** @type {string} */ words) => words && !words.includes("{")) ?? "";
}

/**
 * What somebody made of a value they saw, done to what it is by now: members they did not touch stay.
 * @param {any} seen @param {any} made @param {any} now @returns {any}
 */
export function rebase(seen, made, now) {
  if (![seen, made, now].every(isObject)) return made;
  const names = new Set([...Object.keys(now), ...Object.keys(made)]);
  const members = [...names].map((name) => [
    name,
    JSON.stringify(seen[name]) === JSON.stringify(made[name]) ? now[name] : rebase(seen[name], made[name], now[name]),
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** @param {any} value */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
