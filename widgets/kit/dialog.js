// A question over the editor that holds the keyboard until it is answered.

import { button, freshId, h } from "./dom.js";

/** Where Enter is the main button, as in any form. */
const FIELD = "input:not([type=file]), select";

/**
 * Ask; the answer is the name of the button pressed, or null where it was closed.
 * It stands inside the editor, for a notebook's page belongs to others.
 * @param {HTMLElement} root @param {{title: string, body: Node | string, buttons: {name: string, label: string, main?: boolean}[]}} question
 * @returns {Promise<string | null>}
 */
export function ask(root, { title, body, buttons }) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  return new Promise((answer) => {
    const heading = h("h3", { id: freshId("dialog") }, title);
    const row = h(
      "div",
      { class: "row end" },
      buttons.map(({ name, label, main }) =>
        button(label, () => close(name), { class: ["button", main && "main"] }),
      ),
    );
    const box = h(
      "div",
      {
        class: "dialog",
        role: "dialog",
        "aria-modal": true,
        "aria-labelledby": heading.id,
        tabindex: -1,
        on: { keydown: steer },
      },
      heading,
      h("div", { class: "dialog-body" }, body),
      row,
    );
    const veil = h(
      "div",
      {
        class: "veil",
        on: {
          mousedown: (event) => {
            if (event.target === veil) close(null);
          },
        },
      },
      box,
    );

    /** @param {string | null} name */
    function close(name) {
      veil.remove();
      before?.focus?.();
      answer(name);
    }

    /** @param {KeyboardEvent} event */
    function steer(event) {
      event.stopPropagation();
      if (event.key === "Escape") close(null);
      if (event.key === "Tab") keepInside(event, box);
      if (event.key === "Enter" && /** @type {HTMLElement} */ (event.target).matches(FIELD)) {
        // What closes gives the keyboard back, and a button there would be pressed by the same key.
        event.preventDefault();
        /** @type {HTMLElement | null} */ (box.querySelector(".svc-main"))?.click();
      }
    }

    root.append(veil);
    const first = /** @type {HTMLElement | null} */ (box.querySelector("input, textarea, select, .svc-main"));
    // A long question is read from its beginning, also where only a button below it takes keys.
    (first ?? box).focus({ preventScroll: true });
  });
}

/** @param {KeyboardEvent} event @param {HTMLElement} box */
function keepInside(event, box) {
  const stops = /** @type {HTMLElement[]} */ ([
    ...box.querySelectorAll("button, input, select, textarea, a[href]"),
  ]);
  const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
  if (document.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? stops[stops.length - 1] : stops[0])?.focus();
}
