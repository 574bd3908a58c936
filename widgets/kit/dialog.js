// A modal dialog over the editor.

import { button, freshId, h } from "./dom.js";

/** Controls in which Enter presses the main button. */
const FIELD = "input:not([type=file]), select";

/**
 * Show a dialog; returns the name of the pressed button, or null if the dialog was closed.
 * It is an element of the editor, because the page belongs to the notebook.
 * @param {HTMLElement} root @param {{title: string, body: Node | string, buttons: {name: string, label: string, main?: boolean}[]}} question
 * @returns {Promise<string | null>}
 */
export function ask(root, { title, body, buttons }) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
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
        on: { keydown: handleKey },
      },
      heading,
      h("div", { class: "dialog-body" }, body),
      row,
    );
    const overlay = h(
      "div",
      {
        class: "overlay",
        on: {
          mousedown: (event) => {
            if (event.target === overlay) close(null);
          },
        },
      },
      box,
    );

    /** @param {string | null} name */
    function close(name) {
      overlay.remove();
      focused?.focus?.();
      answer(name);
    }

    /** @param {KeyboardEvent} event */
    function handleKey(event) {
      event.stopPropagation();
      if (event.key === "Escape") close(null);
      if (event.key === "Tab") keepInside(event, box);
      if (event.key === "Enter" && /** @type {HTMLElement} */ (event.target).matches(FIELD)) {
        // Closing returns the focus, and the same key press would press a button there.
        event.preventDefault();
        /** @type {HTMLElement | null} */ (box.querySelector(".svc-main"))?.click();
      }
    }

    root.append(overlay);
    const first = /** @type {HTMLElement | null} */ (box.querySelector("input, textarea, select, .svc-main"));
    // A long dialog is shown from its beginning, even if only the button below it takes the focus.
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
