// The entries of ordered settings: `unordered(title)`, `desc(price)`, `searchable(brand)`.

/** Take an entry apart. @param {string} entry @param {string[]} around what may stand around its attribute */
export function readEntry(entry, around) {
  const found = /^(\w+)\((.*)\)$/s.exec(entry.trim());
  return found && around.includes(found[1])
    ? { around: found[1], name: found[2] }
    : { around: "", name: entry.trim() };
}

/** Put an entry together. @param {{around: string, name: string}} parts */
export const writeEntry = ({ around, name }) => (around ? `${around}(${name})` : name);

/** Make an entry of what was typed; where something has to stand around it, the first that may. @param {string} text @param {string[]} around */
export function typedEntry(text, around) {
  const parts = readEntry(text, around);
  if (!parts.name) return "";
  return writeEntry(parts.around || around.includes("") ? parts : { ...parts, around: around[0] ?? "" });
}

/** What an attribute's place in a list means. @param {string} setting @param {{around: string, name: string}} parts */
export function meaningOf(setting, { around, name }) {
  return MEANINGS[setting]?.[around] ?? CRITERIA[name] ?? "";
}

/** @type {Record<string, Record<string, string>>} */
const MEANINGS = {
  searchableAttributes: {
    "": "earlier words count more",
    ordered: "earlier words count more",
    unordered: "anywhere in it is the same",
  },
  attributesForFaceting: {
    "": "counted and filtered by",
    searchable: "its values can be searched",
    filterOnly: "filtered by, never counted",
    afterDistinct: "counted after grouping",
  },
  customRanking: { desc: "more is better", asc: "less is better" },
  ranking: { desc: "sorted, the most first", asc: "sorted, the least first" },
};

/** @type {Record<string, string>} */
const CRITERIA = {
  typo: "fewer typos first",
  geo: "nearer first",
  words: "more of the query's words first",
  filters: "higher scores of filters first",
  proximity: "words closer together first",
  attribute: "better attributes first",
  exact: "more exact words first",
  custom: "the custom ranking",
};
