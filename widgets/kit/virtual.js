// A long list of rows of one height, of which only those in sight are elements.

import { h, follow } from "./dom.js";

const SPARE = 6; // rows drawn beyond either edge

/** Which rows are in sight. @param {number} top @param {number} height @param {number} rowHeight @param {number} count */
export function rowsInSight(top, height, rowHeight, count) {
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  return { first, last: Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE) };
}

/**
 * `draw(row, el, place)` makes a row's element or changes the one it had; `role` and `rowRole`
 * are what screen readers are told (rows know their place although most are not there).
 * @template T
 * @param {{rowHeight: number, keyOf: (row: T, place: number) => string, height?: number, role?: string,
 *   rowRole?: string, label?: string, draw: (row: T, el: HTMLElement | null, place: number) => HTMLElement}} options
 */
export function virtualList({
  rowHeight,
  keyOf,
  draw,
  height = 400,
  role = "list",
  rowRole = "listitem",
  label = "",
}) {
  /** @type {T[]} */
  let rows = [];
  const inner = h("div", { class: "virtual-inner", role: "presentation" });
  const el = h(
    "div",
    {
      class: "virtual",
      role,
      "aria-label": label || null,
      tabindex: 0,
      style: { "max-height": `${height}px` },
      on: { scroll: redraw },
    },
    inner,
  );

  function redraw() {
    const { first, last } = rowsInSight(el.scrollTop, el.clientHeight || height, rowHeight, rows.length);
    inner.style.height = `${rows.length * rowHeight}px`;
    const places = Array.from({ length: Math.max(0, last - first) }, (_, step) => first + step);
    follow(
      inner,
      places,
      (place) => keyOf(rows[place], place),
      (place, old) => {
        const row = draw(rows[place], old, place);
        row.style.transform = `translateY(${place * rowHeight}px)`;
        row.style.height = `${rowHeight}px`;
        row.classList.add("svc-virtual-row");
        row.setAttribute("role", rowRole);
        row.setAttribute(rowRole === "row" ? "aria-rowindex" : "aria-posinset", String(place + 1));
        if (rowRole !== "row") row.setAttribute("aria-setsize", String(rows.length));
        return row;
      },
    );
  }

  return {
    el,
    /** @param {T[]} next */
    show(next) {
      rows = next;
      redraw();
    },
    redraw,
    /** Bring a row into sight. @param {number} place */
    reveal(place) {
      const top = place * rowHeight;
      const seen = el.clientHeight || height;
      if (top < el.scrollTop) el.scrollTop = top;
      else if (top + rowHeight > el.scrollTop + seen) el.scrollTop = top + rowHeight - seen;
      redraw();
    },
    /** The element of a row, if it is in sight. @param {number} place */
    rowAt: (place) =>
      /** @type {HTMLElement | null} */ (
        rows[place] === undefined
          ? null
          : ([...inner.children].find(
              (child) => /** @type {HTMLElement} */ (child).dataset.key === keyOf(rows[place], place),
            ) ?? null)
      ),
  };
}
