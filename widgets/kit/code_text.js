// Sentences in which code is written between backticks.

import { h } from "./dom.js";

/**
 * Draw a text with its code as code elements; a backtick without a partner stays a character.
 * @param {string} text @returns {(HTMLElement | string)[]}
 */
export function drawCode(text) {
  return text
    .split(/`([^`]+)`/)
    .map((part, place) => (place % 2 ? h("code", { class: "inline-code" }, part) : part))
    .filter((part) => part !== "");
}
