// The entries of ordered settings: `unordered(title)`, `desc(price)`, `searchable(brand)`.

/** Parse an entry. @param {string} entry @param {string[]} around the allowed modifiers */
export function readEntry(entry, around) {
  const found = /^(\w+)\((.*)\)$/s.exec(entry.trim());
  return found && around.includes(found[1])
    ? { around: found[1], name: found[2] }
    : { around: "", name: entry.trim() };
}

/** Format an entry. @param {{around: string, name: string}} parts */
export const writeEntry = ({ around, name }) => (around ? `${around}(${name})` : name);

/** Parse a typed entry; if a modifier is required, the first one is the default. @param {string} text @param {string[]} around */
export function typedEntry(text, around) {
  const parts = readEntry(text, around);
  if (!parts.name) return "";
  return writeEntry(parts.around || around.includes("") ? parts : { ...parts, around: around[0] ?? "" });
}

/** The modifier that has the effect of none: `ordered(title)` is `title`. */
export const SAME_AS_NONE = "ordered";

/** The name of an entry without a modifier. @param {string} setting */
export const nameWithout = (setting) => WITHOUT[setting] ?? "none";

/** @type {Record<string, string>} */
const WITHOUT = { searchableAttributes: "ordered", attributesForFaceting: "counted" };

/** Describe the effect of an entry. @param {string} setting @param {{around: string, name: string}} parts */
export function meaningOf(setting, { around, name }) {
  return MEANINGS[setting]?.[around] ?? CRITERIA[name] ?? "";
}

/** @type {Record<string, Record<string, string>>} */
const MEANINGS = {
  searchableAttributes: {
    "": "earlier words rank higher",
    ordered: "earlier words rank higher",
    unordered: "the position does not count",
  },
  attributesForFaceting: {
    "": "counted, filterable",
    searchable: "searchable values",
    filterOnly: "filterable, not counted",
    afterDistinct: "counted after grouping",
  },
  customRanking: { desc: "higher is better", asc: "lower is better" },
  ranking: { desc: "sorted, highest first", asc: "sorted, lowest first" },
};

/** @type {Record<string, string>} */
const CRITERIA = {
  typo: "fewer typos first",
  geo: "nearer first",
  words: "more of the query's words first",
  filters: "higher filter scores first",
  proximity: "words closer together first",
  attribute: "better attributes first",
  exact: "more exact words first",
  custom: "the custom ranking",
};
