// Search parameters or settings by group: the modified ones first, each with its meaning.

import { drawCode } from "./code_text.js";
import { fill, follow, h } from "./dom.js";

/** @typedef {{name: string, meaning: string, group: string, effect: string}} Row */

export const MODIFIED = "Modified";

/** Whether every word of a text is in the name, meaning or group. @param {{name: string, meaning: string, group?: string}} row @param {string} text */
export function fits({ name, meaning, group = "" }, text) {
  const where = `${name} ${meaning} ${group}`.replaceAll("\x60", "").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word));
}

/** Describe a default: in words if nothing is set, else as code. @param {any} value */
export function describeDefault(value) {
  if (value === null || value === undefined || value === "") return { text: "not set", isCode: false };
  if (typeof value === "object" && !Object.keys(value).length) return { text: "none", isCode: false };
  return { text: typeof value === "string" ? value : JSON.stringify(value), isCode: true };
}

/** @type {Record<string, string>} */
const EFFECTS = {
  accepted: " The local service accepts it without effect.",
  local: " Hosted services do not have it.",
};

/** A meaning as sentences with code, and the default. @param {Row} row @param {string} fallback the default as text @param {boolean} isCode */
export function drawMeaning({ meaning, effect }, fallback, isCode = true) {
  return [
    ...drawCode(meaning),
    " Default: ",
    isCode ? h("code", { class: "inline-code" }, fallback) : fallback,
    ".",
    EFFECTS[effect] ?? "",
  ];
}

/**
 * Rows in sections that fold. A row keeps its element when it moves to another section.
 * @template {Row} R
 * @param {{label: string, draw: (row: R, el: HTMLElement | null) => HTMLElement}} options
 */
export function groupedRows({ label, draw }) {
  const el = h("div", { class: "groups", role: "group", "aria-label": label });
  /** @type {Map<string, HTMLElement>} */
  const elements = new Map();
  /** @type {Map<string, {el: HTMLDetailsElement, count: HTMLElement, list: HTMLElement}>} */
  const sections = new Map();
  /** @type {Map<string, boolean> | null} whether sections were open before a search */
  let before = null;

  /** @param {string} title @param {boolean} open */
  function section(title, open) {
    const found = sections.get(title);
    if (found) return found;
    const count = h("span", { class: "hint" });
    const list = h("div", { class: "group-rows" });
    const made = {
      el: h("details", { class: "group", open }, h("summary", {}, h("span", {}, title), " ", count), list),
      count,
      list,
    };
    sections.set(title, made);
    return made;
  }

  /** @param {boolean} isSearched */
  function rememberOpen(isSearched) {
    if (isSearched && !before) before = new Map([...sections].map(([title, one]) => [title, one.el.open]));
    if (isSearched) for (const one of sections.values()) one.el.open = true;
    else if (before) {
      for (const [title, one] of sections) one.el.open = before.get(title) ?? false;
      before = null;
    }
  }

  return {
    el,
    /**
     * Show rows by group, in the order of their first row; `modified` names those of the first section.
     * @param {R[]} rows @param {Set<string>} modified @param {boolean} isSearched
     */
    show(rows, modified, isSearched) {
      /** @type {Map<string, R[]>} */
      const grouped = new Map();
      const first = rows.filter((row) => modified.has(row.name));
      if (first.length) grouped.set(MODIFIED, first);
      for (const row of rows)
        if (!modified.has(row.name)) grouped.set(row.group, [...(grouped.get(row.group) ?? []), row]);
      const titles = [...grouped.keys()];
      const shown = titles.map((title, place) => ({ title, one: section(title, place === 0 || title === MODIFIED) }));
      rememberOpen(isSearched);
      follow(
        el,
        shown,
        ({ title }) => title,
        ({ one }) => one.el,
      );
      for (const { title, one } of shown) {
        const own = grouped.get(title) ?? [];
        fill(one.count, String(own.length));
        follow(
          one.list,
          own,
          (row) => row.name,
          (row) => {
            const drawn = draw(row, elements.get(row.name) ?? null);
            elements.set(row.name, drawn);
            return drawn;
          },
        );
      }
    },
    /** Open the section of a row. @param {string} name */
    open(name) {
      const holder = elements.get(name)?.closest("details");
      if (holder) holder.open = true;
    },
  };
}
