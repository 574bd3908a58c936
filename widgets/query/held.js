// What narrows or changes a search besides its words, each of which can be taken away.

import { button, follow, h } from "../kit/dom.js";

/** @typedef {{label: string, value: any}} Held */

/** `away` hears of each that was taken away. @param {import("../kit/frame.js").Frame} view @param {() => void} away */
export function heldRow(view, away) {
  const el = h("ul", { class: "held", "aria-label": "Filters and parameters" });
  /** @type {Map<string, any>} */
  let values = new Map();

  /** @param {Held} held @param {HTMLElement | null} old */
  function draw({ label }, old) {
    const take = () => {
      view.propose(values.get(label));
      away();
    };
    return (
      old ??
      h("li", { class: "tag" }, h("bdi", {}, label), button(`Take away ${label}`, take, { icon: "×", bare: true }))
    );
  }

  return {
    el,
    /** @param {Held[]} next */
    show(next) {
      values = new Map(next.map(({ label, value }) => [label, value]));
      follow(el, next, ({ label }) => label, draw);
    },
  };
}
