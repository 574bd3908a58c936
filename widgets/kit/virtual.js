// A long list of rows of equal height; only visible rows are elements.

import { h, follow } from "./dom.js";

const OVERSCAN_ROWS = 6; // drawn beyond either edge

/** The range of visible rows. @param {number} top @param {number} height @param {number} rowHeight @param {number} count */
export function rowsInSight(top, height, rowHeight, count) {
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN_ROWS);
  return { first, last: Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN_ROWS) };
}

/**
 * `draw(row, el, place)` makes a row's element or changes the previous one; `role` and `rowRole` are
 * the ARIA roles (rows have their position, because most rows are not elements).
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
      // In an editor of bounded height a list is not higher than what the editor shows.
      style: { "max-height": `min(${height}px, var(--svc-list-height, ${height}px))` },
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
    /** Scroll to a row. @param {number} place */
    reveal(place) {
      const top = place * rowHeight;
      const visible = el.clientHeight || height;
      if (top < el.scrollTop) el.scrollTop = top;
      else if (top + rowHeight > el.scrollTop + visible) el.scrollTop = top + rowHeight - visible;
      redraw();
    },
    /** The element of a row, if it is visible. @param {number} place */
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
