// The pinned queries, and the effect of the draft on their hits.

import { button, fill, follow, h, setAttribute } from "../kit/dom.js";
import { drawComparison } from "../query/compare.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{query: string, comparison?: any, error?: import("../types").Explanation}} Preview */
/** @typedef {{by: string, others: string[], copy: string, queries: Preview[], error?: import("../types").Explanation}} Previews */

/** Summarize the changes of a query's hits. @param {Preview} preview @returns {string[]} */
export function summarize({ comparison, error }) {
  if (error) return [error.message];
  const { moved, gained, lost, sides } = comparison;
  const [before, after] = sides.map((/** @type {{nbHits: number}} */ side) => side.nbHits);
  const parts = [
    moved && `${moved} moved`,
    gained && `${gained} new`,
    lost && `${lost} dropped out`,
    before !== after && `${before.toLocaleString()} → ${after.toLocaleString()} hits`,
  ].filter(Boolean);
  return parts.length ? parts : [`unchanged, ${before.toLocaleString()} ${before === 1 ? "hit" : "hits"}`];
}

/** @param {Frame} view */
export function previewPanel(view) {
  /** @type {Set<string>} */
  const collapsed = new Set();
  /** @type {Previews} */
  let now = { by: "", others: [], copy: "", queries: [] };
  const input = h("input", {
    class: "input",
    type: "search",
    placeholder: "Pin a query…",
    "aria-label": "Pin a query",
    dir: "auto",
    on: {
      keydown: (event) => {
        if (event.key === "Enter") pin();
      },
    },
  });
  const statusLine = h("div", { class: "how", role: "status" });
  const list = h("div", { class: "pins" });
  const none = h(
    "p",
    { class: "hint" },
    "Pin important queries: each is searched before and after every change of the draft.",
  );

  function pin() {
    const query = input.value.trim();
    if (!query) return;
    input.value = "";
    view.run("pin", { query });
  }

  /** @param {Preview} preview @param {HTMLElement | null} old */
  function drawPin(preview, old) {
    const el = old ?? h("section", { class: "pin" });
    const state = JSON.stringify([preview, now.by, collapsed.has(preview.query)]);
    if (el.dataset.state === state) return el;
    el.dataset.state = state;
    const open = !collapsed.has(preview.query);
    const focused = el.contains(document.activeElement);
    const head = button(preview.query, () => toggle(preview.query), {
      class: "pin-head",
      title: "Show or hide its hits",
    });
    setAttribute(head, "aria-expanded", open ? "true" : "false");
    head.prepend(h("span", { class: "icon", "aria-hidden": true }, open ? "▾" : "▸"));
    const changed = preview.comparison && (preview.comparison.moved || preview.comparison.gained || preview.comparison.lost);
    fill(
      el,
      h(
        "div",
        { class: "row pin-row" },
        head,
        h("span", { class: ["summary", preview.error ? "error-text" : changed && "has-changes"] }, summarize(preview).join(" · ")),
        button(`Unpin ${preview.query}`, () => view.run("unpin", { query: preview.query }), { icon: "×", bare: true }),
      ),
      open && preview.comparison ? drawHits(preview.comparison) : null,
    );
    if (focused) head.focus();
    return el;
  }

  /** @param {any} comparison */
  function drawHits(comparison) {
    const [before, after] = comparison.sides;
    const named = [
      { ...before, index: "Saved settings" },
      { ...after, index: now.by ? "Draft" : "Draft (no changes)" },
    ];
    const el = drawComparison({ ...comparison, sides: named });
    el.firstElementChild?.remove();
    return el;
  }

  /** @param {string} query */
  function toggle(query) {
    if (!collapsed.delete(query)) collapsed.add(query);
    redraw();
  }

  function drawStatus() {
    const names = now.others.map((name) => h("code", {}, name));
    const drop = button("Delete the copy", () => view.run("drop_copy"), { class: ["button", "small"] });
    const make = button("Preview on a copy", () => view.run("make_copy", {}, { long: true }), {
      class: ["button", "small"],
      title: "Copies the index with its records, and tries the draft on the copy; the index does not change",
    });
    make.disabled = Boolean(view.state()?.readOnly);
    fill(
      statusLine,
      now.error ? h("p", { class: "error-text" }, `${now.error.message}. ${now.error.advice}`) : null,
      now.copy
        ? h("p", { class: "hint" }, "Draft: results of the copy ", h("code", {}, now.copy), ", which has the draft's settings. ", drop)
        : now.others.length
          ? h(
              "p",
              { class: "missing" },
              `Not in this preview, because ${names.length === 1 ? "it is not a search parameter" : "they are not search parameters"}: `,
              names.flatMap((el, place) => (place ? [", ", el] : [el])),
              ". ",
              make,
            )
          : now.by
            ? h("p", { class: "hint" }, "Draft: its changes are sent as search parameters. Nothing is written.")
            : null,
    );
  }

  function redraw() {
    none.hidden = now.queries.length > 0;
    drawStatus();
    follow(list, now.queries, (preview) => preview.query, drawPin);
  }

  view.link.watch("previews", (parts) => {
    now = { ...now, ...parts, error: parts?.error, queries: parts?.queries ?? [] };
    redraw();
  });
  return h(
    "aside",
    { class: "preview", "aria-label": "Preview" },
    h("h3", {}, "Preview"),
    h("div", { class: "row" }, input, button("Pin", pin)),
    statusLine,
    none,
    list,
  );
}
