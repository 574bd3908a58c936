// The rows of the explorer's tree, from what the kernel answered.

/** @typedef {import("../types").Row} Row */
/** @typedef {import("../types").IndexEntry} IndexEntry */
/** @typedef {import("../types").IndexContent} IndexContent */
/** @typedef {import("../types").CrawlerEntry} CrawlerEntry */

/**
 * What the explorer knows: whether it has `read` the indices, `contents` of indices that were opened
 * (an error is text), `most` pending tasks seen since an index was last idle.
 * @typedef {{read: boolean, indices: IndexEntry[], contents: Map<string, IndexContent | string>, most: Map<string, number>,
 *   crawlers: CrawlerEntry[] | string | null, open: Set<string>, filter: string}} Known
 */

const CRAWLERS = "crawlers";
/** The next step where there is no crawler. @type {Row} */
const NEW_CRAWLER = {
  key: "crawlers:new",
  level: 2,
  kind: "action",
  label: "New crawler…",
  hint: "No crawler exists yet. Draft one from the address of its first page.",
};

/** @param {Known} known @returns {Row[]} */
export function rowsOf(known) {
  const { indices, filter } = known;
  const wanted = filter.trim().toLowerCase();
  /** @type {Map<string, IndexEntry[]>} */
  const replicas = new Map();
  const names = new Set(indices.map((entry) => entry.name));
  const primaries = indices.filter((entry) => {
    if (!entry.primary || !names.has(entry.primary)) return true;
    replicas.set(entry.primary, [...(replicas.get(entry.primary) ?? []), entry]);
    return false;
  });
  const rows = primaries.flatMap((entry) => {
    return indexRows(entry, known, 1, replicas.get(entry.name) ?? [], wanted);
  });
  return [...rows, ...crawlerRows(known, wanted)];
}

/**
 * @param {IndexEntry} entry @param {Known} known @param {number} level @param {IndexEntry[]} replicas
 * @param {string} wanted @returns {Row[]}
 */
function indexRows(entry, known, level, replicas, wanted) {
  const matching = replicas.filter((one) => one.name.toLowerCase().includes(wanted));
  const own = entry.name.toLowerCase().includes(wanted);
  const content = known.contents.get(entry.name);
  if (!own && !matching.length && !hasAttribute(content, wanted)) return [];
  const key = `index:${entry.name}`;
  const open = known.open.has(key);
  const most = known.most.get(entry.name) ?? entry.pending;
  const pending = entry.pending ? ` · ${entry.pending} pending` : "";
  const row = /** @type {Row} */ ({
    key,
    level,
    kind: "index",
    label: entry.name,
    detail: `${format(entry.records)}${pending}`,
    hint: describe(entry),
    name: entry.name,
    index: entry.name,
    open,
    ...(entry.pending ? { progress: 1 - entry.pending / Math.max(most, entry.pending) } : {}),
  });
  const inside = open ? contentRows(entry.name, content, known, level + 1) : [];
  const shown = (own ? replicas : matching).flatMap((one) => indexRows(one, known, level + 1, [], own ? "" : wanted));
  return [row, ...inside, ...(open || (wanted && !own) ? shown : [])];
}

/** @param {IndexContent | string | undefined} content @param {string} wanted */
function hasAttribute(content, wanted) {
  if (!content || typeof content === "string") return false;
  return (content.attributes.value ?? []).some(({ name }) => name.toLowerCase().includes(wanted));
}

/** @param {IndexEntry} entry */
function describe(entry) {
  const lines = [`${entry.name}: ${format(entry.records)} records, ${format(entry.bytes)} bytes`];
  if (entry.primary) lines.push(`replica of ${entry.primary}`);
  if (entry.pending) lines.push(`${entry.pending} tasks pending`);
  return lines.join("; ");
}

/** @param {number} number */
const format = (number) => number.toLocaleString("en");

/**
 * @param {string} index @param {IndexContent | string | undefined} content @param {Known} known
 * @param {number} level @returns {Row[]}
 */
