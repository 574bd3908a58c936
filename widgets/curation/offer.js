// Suggestions for a text field, which accepts any other text as well.

import { fill, freshId, h } from "../kit/dom.js";

const MAX_SUGGESTIONS = 60;

/** Add suggestions to a text field, or to the text field in an element. @param {HTMLElement} el @param {(text: string) => string[]} list */
export function offer(el, list) {
  const input = /** @type {HTMLInputElement} */ (el.matches("input") ? el : el.querySelector("input"));
  const known = h("datalist", { id: freshId("ideas") });
  const draw = () => fill(known, list(input.value).slice(0, MAX_SUGGESTIONS).map((value) => h("option", { value })));
  input.setAttribute("list", known.id);
  input.addEventListener("focus", draw);
  input.addEventListener("input", draw);
  return known;
}
