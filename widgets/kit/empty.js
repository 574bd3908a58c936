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
