// What a rule may speak of: facets, their values, contexts, tags, indices, and what records are called.

import { fill, h } from "../kit/dom.js";
import { plainText } from "../kit/highlight.js";

/** @typedef {ReturnType<typeof ideas>} Ideas */
/** @typedef {{facets: string[], filters: string[], ranges: string[], indices: string[]}} Found */

/** What stands before the part of a filter that is being typed. */
const BEFORE = /^(.*(?:\s(?:AND|OR)\s+|\bNOT\s+|\()\s*)?(.*)$/is;

/** Filters that go on with what is typed. @param {string} text @param {string[]} filters */
export function goOn(text, filters) {
  const [, before = "", part = ""] = BEFORE.exec(text) ?? [];
  const typed = part.trim().toLowerCase();
  return filters.filter((filter) => filter.toLowerCase().includes(typed)).map((filter) => before + filter);
}

/** Every context that conditions name, and every tag. @param {any[]} rules */
export function namesOf(rules) {
  const contexts = rules.flatMap((rule) => (rule.conditions ?? []).map((/** @type {any} */ one) => one.context));
  const tags = rules.flatMap((rule) => rule.tags ?? []);
  const [known, own] = [contexts, tags].map((names) => [...new Set(names.filter(Boolean))].sort());
  return { contexts: known, tags: own };
}

/**
 * The ideas of one editor; what the service knows is asked for once.
 * @param {import("../kit/frame.js").Frame} view
 */
export function ideas(view) {
  /** @type {Found} */
  let found = { facets: [], filters: [], ranges: [], indices: [] };
  let asked = false;

  // Without an answer nothing is offered, which is nothing to complain of.
  async function ask() {
    if (asked) return;
    asked = true;
    found = await view.link.call("suggest").catch(() => ((asked = false), found));
  }

  /** @type {Map<string, Promise<string | undefined>>} */
  const titles = new Map();

  /** Ask for those titles that nobody asked for yet, in one call. @param {string[]} ids */
  function read(ids) {
    const unknown = ids.filter((id) => !titles.has(id));
    if (!unknown.length) return;
    const answer = view.link.call("titles", { ids: unknown });
    for (const id of unknown) {
      const title = answer.then((told) => (id in told ? plainText(told[id]) || id : undefined));
      titles.set(id, title);
      title.catch(() => titles.delete(id));
    }
  }

  const names = () => namesOf(view.value() ?? []);
  return {
    ask,
    /** What records are called, to stand below their objectIDs. @param {string[]} ids */
    titles(ids) {
      const el = h("p", { class: ["hint", "titles"] });
      if (!ids.length) return el;
      read(ids);
      Promise.all(ids.map((id) => titles.get(id))).then(
        (told) => fill(el, told.flatMap((title, place) => [place ? " · " : null, drawTitle(ids[place], title)])),
        () => {},
      );
      return el;
    },
    contexts: () => names().contexts,
    tags: () => names().tags,
    facets: () => found.facets,
    indices: () => found.indices.filter((name) => name !== view.state()?.index),
    patterns: () => found.facets.map((name) => `{facet:${name}}`),
    /** Filters in a condition know values alone. @param {string} text */
    values: (text) => goOn(text, found.filters),
    /** @param {string} text */
    filters: (text) => goOn(text, [...found.filters, ...found.ranges]),
  };
}

/** @param {string} id @param {string | undefined} title */
const drawTitle = (id, title) =>
  title === undefined ? h("span", { class: "odd-text" }, `there is no record ${id}`) : h("bdi", {}, title);
