// Suggestions for the form of a rule (facets, values, contexts, tags, indices), and titles of records.

import { fill, h } from "../kit/dom.js";
import { plainText } from "../kit/highlight.js";

/** @typedef {ReturnType<typeof ideas>} Ideas */
/** @typedef {{facets: string[], filters: string[], ranges: string[], indices: string[]}} Found */

/** Splits a filter before the condition that is being typed. */
const LAST_CONDITION = /^(.*(?:\s(?:AND|OR)\s+|\bNOT\s+|\()\s*)?(.*)$/is;

/** Complete the condition that is being typed. @param {string} text @param {string[]} filters */
export function completeFilter(text, filters) {
  const [, before = "", part = ""] = LAST_CONDITION.exec(text) ?? [];
  const typed = part.trim().toLowerCase();
  return filters.filter((filter) => filter.toLowerCase().includes(typed)).map((filter) => before + filter);
}

/** All contexts and tags of rules. @param {any[]} rules */
export function namesOf(rules) {
  const contexts = rules.flatMap((rule) => (rule.conditions ?? []).map((/** @type {any} */ one) => one.context));
  const tags = rules.flatMap((rule) => rule.tags ?? []);
  const [known, own] = [contexts, tags].map((names) => [...new Set(names.filter(Boolean))].sort());
  return { contexts: known, tags: own };
}

/**
 * The suggestions of one editor; those of the service are requested once.
 * @param {import("../kit/frame.js").Frame} view
 */
export function ideas(view) {
  /** @type {Found} */
  let found = { facets: [], filters: [], ranges: [], indices: [] };
  let requested = false;

  // Without an answer there are no suggestions; that is not an error.
  async function ask() {
    if (requested) return;
    requested = true;
    found = await view.link.call("suggest").catch(() => ((requested = false), found));
  }

  /** @type {Map<string, Promise<string | undefined>>} */
  const titles = new Map();

  /** Request the titles that have not been requested yet, in one call. @param {string[]} ids */
  function read(ids) {
    const unknown = ids.filter((id) => !titles.has(id));
    if (!unknown.length) return;
    const answer = view.link.call("titles", { ids: unknown });
    for (const id of unknown) {
      const title = answer.then((found) => (id in found ? plainText(found[id]) || id : undefined));
      titles.set(id, title);
      title.catch(() => titles.delete(id));
    }
  }

  const names = () => namesOf(view.value() ?? []);
  return {
    ask,
    /** Draw the titles of records below their objectIDs. @param {string[]} ids */
    titles(ids) {
      const el = h("p", { class: ["hint", "titles"] });
      if (!ids.length) return el;
      read(ids);
      Promise.all(ids.map((id) => titles.get(id))).then(
        (names) => fill(el, names.flatMap((title, place) => [place ? " · " : null, drawTitle(ids[place], title)])),
        () => {},
      );
      return el;
    },
    contexts: () => names().contexts,
    tags: () => names().tags,
    facets: () => found.facets,
    indices: () => found.indices.filter((name) => name !== view.state()?.index),
    patterns: () => found.facets.map((name) => `{facet:${name}}`),
    /** Filters of a condition can only have values. @param {string} text */
    values: (text) => completeFilter(text, found.filters),
    /** @param {string} text */
    filters: (text) => completeFilter(text, [...found.filters, ...found.ranges]),
  };
}

/** @param {string} id @param {string | undefined} title */
const drawTitle = (id, title) =>
  title === undefined ? h("span", { class: "warning-text" }, `no record ${id}`) : h("bdi", {}, title);
