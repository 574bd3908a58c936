// `helpers.docsearch`: records of documentation pages, one for each heading and the text below it.

import { inOrder } from "./tree.js";
import { readable, saidBy } from "./element_text.js";

const LEVELS = ["lvl0", "lvl1", "lvl2", "lvl3", "lvl4", "lvl5", "lvl6"];
const OWN = new Set([...LEVELS, "content", "pageRank"]);
// What no `meta` element of a page can set.
const FIXED = new Set(["objectID", "__proto__"]);

/** @typedef {Record<string, string | null>} Hierarchy */
/** @typedef {{ type: string, content: string | null, hierarchy: Hierarchy, anchor: string }} Part */

/** @param {{ $: any, url: any }} page
 * @param {{ recordProps?: Record<string, any>, selectors?: Record<string, any>, aggregateContent?: boolean,
 *   indexHeadings?: boolean | { from: number, to: number }, recordVersion?: string }} options */
export function docsearch({ $, url }, options) {
  const { aggregateContent = true, indexHeadings = true, recordVersion = "v2" } = options;
  const wanted = options.recordProps ?? options.selectors;
  if (!wanted) throw new TypeError("docsearch needs recordProps: {lvl0, lvl1, content, ...}");
  const indexed = (/** @type {number} */ level) => (
    typeof indexHeadings === "object" ? level >= indexHeadings.from && level <= indexHeadings.to : indexHeadings
  );
  const parts = partsOf($, wanted, aggregateContent).filter(
    ({ type }) => type === "content" || indexed(Number(type.slice(3))),
  );
  const shared = sharedOf($, wanted);
  return parts.map((part, at) => recordOf(part, at, { url, shared, recordVersion, rank: rankOf($, wanted) }));
}

/** Normalize a selector option: one selector, several alternatives, or selectors with a default value.
 * @param {any} $ @param {any} prop @returns {any[]} */
function nodesFor($, prop) {
  const selectors = typeof prop === "object" && !Array.isArray(prop) ? prop?.selectors : prop;
  for (const selector of [selectors ?? []].flat()) {
    const found = selector ? $(selector).toArray() : [];
    if (found.length) return found;
  }
  return [];
}

/** @param {any} $ @param {Record<string, any>} wanted @param {boolean} aggregate @returns {Part[]} */
function partsOf($, wanted, aggregate) {
  const levels = new Map();
  for (const level of [1, 2, 3, 4, 5, 6]) {
    for (const node of nodesFor($, wanted[LEVELS[level]])) if (!levels.has(node)) levels.set(node, level);
  }
  const contents = new Set(nodesFor($, wanted.content));
  const state = { hierarchy: { ...emptyHierarchy(), lvl0: firstLevel($, wanted.lvl0) }, anchor: "" };
  /** @type {Part[]} */
  const parts = [];
  for (const node of inOrder([...levels.keys(), ...contents])) {
    if (levels.has(node)) parts.push(headingPart(node, levels.get(node), state));
    else if (!within(node, contents)) addContent(parts, readable(node), state, aggregate);
  }
  return parts;
}

/** @returns {Hierarchy} */
const emptyHierarchy = () => Object.fromEntries(LEVELS.map((level) => [level, null]));

/** @param {any} $ @param {any} prop @returns {string | null} */
function firstLevel($, prop) {
  const found = nodesFor($, prop).map(saidBy).find(Boolean);
  return found ?? prop?.defaultValue ?? null;
}

/** @param {any} node @param {number} level @param {{ hierarchy: Hierarchy, anchor: string }} state @returns {Part} */
function headingPart(node, level, state) {
  const said = LEVELS.map((name, at) => [name, at < level ? state.hierarchy[name] : null]);
  state.hierarchy = { ...Object.fromEntries(said), [LEVELS[level]]: saidBy(node) };
  state.anchor = anchorOf(node) ?? state.anchor;
  return { type: LEVELS[level], content: null, hierarchy: state.hierarchy, anchor: state.anchor };
}

/** @param {Part[]} parts @param {string} content
 * @param {{ hierarchy: Hierarchy, anchor: string }} state @param {boolean} aggregate */
function addContent(parts, content, state, aggregate) {
  const last = parts[parts.length - 1];
  if (!content) return;
  if (aggregate && last?.type === "content") last.content += `\n${content}`;
  else parts.push({ type: "content", content, hierarchy: state.hierarchy, anchor: state.anchor });
}

