// The progress of work that a cell waits for: a line, and a button that cancels the work.

import { button, h } from "./kit/dom.js";

/** A kernel that does not take the message while its cell runs is interrupted after this time. */
const INTERRUPT_AFTER_MS = 1500;

/** @param {import("./types").Mount} mount */
function render({ model, el }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const line = h("pre", { class: "progress-text", role: "status" });
  const cancel = button("Cancel", stop, { title: "Stop the work; a load says what was published" });
  el.append(h("div", { class: "progress-line" }, line, cancel));

  function stop() {
    cancel.disabled = true;
    cancel.textContent = "Cancelling…";
    model.send({ cancel: true });
    timer = setTimeout(() => model.widget_manager?.kernel?.interrupt(), INTERRUPT_AFTER_MS);
  }

  function drawLine() {
    line.textContent = model.get("line");
  }

  function keep() {
    if (model.get("cancelled")) clearTimeout(timer);
  }

  drawLine();
  model.on("change:line", drawLine);
  model.on("change:cancelled", keep);
  return () => {
    clearTimeout(timer);
    model.off("change:line", drawLine);
    model.off("change:cancelled", keep);
  };
}

export default { render };
