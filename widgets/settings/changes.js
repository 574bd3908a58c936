// The changes of the draft, and the history of applied changes.

import { drawWarnings } from "../curation/review.js";
import { button, fill, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { drawValueChange } from "../kit/diff.js";
import { brief } from "./state.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("./state.js").Change} Change */

/** @param {any} fallback the default, if it is known */
export const unsetText = (fallback) => (fallback === undefined ? "not set" : `not set (${brief(fallback)})`);

/** @param {any} fallback the default, if it is known */
export const resetText = (fallback) => `reset to ${fallback === undefined ? "its default" : brief(fallback)}`;

/**
 * The settings that change: short values before and after, others entry by entry or line by line.
 * @param {Change[]} changes @param {{name: string, text: string}[]} [problems] warnings about settings
 */
export const drawChanges = (changes, problems = []) =>
  h(
    "div",
    { class: "changes" },
    changes.map((change) => drawChange(change, problems.filter(({ name }) => name === change.name))),
  );

/** @param {Change} change @param {{text: string}[]} problems */
const drawChange = ({ name, how, before, after, default: fallback }, problems) =>
  h(
    "div",
    { class: "change" },
    h("h4", {}, h("code", {}, name)),
    drawWarnings(problems.map(({ text }) => text)),
    drawValueChange(how === "set" ? null : before, how === "reset" ? null : after, {
      before: unsetText(fallback),
      after: resetText(fallback),
    }),
  );

/** @param {number} number */
const countSettings = (number) => `${number.toLocaleString()} ${number === 1 ? "setting" : "settings"}`;

/** The changes that Apply sends. @param {Frame} view @param {Change[]} changes @param {{name: string, text: string}[]} problems */
export function drawReview(view, changes, problems) {
  const { replicas = [] } = view.value() ?? {};
  const box = h("input", { type: "checkbox", on: { change: () => view.run("reach", { forward: box.checked }) } });
  return h(
    "div",
    { class: "review", data: { title: `Apply ${countSettings(changes.length)} to ${view.state()?.index}?` } },
    h("p", {}, "Only these settings are sent; all others stay unchanged."),
    drawChanges(changes, problems),
    replicas?.length
      ? h("label", { class: "row" }, box, `Forward to replicas: ${replicas.join(", ")}`)
      : null,
  );
}

/** The applied changes, newest first. @param {Frame} view @param {() => void} done */
export function historyPanel(view, done) {
  const list = h("ol", { class: "history", "aria-label": "Applied changes, newest first" });
  const none = h(
    "div",
    {},
    emptyState({
      title: "No changes applied yet.",
      hint: "Changes that this editor applies are listed here, each with a button that restores the previous values.",
      action: { label: "Edit the settings", act: done },
    }),
  );
  view.link.watch("history", (applied) => {
    const rows = applied ?? [];
    none.hidden = rows.length > 0;
    fill(
      list,
      rows.map((/** @type {any} */ row, /** @type {number} */ place) =>
        h(
          "li",
          { class: "applied" },
          h(
            "div",
            { class: "row" },
            h("b", {}, new Date(row.when * 1000).toLocaleString()),
            h("span", { class: "hint" }, countSettings(Object.keys(row.after).length)),
            button(
              "Restore previous values",
              async () => {
                await view.run("take_back", { place });
                done();
              },
              { class: ["button", "small"], title: "Put the previous values into the draft; Apply writes them", disabled: Boolean(view.state()?.readOnly) },
            ),
          ),
          drawChanges(toChanges(row)),
        ),
      ),
    );
  });
  return { el: h("div", {}, none, list) };
}

/** @param {{before: Record<string, any>, after: Record<string, any>}} row @returns {Change[]} */
function toChanges({ before, after }) {
  return Object.keys(after).map((name) => ({
    name,
    how: after[name] === null ? "reset" : before[name] === null ? "set" : "changed",
    before: before[name],
    after: after[name],
  }));
}