function contentRows(index, content, known, level) {
  const at = `in:${index}`;
  if (content === undefined) return [note(`${at}:wait`, level, index, "Reading…")];
  if (typeof content === "string") return [note(`${at}:error`, level, index, content)];
  return [
    ...group("attributes", "Attributes", content.attributes, (item, key) => [
      {
        key,
        level: level + 1,
        kind: "attribute",
        label: item.name,
        detail: item.example ? `${item.kind} · ${item.example}` : item.kind,
        hint: `${item.name}: ${item.kind}, for example ${item.example}`,
        name: item.name,
        index,
      },
    ]),
    ...group("facets", "Facets", content.facets, (item, key) => facetRows(item, key)),
    ...group("settings", "Changed settings", content.settings, (item, key) => [
      {
        key,
        level: level + 1,
        kind: "setting",
        label: item.name,
        detail: item.value,
        hint: `${item.name}: ${item.value}`,
        name: item.name,
        index,
      },
    ]),
    ...["Synonyms", "Rules"].map((label) => {
      const part = label === "Rules" ? content.rules : content.synonyms;
      const detail = part.error ?? format(part.value ?? 0);
      return /** @type {Row} */ ({ key: `${at}:${label}`, level, kind: "fact", label, detail, hint: detail, index });
    }),
  ];

  /**
   * @template T
   * @param {string} name @param {string} label @param {import("../types").Part<T[]>} part
   * @param {(item: T, key: string) => Row[]} draw @returns {Row[]}
   */
  function group(name, label, part, draw) {
    const key = `${at}:${name}`;
    if (part.error) return [{ key, level, kind: "fact", label, detail: part.error, hint: part.error, index }];
    const items = part.value ?? [];
    const open = known.open.has(key);
    /** @type {Row} */
    const head = { key, level, kind: "group", label, detail: String(items.length), index, open };
    if (!items.length) delete head.open;
    return [head, ...(open ? items.flatMap((item, place) => draw(item, `${key}:${place}`)) : [])];
  }

  /** @param {{name: string, values: [string, number][]}} facet @param {string} key @returns {Row[]} */
  function facetRows(facet, key) {
    const open = known.open.has(key);
    /** @type {Row} */
    const head = { key, level: level + 1, kind: "facet", label: facet.name, name: facet.name, index, open };
    const values = facet.values.map(([value, count], place) => ({
      key: `${key}:${place}`,
      level: level + 2,
      kind: /** @type {"value"} */ ("value"),
      label: value,
      detail: format(count),
      name: value,
      index,
    }));
    return [head, ...(open ? values : [])];
  }
}

/** @param {Known} known @param {string} wanted @returns {Row[]} */
function crawlerRows({ crawlers, open }, wanted) {
  /** @type {Row} */
  const head = { key: CRAWLERS, level: 1, kind: "group", label: "Crawlers", open: open.has(CRAWLERS) };
  if (Array.isArray(crawlers)) head.detail = String(crawlers.length);
  if (!head.open) return wanted ? [] : [head];
  if (crawlers === null) return [head, note("crawlers:wait", 2, "", "Reading…")];
  if (typeof crawlers === "string") return [head, note("crawlers:error", 2, "", crawlers)];
  const found = crawlers.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (wanted && !found.length) return [];
  /** @type {Row[]} */
  const rows = found.map((crawler) => ({
    key: `crawler:${crawler.id}`,
    level: 2,
    kind: /** @type {"crawler"} */ ("crawler"),
    label: crawler.name,
    detail: crawler.state,
    hint: `${crawler.name}: ${crawler.state}, ${crawler.lastRun ? `last run ended ${crawler.lastRun}` : "no run yet"}`,
    name: crawler.name,
  }));
  if (!crawlers.length) rows.push(NEW_CRAWLER);
  return [head, ...rows];
}

/** @param {string} key @param {number} level @param {string} index @param {string} label @returns {Row} */
function note(key, level, index, label) {
  return { key, level, kind: "note", label, hint: label, index };
}