/** @param {any} node @param {Set<any>} others */
function within(node, others) {
  for (let at = node.parent; at; at = at.parent) if (others.has(at)) return true;
  return false;
}

/** The anchor of a heading: its own id or name, one inside it, or that of its section.
 * @param {any} node @returns {string | null} */
function anchorOf(node) {
  const named = (/** @type {any} */ one) => one.attribs?.id || one.attribs?.name || null;
  if (node.name === "title" || node.name === "meta") return "";
  const inner = (/** @type {any} */ one) => named(one) ?? first(one.childNodes, inner);
  const own = inner(node);
  if (own) return own;
  const section = node.parent;
  const leads = section?.name === "section" && section.children.find((/** @type {any} */ one) => one.attribs) === node;
  return leads ? named(section) : null;
}

/** @param {any[]} nodes @param {(node: any) => string | null} read @returns {string | null} */
function first(nodes, read) {
  for (const node of nodes) {
    const found = read(node);
    if (found) return found;
  }
  return null;
}

/** The attributes that all records of a page share: language, version, those in the page's `meta` elements
 * and those in the options.
 * @param {any} $ @param {Record<string, any>} wanted */
function sharedOf($, wanted) {
  const said = metaOf($);
  const lang = $("html").attr("lang") ?? said.language ?? "";
  const own = Object.entries(wanted).filter(([name]) => !OWN.has(name)).map(([name, prop]) => {
    const texts = nodesFor($, prop).map(saidBy).filter(Boolean);
    return [name, texts.length > 1 ? texts : texts[0] ?? prop?.defaultValue ?? null];
  });
  return { lang, language: lang, version: [], tags: [], ...said, ...Object.fromEntries(own) };
}

/** The contents of `<meta name="docsearch:NAME">`: `version` is a list, others may be JSON.
 * @param {any} $ @returns {Record<string, any>} */
function metaOf($) {
  const elements = $('meta[name^="docsearch:"]').toArray();
  return Object.fromEntries(elements.flatMap((/** @type {any} */ { attribs }) => {
    const name = attribs.name.slice("docsearch:".length).trim();
    const content = (attribs.content ?? "").trim();
    if (!name || !content || FIXED.has(name)) return [];
    return [[name, name === "version" ? content.split(",").map(trimmed).filter(Boolean) : metaValue(content)]];
  }));
}

const trimmed = (/** @type {string} */ text) => text.trim();

/** @param {string} content */
function metaValue(content) {
  try {
    return /^[[{]/.test(content) ? JSON.parse(content) : content;
  } catch {
    return content;
  }
}

/** @param {any} $ @param {Record<string, any>} wanted */
function rankOf($, { pageRank }) {
  const said = Number(pageRank);
  const found = Number.isNaN(said) ? Number(nodesFor($, pageRank).map(saidBy)[0]) : said;
  return Number.isFinite(found) ? found : 0;
}

/** @param {Part} part @param {number} position
 * @param {{ url: any, shared: Record<string, any>, recordVersion: string, rank: number }} page */
function recordOf({ type, content, hierarchy, anchor }, position, { url, shared, recordVersion, rank }) {
  const plain = url.href.replace(/#[^]*$/, "");
  const level = type === "content" ? 0 : 100 - 10 * Number(type.slice(3));
  return {
    objectID: `${position}-${plain}`,
    ...shared,
    url: anchor ? `${plain}#${anchor}` : plain,
    url_without_variables: plain.replace(/\?[^]*$/, ""),
    url_without_anchor: plain,
    anchor,
    content,
    content_camel: content,
    type,
    no_variables: !url.search,
    weight: { pageRank: rank, level, position },
    hierarchy,
    ...(recordVersion === "v2" ? radios(type, content, hierarchy) : {}),
    recordVersion,
  };
}

/** The additional attributes of version 2 records: the heading that a record belongs to.
 * @param {string} type @param {string | null} content @param {Hierarchy} hierarchy */
function radios(type, content, hierarchy) {
  const about = Object.fromEntries(LEVELS.map((level) => [level, content === null && level === type ? hierarchy[level] : null]));
  return { hierarchy_camel: [hierarchy], hierarchy_radio: about, hierarchy_radio_camel: about };
}
