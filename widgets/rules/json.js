// A rule as JSON, in step with the form.

import { fill, h } from "../kit/dom.js";
import { debounce } from "../kit/timing.js";

/** @param {(rule: any) => void} propose */
export function jsonPanel(propose) {
  const wrong = h("p", { class: "wrong-text", role: "status" });
  const area = h("textarea", {
    rows: 20,
    spellcheck: "false",
    "aria-label": "The rule as JSON",
    on: { input: debounce(take, 400), change: take },
  });
  let shown = "";

  function take() {
    if (area.value === shown) return;
    try {
      const value = JSON.parse(area.value);
      fill(wrong);
      propose(value);
    } catch (error) {
      fill(wrong, `Not yet JSON: ${error instanceof Error ? error.message : error}`);
    }
  }

  return {
    el: h("div", { class: "form" }, area, wrong),
    /** @param {any} rule */
    show(rule) {
      const text = JSON.stringify(rule ?? {}, null, 2);
      if (text === shown) return;
      shown = text;
      // What is typed here is newer than what comes back of it.
      if (document.activeElement === area) return;
      area.value = text;
      fill(wrong);
    },
  };
}
