// The state of one setting: not set, set, changed or to be reset.

/** @typedef {{name: string, meaning: string, kind: string, choices: string[], default: any, effect: string,
 *   group: string, scope: string, around: string[]}} Row */
/** @typedef {{name: string, how: "set" | "changed" | "reset", before: any, after: any, default?: any}} Change */
/** @typedef {"absent" | "set" | "same" | "new" | "changed" | "reset"} Kind */

/** A value on one line. @param {any} value */
export const brief = (value) => {
  if (value === null || value === undefined) return "none";
  const text = typeof value === "string" ? `"${value}"` : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

/** Describe the default of a setting; for some settings an empty list means all. @param {Row} row */
export const defaultOf = (row) => DEFAULTS[row.name] ?? brief(row.default);

/** Whether the description of a default is a value instead of words. @param {Row} row */
export const isDefaultCode = (row) => !(row.name in DEFAULTS) && row.default !== null;

/** @type {Record<string, string>} */
const DEFAULTS = {
  ranking: "typo, geo, words, filters, proximity, attribute, exact, custom",
  searchableAttributes: "all attributes",
  attributesForFaceting: "no facets",
  customRanking: "none",
  attributesToHighlight: "the searchable attributes",
};

/**
 * @param {Row} row @param {Record<string, any>} value @param {Change | undefined} change
 * @returns {{kind: Kind, text: string}}
 */
export function stateOf(row, value, change) {
  const own = value[row.name];
  if (change?.how === "reset") return { kind: "reset", text: `will be reset, was ${brief(change.before)}` };
  if (change?.how === "set") return { kind: "new", text: "newly set" };
  if (change) return { kind: "changed", text: `changed, was ${brief(change.before)}` };
  if (own === undefined || own === null) return { kind: "absent", text: "not set" };
  return JSON.stringify(own) === JSON.stringify(row.default)
    ? { kind: "same", text: "default" }
    : { kind: "set", text: "set" };
}
