// The height of an editor: bounded, resized by its lower edge, and kept in the model.

import { h, setAttribute } from "./dom.js";

export const MIN_HEIGHT_PIXELS = 240;
const STEP_PIXELS = 20; // of an arrow key
const PAGE_PIXELS = 120; // of a page key

/** The height after a key, null for that of the content; undefined if the key does not resize. @param {string} key @param {number} height @returns {number | null | undefined} */
export function resizeByKey(key, height) {
  /** @type {Record<string, number | null>} */
  const heights = {
    ArrowDown: height + STEP_PIXELS,
    ArrowUp: height - STEP_PIXELS,
    PageDown: height + PAGE_PIXELS,
    PageUp: height - PAGE_PIXELS,
    Home: MIN_HEIGHT_PIXELS,
    End: null,
  };
  const next = heights[key];
  return typeof next === "number" ? Math.max(MIN_HEIGHT_PIXELS, next) : next;
}

/**
 * The lower edge of an editor, which resizes it by dragging or with the arrow keys. `End` and a
 * double click make it as high as its content; a second double click restores the last height.
 * @param {HTMLElement} root @param {import("../types").Model} model
 */
export function lowerEdge(root, model) {
  /** @type {number | null} */
  let height = null;
  let last = model.get("height") ?? 560;
  const el = h("div", {
    class: "edge",
    role: "separator",
    tabindex: 0,
    "aria-orientation": "horizontal",
    "aria-label": "Height of the editor",
    "aria-valuemin": MIN_HEIGHT_PIXELS,
    title: "Drag to resize; double-click for the height of the content",
    on: {
      pointerdown: drag,
      dblclick: () => keep(height === null ? last : null),
      keydown: (event) => {
        const next = resizeByKey(event.key, height ?? root.offsetHeight);
        if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        keep(next);
      },
    },
  });

  /** @param {number | null} next */
  function draw(next) {
    height = next;
    if (next !== null) last = next;
    root.classList.toggle("svc-bounded", next !== null);
    root.style.setProperty("--svc-height", next === null ? "auto" : `${next}px`);
    setAttribute(el, "aria-valuenow", next ?? root.offsetHeight ?? MIN_HEIGHT_PIXELS);
    setAttribute(el, "aria-valuetext", next === null ? "as high as its content" : `${next} pixels`);
  }

  /** @param {number | null} next */
  function keep(next) {
    draw(next);
    model.set("height", next);
    model.save_changes();
  }

  /** @param {PointerEvent} event */
  function drag(event) {
    if (event.button) return;
    const [from, start] = [event.clientY, root.offsetHeight];
    let moved = false;
    /** @param {PointerEvent} to */
    const move = (to) => {
      moved ||= Math.abs(to.clientY - from) > 2;
      if (moved) draw(Math.max(MIN_HEIGHT_PIXELS, Math.round(start + to.clientY - from)));
    };
    const end = () => {
      el.removeEventListener("pointermove", move);
      if (moved) keep(height);
    };
    el.setPointerCapture(event.pointerId);
    el.addEventListener("pointermove", move);
    el.addEventListener("lostpointercapture", end, { once: true });
  }

  return { el, draw: (/** @type {number | null | undefined} */ next) => draw(next ?? null) };
}
