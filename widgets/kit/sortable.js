// A list that is reordered by dragging, or by Alt with an arrow key.

import { follow, h } from "./dom.js";

/** A list with one item moved. @template T @param {T[]} items @param {number} from @param {number} to @returns {T[]} */
export function moved(items, from, to) {
  const place = Math.max(0, Math.min(items.length - 1, to));
  const rest = items.filter((_, other) => other !== from);
  return [...rest.slice(0, place), items[from], ...rest.slice(place)];
}

/**
 * `draw(item, place)` draws an item; `change(items)` is called with a new order.
 * @template T
 * @param {{items: T[], label: string, keyOf: (item: T) => string, draw: (item: T, place: number) => Node | string,
 *   change: (items: T[]) => void, remove?: (item: T) => void, disabled?: boolean}} options
 */
export function sortableList({ items, label, keyOf, draw, change, remove, disabled = false }) {
  let current = items;
  let from = -1;
  /** The items that arrived during a drag: a redraw would end it. @type {T[] | null} */
  let arrived = null;
  const announcement = h("div", { class: "offscreen", "aria-live": "assertive" });
  const list = h("ol", { class: "sortable", "aria-label": label });
  const el = h("div", { class: "sortable-box" }, list, announcement);

  function redraw() {
    // The keys of duplicate items differ by their number.
    follow(
      list,
      current,
      (item, place) =>
        `${keyOf(item)}#${current.slice(0, place).filter((other) => keyOf(other) === keyOf(item)).length}`,
      drawItem,
    );
  }

  /** @param {T} item @param {HTMLElement | null} _ @param {number} place */
  function drawItem(item, _, place) {
    return h(
      "li",
      {
        class: "sortable-item",
        tabindex: disabled ? -1 : 0,
        draggable: disabled ? null : "true",
        "aria-keyshortcuts": "Alt+ArrowUp Alt+ArrowDown",
        "aria-label": `${keyOf(item)}, ${place + 1} of ${current.length}`,
        on: {
          keydown: (event) => handleKey(event, place),
          dragstart: (event) => {
            from = place;
            event.dataTransfer?.setData("text/plain", keyOf(item));
            event.stopPropagation();
          },
          dragover: (event) => {
            if (from >= 0) {
              event.preventDefault();
              mark(place);
            }
          },
          dragend: endDrag,
          drop: (event) => {
            event.preventDefault();
            event.stopPropagation();
            if (from >= 0) drop(place);
            endDrag();
          },
        },
      },
      h("span", { class: "grip", "aria-hidden": true }, "⠿"),
      draw(item, place),
    );
  }

  /** @param {T[]} list */
  const keysOf = (list) => JSON.stringify(list.map(keyOf));

  /** Move the dragged item, unless other items arrived meanwhile. @param {number} place */
  function drop(place) {
    if (arrived && keysOf(arrived) !== keysOf(current)) return;
    current = arrived ?? current;
    arrived = null;
    put(from, place);
  }

  function endDrag() {
    from = -1;
    mark(-1);
    if (arrived) show(arrived);
  }

  /** @param {T[]} next */
  function show(next) {
    arrived = null;
    if (from >= 0) {
      arrived = next;
      return;
    }
    current = next;
    redraw();
  }

  /** @param {number} place */
  function mark(place) {
    [...list.children].forEach((child, other) => child.classList.toggle("svc-drop", other === place));
  }

  /** @param {KeyboardEvent} event @param {number} place */
  function handleKey(event, place) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.target !== event.currentTarget || disabled) return;
    if (step && event.altKey) put(place, place + step);
    else if (step) focusOn(place + step);
    else if (event.key === "Delete" && remove) remove(current[place]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} start @param {number} to */
  function put(start, to) {
    const place = Math.max(0, Math.min(current.length - 1, to));
    current = moved(current, start, place);
    redraw();
    focusOn(place);
    announcement.textContent = `${keyOf(current[place])} is now ${place + 1} of ${current.length}`;
    change(current);
  }

  /** @param {number} place */
  function focusOn(place) {
    /** @type {HTMLElement | undefined} */ (list.children[place])?.focus();
  }

  redraw();
  return { el, show };
}
