// Synonyms of all types as rows of one table.

/** @typedef {{id: string, type: string, head: string | null, words: string[]}} Row */

/** The types, each with the members that have the replaced word and the replacements. */
export const KINDS = /** @type {{name: string, title: string, meaning: string, members: [string | null, string]}[]} */ ([
  { name: "synonym", title: "⇄ two-way", meaning: "each word also finds all others", members: [null, "synonyms"] },
  {
    name: "onewaysynonym",
    title: "→ one-way",
    meaning: "the first word also finds the others, but not vice versa",
    members: ["input", "synonyms"],
  },
  {
    name: "altcorrection1",
    title: "≈ 1 typo",
    meaning: "found as if mistyped once",
    members: ["word", "corrections"],
  },
  {
    name: "altcorrection2",
    title: "≈ 2 typos",
    meaning: "found as if mistyped twice",
    members: ["word", "corrections"],
  },
  {
    name: "placeholder",
    title: "<…> placeholder",
    meaning: "a token in records that matches any of the words",
    members: ["placeholder", "replacements"],
  },
]);

/** @param {string} type */
const membersOf = (type) => (KINDS.find(({ name }) => name === type) ?? KINDS[0]).members;

/** @param {any} synonym @returns {Row} */
export function toRow(synonym) {
  const [head, words] = membersOf(synonym.type);
  return {
    id: synonym.objectID,
    type: synonym.type,
    head: head ? (synonym[head] ?? "") : null,
    words: synonym[words] ?? [],
  };
}

/** A row in the API's format; if the type has changed, the words are kept. @param {Row} row */
export function fromRow({ id, type, head, words }) {
  const [first, rest] = membersOf(type);
  if (!first) return { objectID: id, type, [rest]: head ? [head, ...words] : words };
  const [replaced, replacements] = head === null ? [words[0] ?? "", words.slice(1)] : [head, words];
  return { objectID: id, type, [first]: replaced, [rest]: replacements };
}

/** Describe a row in one line. @param {Row} row */
export function describeRow({ type, head, words }) {
  const title = KINDS.find(({ name }) => name === type)?.title ?? type;
  return `${title}: ${head === null ? "" : `${head} → `}${words.join(", ")}`;
}
