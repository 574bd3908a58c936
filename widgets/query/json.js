// The value as editable JSON, and the search history.

import { codeField } from "../kit/code_field.js";
import { button, fill, freshId, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */

/** The beginning of a script, after its comments, which JSON cannot have. */
const SCRIPT = /^\s*(?:\/\/|\/\*|\(|new\s|module\.|export\s|import\s|const\s|let\s|var\s|["']use strict|\{\s*(?:[A-Za-z_$']|\/))/;

/** With `takeScript`, text that is not JSON is given to it.
 * @param {Frame} view
 * @param {{label?: string, action?: string, takeScript?: (text: string) => void}} [options] */
export function jsonPanel(view, { label = "Search parameters as JSON", action = "Search with this JSON", takeScript } = {}) {
  const id = freshId("json");
  const errorText = h("p", { class: "error-text", id: `${id}-error`, role: "alert" });
  const area = h("textarea", {
    id,
    rows: 14,
    spellcheck: "false",
    "aria-label": label,
    "aria-describedby": errorText.id,
    on: { input: check, keydown: handleKey },
  });
  const apply = button(action, put, { class: ["button", "main"], title: "Ctrl+Enter" });
  const reset = button("Reset", show);

  function read() {
    try {
      const value = JSON.parse(area.value || "{}");
      return value && typeof value === "object" && !Array.isArray(value)
        ? value
        : "Enter a JSON object: { … }";
    } catch (error) {
      return String(error instanceof Error ? error.message : error);
    }
  }

  const isScript = () => Boolean(takeScript) && SCRIPT.test(area.value);

  function check() {
    const value = read();
    const problem = typeof value === "string" && !isScript() ? value : "";
    fill(errorText, problem);
    area.setAttribute("aria-invalid", problem ? "true" : "false");
    apply.disabled = Boolean(problem) || isReadOnly();
    return problem ? undefined : value;
  }

  const isReadOnly = () => Boolean(view.state()?.readOnly);

  function put() {
    const value = check();
    if (!value || isReadOnly()) return;
    if (typeof value === "string") takeScript?.(area.value);
    else view.propose(value);
  }

  function show() {
    area.value = JSON.stringify(view.value() ?? {}, null, 2);
    check();
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) put();
  }

  view.link.watch("value", () => {
    if (document.activeElement !== area) show();
  });
  view.link.watch("state", () => {
    area.readOnly = isReadOnly();
    check();
  });
  return { el: h("div", { class: "json" }, codeField(view, area, "json"), errorText, h("div", { class: "row" }, apply, reset)) };
}

/** @param {Frame} view @param {() => void} chosen */
export function historyPanel(view, chosen) {
  const list = h("ol", { class: "history", "aria-label": "Searches, newest first" });

  async function show() {
    const rows = (await view.run("past")) ?? [];
    fill(
      list,
      rows.map((/** @type {any} */ row) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "history-row",
              on: {
                click: () => {
                  view.propose(row.value);
                  chosen();
                },
              },
            },
            h("span", { class: "history-label", dir: "auto" }, row.label),
            h("span", { class: "hint" }, row.hits === null ? "" : `${row.hits.toLocaleString()} hits`),
          ),
        ),
      ),
    );
  }

  view.link.watch("answer", show);
  return { el: list };
}
