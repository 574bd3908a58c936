// Synonyms as rows of one table, whatever their type.

/** @typedef {{id: string, type: string, head: string | null, words: string[]}} Row */

/** The types, and where each keeps the word that is replaced and the words that stand for it. */
export const KINDS = /** @type {{name: string, title: string, meaning: string, members: [string | null, string]}[]} */ ([
  { name: "synonym", title: "⇄ two-way", meaning: "each word stands for every other", members: [null, "synonyms"] },
  {
    name: "onewaysynonym",
    title: "→ one-way",
    meaning: "a search for the first also finds the others, not the other way round",
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
    meaning: "a token in records for which any of the words will do",
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

/** A row as the API takes it; of another type it keeps its words. @param {Row} row */
export function fromRow({ id, type, head, words }) {
  const [first, rest] = membersOf(type);
  if (!first) return { objectID: id, type, [rest]: head ? [head, ...words] : words };
  const [taken, left] = head === null ? [words[0] ?? "", words.slice(1)] : [head, words];
  return { objectID: id, type, [first]: taken, [rest]: left };
}

/** A row on one line. @param {Row} row */
export function say({ type, head, words }) {
  const title = KINDS.find(({ name }) => name === type)?.title ?? type;
  return `${title}: ${head === null ? "" : `${head} → `}${words.join(", ")}`;
}
