// Line diffs of texts and JSON values.

import { h } from "./dom.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Line */

/** The lines of a JSON value, with sorted members, so that their order does not count. @param {any} value */
export function jsonLines(value) {
  return JSON.stringify(sorted(value), null, 2).split("\n");
}

/** @param {any} value @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value ?? null;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** The shortest diff of two lists of lines. @param {string[]} before @param {string[]} after @returns {Line[]} */
export function diffLines(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return [...same(before.slice(0, start)), ...middle(a, b), ...same(before.slice(before.length - end))];
}

/** @param {string[]} lines @returns {Line[]} */
const same = (lines) => lines.map((text) => ({ kind: "same", text }));

/** The diff by the longest common subsequence; of large lists one block, to limit the cost. @param {string[]} a @param {string[]} b @returns {Line[]} */
function middle(a, b) {
  /** @type {Line[]} */
  const lines = [];
  if (a.length * b.length > 4e6)
    return [
      ...a.map((text) => ({ kind: /** @type {"removed"} */ ("removed"), text })),
      ...b.map((text) => ({ kind: /** @type {"added"} */ ("added"), text })),
    ];
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i * width + j] =
        a[i] === b[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push({ kind: "same", text: (j++, a[i++]) });
    else if (j >= b.length || (i < a.length && length[(i + 1) * width + j] >= length[i * width + j + 1]))
      lines.push({ kind: "removed", text: a[i++] });
    else lines.push({ kind: "added", text: b[j++] });
  }
  return lines;
}

/** @param {any} value */
const isShort = (value) => (value ?? null) === null || typeof value !== "object";

/** The lines of a value: the entries of a list of short values, else its JSON. @param {any} value */
const valueLines = (value) =>
  Array.isArray(value) && value.every(isShort)
    ? value.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry)))
    : jsonLines(value);

/**
 * Draw the change of a value: short values side by side, others line by line. Null or undefined is an absent value,
 * for which `absent` has the texts before and after.
 * @param {any} before @param {any} after @param {{before?: string, after?: string, lines?: (value: any) => string[]}} [absent]
 */
export function drawValueChange(before, after, { before: unset = "not set", after: reset = "removed", lines = valueLines } = {}) {
  const [none, gone] = [(before ?? null) === null, (after ?? null) === null];
  const text = (/** @type {any} */ value) => JSON.stringify(value);
  if (isShort(before) && isShort(after) && ![before, after].some((value) => text(value)?.includes("\\n")))
    return h(
      "p",
      { class: "value-change" },
      none ? h("span", { class: "hint" }, unset) : h("code", {}, text(before)),
      " → ",
      gone ? h("span", { class: "hint" }, reset) : h("code", {}, text(after)),
    );
  return h(
    "div",
    { class: "value-change" },
    none || gone ? h("p", { class: "hint" }, none ? `before: ${unset}` : reset) : null,
    drawDiff(diffLines(none ? [] : lines(before), gone ? [] : lines(after))),
  );
}

const SIGNS = { same: " ", added: "+", removed: "−" };
const NAMES = { same: null, added: "added", removed: "removed" };

/** Draw a diff; unchanged lines are shown only near a change. @param {Line[]} lines @param {number} [near] */
export function drawDiff(lines, near = 2) {
  const changed = lines.flatMap((line, place) => (line.kind === "same" ? [] : [place]));
  if (!changed.length) return h("p", { class: "hint" }, "No differences.");
  const shown = lines.map((_, place) => changed.some((other) => Math.abs(other - place) <= near));
  return h(
    "div",
    { class: "diff", role: "list" },
    lines.flatMap((line, place) => {
      if (!shown[place])
        return place && shown[place - 1] ? [h("div", { class: "diff-gap", "aria-hidden": true }, "⋯")] : [];
      return [
        h(
          "div",
          {
            class: ["diff-line", line.kind],
            role: "listitem",
            "aria-label": NAMES[line.kind] ? `${NAMES[line.kind]}: ${line.text}` : null,
          },
          h("span", { class: "sign", "aria-hidden": true }, SIGNS[line.kind]),
          h("span", {}, line.text),
        ),
      ];
    }),
  );
}
