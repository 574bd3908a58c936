// What may be typed into a text field, offered while it is typed; anything else may be typed as well.

import { fill, freshId, h } from "../kit/dom.js";

const MOST = 60; // ideas offered at once

/** Offer ideas at a text field, or at the one inside an element. @param {HTMLElement} el @param {(text: string) => string[]} list */
export function offer(el, list) {
  const input = /** @type {HTMLInputElement} */ (el.matches("input") ? el : el.querySelector("input"));
  const known = h("datalist", { id: freshId("ideas") });
  const draw = () => fill(known, list(input.value).slice(0, MOST).map((value) => h("option", { value })));
  input.setAttribute("list", known.id);
  input.addEventListener("focus", draw);
  input.addEventListener("input", draw);
  return known;
}
