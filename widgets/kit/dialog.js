// A modal dialog: a header, a body that scrolls, and a footer that is always visible.

import { button, focusedIn, freshId, h, setAttribute } from "./dom.js";

/** Controls in which Enter presses the main button. */
const FIELD = "input:not([type=file]), select";
const STOPS = "button, input, select, textarea, a[href], summary, [tabindex='0']";
/** Space that an anchored dialog needs below its top edge. */
const ANCHORED_PIXELS = 480;

/**
 * Show a dialog; returns the name of the pressed button, or null if the dialog was closed.
 * It is an element of the editor, because the page belongs to the notebook, and is drawn in the
 * browser's top layer; without one, over the editor.
 * @param {HTMLElement} root @param {{title: string, body: Node | string, buttons: {name: string, label: string, main?: boolean}[]}} question
 * @returns {Promise<string | null>}
 */
export function ask(root, { title, body, buttons }) {
  const focused = focusedIn(root);
  return new Promise((answer) => {
    const heading = h("h3", { id: freshId("dialog") }, title);
    const box = /** @type {HTMLDialogElement} */ (
      h(
        "dialog",
        {
          class: "dialog",
          role: "dialog",
          "aria-modal": true,
          "aria-labelledby": heading.id,
          tabindex: -1,
          on: {
            keydown: handleKey,
            cancel: (event) => {
              event.preventDefault();
              close(null);
            },
            mousedown: (event) => {
              if (event.target === box && isOutside(event, box)) close(null);
            },
          },
        },
        h("header", { class: "dialog-head" }, heading),
        h("div", { class: "dialog-body" }, body),
        h(
          "footer",
          { class: "dialog-foot" },
          buttons.map(({ name, label, main }) =>
            button(label, () => close(name), { class: ["button", main && "main"] }),
          ),
        ),
      )
    );
    const shown = show(root, box, () => close(null));

    /** @param {string | null} name */
    function close(name) {
      box.close?.();
      shown.remove();
      // What had the focus may have been removed meanwhile.
      (focused && focused.isConnected !== false ? focused : root).focus?.({ preventScroll: true });
      answer(name);
    }

    /** @param {KeyboardEvent} event */
    function handleKey(event) {
      event.stopPropagation();
      if (event.key === "Escape") {
        event.preventDefault();
        close(null);
      }
      if (event.key === "Tab") keepInside(event, box);
      if (event.key === "Enter" && /** @type {HTMLElement} */ (event.target).matches(FIELD)) {
        // Closing returns the focus, and the same key press would press a button there.
        event.preventDefault();
        /** @type {HTMLElement | null} */ (box.querySelector(".svc-main"))?.click();
      }
    }

    const first = /** @type {HTMLElement | null} */ (box.querySelector("input, textarea, select, .svc-main"));
    // A long dialog is shown from its beginning, even if only the button below it takes the focus.
    (first ?? box).focus({ preventScroll: true });
  });
}

/**
 * Put a dialog into the top layer, or into an overlay; returns the element to remove.
 * @param {HTMLElement} root @param {HTMLDialogElement} box @param {() => void} leave
 */
function show(root, box, leave) {
  if (typeof box.showModal === "function" && root.isConnected) {
    root.append(box);
    anchor(root, box);
    box.showModal();
    return box;
  }
  setAttribute(box, "open", true);
  const overlay = h(
    "div",
    {
      class: "overlay",
      on: {
        mousedown: (event) => {
          if (event.target === overlay) leave();
        },
      },
    },
    box,
  );
  root.append(overlay);
  return overlay;
}

// Some front ends show outputs in a frame that is higher than the screen, whose middle may not be
// visible. There a dialog begins where the focus is.
/** @param {HTMLElement} root @param {HTMLElement} box */
function anchor(root, box) {
  if (window.innerHeight <= window.screen.availHeight) return;
  const { top } = (focusedIn(root) ?? root).getBoundingClientRect();
  const highest = Math.max(8, Math.min(top, window.innerHeight - ANCHORED_PIXELS));
  box.classList.add("svc-anchored");
  box.style.setProperty("--svc-top", `${Math.round(highest)}px`);
}

/** Whether a click on a dialog was beside it. @param {MouseEvent} event @param {HTMLElement} box */
function isOutside({ clientX, clientY }, box) {
  const { left, right, top, bottom } = box.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

/** @param {KeyboardEvent} event @param {HTMLElement} box */
function keepInside(event, box) {
  const stops = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(STOPS)]).filter(
    (stop) => !(/** @type {HTMLButtonElement} */ (stop).disabled) && stop.offsetParent !== null,
  );
  const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
  if (focusedIn(box) !== edge) return;
  event.preventDefault();
  (event.shiftKey ? stops[stops.length - 1] : stops[0])?.focus();
}
