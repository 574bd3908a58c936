// The active filters and parameters of a search, each with a button that removes it.

import { button, follow, h } from "../kit/dom.js";

/** @typedef {{label: string, value: any}} ActiveFilter */

/** `removed` is called after each removal. @param {import("../kit/frame.js").Frame} view @param {() => void} removed */
export function activeFilterRow(view, removed) {
  const el = h("ul", { class: "held", "aria-label": "Filters and parameters" });
  /** @type {Map<string, any>} */
  let values = new Map();

  /** @param {ActiveFilter} filter @param {HTMLElement | null} old */
  function draw({ label }, old) {
    const remove = () => {
      view.propose(values.get(label));
      removed();
    };
    return (
      old ??
      h("li", { class: "tag" }, h("bdi", {}, label), button(`Remove ${label}`, remove, { icon: "×", bare: true }))
    );
  }

  return {
    el,
    /** @param {ActiveFilter[]} next */
    show(next) {
      values = new Map(next.map(({ label, value }) => [label, value]));
      follow(el, next, ({ label }) => label, draw);
    },
  };
}
