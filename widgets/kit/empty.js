// The state of a part that has nothing to show: what it is, what to do next, and one button for it.

import { button, h } from "./dom.js";

/** @typedef {{title: string, hint?: string | Node, action?: {label: string, act: () => void, disabled?: boolean}}} EmptyState */

/** @param {EmptyState} state */
export function emptyState({ title, hint, action }) {
  return h(
    "div",
    { class: "empty-state" },
    h("p", { class: "empty-title" }, title),
    hint ? h("p", { class: "hint" }, hint) : null,
    action ? button(action.label, action.act, { disabled: Boolean(action.disabled) }) : null,
  );
}

/**
 * The state of a filtered list without rows, hidden at first; its button clears the filters.
 * @param {string} noun the plural of what is listed
 * @param {{find: HTMLInputElement, only: HTMLInputElement, show: () => void}} filters
 */
export function noMatch(noun, { find, only, show }) {
  const act = () => {
    find.value = "";
    only.checked = false;
    show();
    find.focus();
  };
  const label = "Clear the filters";
  return h("div", { hidden: true }, emptyState({ title: `No matching ${noun}`, action: { label, act } }));
}
