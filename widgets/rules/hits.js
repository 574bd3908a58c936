// The hits of a query with a rule's pins in position, to drag, pin and hide.

import { button, fill, h } from "../kit/dom.js";
import { plainText } from "../kit/highlight.js";
import { drawHeadline, hitDisplay } from "../kit/hit_card.js";
import { sortableList } from "../kit/sortable.js";
import { debounce, oneAtATime } from "../kit/timing.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../kit/hit_card.js").Hit & {pinned: boolean, missing: boolean}} Hit */

/** `rule()` returns the objectID of the selected rule. @param {Frame} view @param {import("../types").Model} model @param {() => string} rule */
export function hitsPanel(view, model, rule) {
  const box = h("input", {
    class: "input find",
    type: "search",
    "aria-label": "Query whose hits are shown",
    placeholder: "a query…",
    on: { input: () => refresh() },
  });
  const summary = h("p", { class: "hint", role: "status" });
  const display = hitDisplay(view, model, () => refresh());
  const list = sortableList({
    items: /** @type {Hit[]} */ ([]),
    label: "Hits with the pins of this rule",
    keyOf: (hit) => hit.id,
    draw: drawHit,
    change: (hits) => drop(hits),
    remove: (hit) => place(hit.id, "hide"),
  });
  const hiddenList = h("div", { class: "tags-line" });
  const other = h("input", {
    class: "input find",
    type: "search",
    "aria-label": "Find another record to pin",
    placeholder: "find another record to pin…",
    on: { input: debounce(() => find(), 200) },
  });
  const others = h("div", { class: "others" });
  const items = () => /** @type {HTMLElement[]} */ ([...list.el.querySelectorAll("li")]);

  const refresh = oneAtATime(async () => {
    const id = rule();
    if (!id) return;
    const found = await view.run("arrange", { query: box.value, id });
    if (!found || id !== rule()) return;
    const at = items().findIndex((item) => item === document.activeElement);
    display.prepare(found.hits, found.attributes);
    list.el.className = `svc-sortable-box svc-in-${display.density()}`;
    list.show(found.hits);
    if (at >= 0) items()[at]?.focus();
    fill(
      summary,
      found.query === box.value.trim() ? null : h("span", {}, "Searched as “", h("bdi", {}, found.query), "”. "),
      `${found.nbHits.toLocaleString()} hits without rules, with the pins of this rule inserted. `,
      "Move a hit by dragging, or by Alt with an arrow key; Delete hides it.",
    );
    fill(
      hiddenList,
      found.hidden.length ? h("span", { class: "hint" }, "hidden:") : null,
      found.hidden.map((/** @type {Hit} */ hit) =>
        button(plainText(hit.title) || hit.id, () => place(hit.id, "free"), { icon: "⊘", title: "Show it again" }),
      ),
    );
  });

  // The moved item has the focus when the list reports the new order.
  /** @param {Hit[]} order */
  function drop(order) {
    const at = items().findIndex((item) => item === document.activeElement);
    if (at >= 0) place(order[at].id, "pin", at);
  }

  /** @param {string} id @param {string} where @param {number} [position] */
  async function place(id, where, position = 0) {
    if (view.state()?.readOnly) return void refresh();
    await view.run("place", { object_id: id, where, position, id: rule() });
    await refresh();
  }

  /** @param {Hit} hit @param {number} at */
  function drawHit(hit, at) {
    const title = plainText(hit.title) || hit.id;
    return h(
      "div",
      { class: ["rule-hit", hit.pinned && "pinned"] },
      hit.missing
        ? h("div", { class: "hit-text" }, h("div", { class: "hit-head" }, h("span", { class: "place" }, String(at + 1)), h("em", {}, "no such record"), h("code", { class: "id" }, hit.id)))
        : display.draw(hit, { place: at + 1 }),
      hit.pinned
        ? button(`Unpin ${title}`, () => place(hit.id, "free"), { icon: "⊤", bare: true, "aria-pressed": "true" })
        : button(`Pin ${title} here`, () => place(hit.id, "pin", at), { icon: "⊤", bare: true }),
      button(`Hide ${title}`, () => place(hit.id, "hide"), { icon: "⊘", bare: true }),
    );
  }

  async function find() {
    if (!other.value.trim()) return fill(others);
    const found = (await view.run("find", { query: other.value })) ?? [];
    fill(
      others,
      found.slice(0, 8).map((/** @type {any} */ { id, title }) =>
        h(
          "div",
          { class: "rule-hit" },
          h("div", { class: "hit-text" }, h("div", { class: "hit-head" }, drawHeadline({ id, title }))),
          button(`Pin ${plainText(title) || id} first`, () => place(id, "pin", 0), { icon: "⊤", bare: true }),
        ),
      ),
    );
  }

  return {
    el: h("div", { class: "form" }, box, h("div", { class: "row hits-head" }, summary, display.toolbar), list.el, hiddenList, other, others),
    /** Show the hits of a query for the selected rule. @param {string} [query] */
    show(query) {
      if (query !== undefined) box.value = query;
      refresh();
    },
  };
}
