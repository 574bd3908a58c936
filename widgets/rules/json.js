// A rule as JSON, synchronized with the form.

import { codeField } from "../kit/code_field.js";
import { fill, h } from "../kit/dom.js";
import { debounce } from "../kit/timing.js";

/** @param {import("../kit/frame.js").Frame} view @param {(rule: any) => void} propose */
export function jsonPanel(view, propose) {
  const errorText = h("p", { class: "error-text", role: "status" });
  const area = h("textarea", {
    rows: 20,
    spellcheck: "false",
    "aria-label": "The rule as JSON",
    on: { input: debounce(readTyped, 400), change: readTyped },
  });
  let shown = "";

  function readTyped() {
    if (area.value === shown) return;
    try {
      const value = JSON.parse(area.value);
      fill(errorText);
      propose(value);
    } catch (error) {
      fill(errorText, `Invalid JSON: ${error instanceof Error ? error.message : error}`);
    }
  }

  return {
    el: h("div", { class: "form" }, codeField(view, area, "json"), errorText),
    /** @param {any} rule */
    show(rule) {
      const text = JSON.stringify(rule ?? {}, null, 2);
      if (text === shown) return;
      shown = text;
      // Text that is being typed is newer than the answer.
      if (document.activeElement === area) return;
      area.value = text;
      fill(errorText);
    },
  };
}
