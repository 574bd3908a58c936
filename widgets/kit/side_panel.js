// A panel beside the content, folded behind a button where the editor is narrow.

import { button, fill, freshId, h, setAttribute } from "./dom.js";

/** The editor's width from which a panel is always shown. */
export const WIDE_PIXELS = 700;

/**
 * `button` belongs into a bar above the content, `el` before the content in `.svc-results`.
 * @param {HTMLElement} root @param {string} label @param {Node[]} children
 */
export function sidePanel(root, label, children) {
  let isWide = true;
  let isOpen = false;
  let count = 0;
  const el = h("div", { class: ["facets", "side-panel"], id: freshId("panel") }, children);
  const toggle = button(
    label,
    () => {
      isOpen = !isOpen;
      draw();
    },
    { class: ["button", "small", "fold"], "aria-controls": el.id },
  );
  const sizes = new ResizeObserver(([entry]) => {
    const wide = entry.contentRect.width > WIDE_PIXELS;
    if (wide !== isWide) isOpen = false;
    isWide = wide;
    draw();
  });

  function draw() {
    toggle.hidden = isWide;
    el.hidden = !isWide && !isOpen;
    el.classList.toggle("svc-wide", isWide);
    setAttribute(toggle, "aria-expanded", isOpen ? "true" : "false");
    setAttribute(toggle, "aria-label", count ? `${label}, ${count} active` : label);
    fill(
      toggle,
      h("span", { class: "icon", "aria-hidden": true }, isOpen ? "▾" : "▸"),
      h("span", {}, label),
      count ? h("span", { class: "count-badge" }, String(count)) : null,
    );
  }

  draw();
  sizes.observe(root);
  return {
    el,
    button: toggle,
    /** Show how many parts of the panel are active. @param {number} next */
    show(next) {
      if (next === count) return;
      count = next;
      draw();
    },
    close: () => sizes.disconnect(),
  };
}
