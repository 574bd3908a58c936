// The history of the index: the changes in the journal, each with its undo.

import { button, fill, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{id: string, when: number, note: string, changed: [string, string][], undone: boolean, open: boolean}} Applied */

/** @param {Frame} view @param {() => void} draft opens an editor that drafts changes */
export function appliedPanel(view, draft) {
  const list = h("ol", { class: "applied-list", "aria-label": "Applied changes, newest first" });
  const none = h(
    "div",
    { hidden: true },
    emptyState({
      title: "No changes yet.",
      hint: "What is applied here, or by svc.tuning on this machine, is listed with its undo.",
      action: { label: "Draft a change", act: draft },
    }),
  );
  const el = h("div", { class: "bench-history" }, list, none);

  async function load() {
    const changes = /** @type {Applied[] | undefined} */ (await view.run("applied"));
    if (!changes) return;
    none.hidden = changes.length > 0;
    fill(list, changes.map(draw));
  }

  /** @param {Applied} change */
  function draw(change) {
    const { when, note, changed, undone, open } = change;
    const state = undone ? "undone" : open ? "outcome unknown" : "";
    return h(
      "li",
      { class: ["applied", undone && "undone"] },
      h(
        "div",
        { class: "row applied-head" },
        h("b", {}, new Date(when * 1000).toLocaleString()),
        h("span", { class: "hint", dir: "auto" }, [note, state].filter(Boolean).join(" · ")),
        button("Undo…", () => undo(change), { class: ["button", "small"], disabled: undone || Boolean(view.state()?.readOnly) }),
      ),
      drawParts(changed),
    );
  }

  /** @param {Applied} change */
  async function undo(change) {
    const answer = await view.ask({
      title: `Undo this change of ${view.state().index}?`,
      body: h("div", { class: "form" }, h("p", {}, new Date(change.when * 1000).toLocaleString()), drawParts(change.changed)),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "undo", label: "Undo the change", main: true },
      ],
    });
    if (answer !== "undo") return;
    const done = await view.run("undo_applied", { change: change.id }, { long: true });
    if (done !== undefined) view.say("Undone and published.");
  }

  return { el, load };
}

/** @param {[string, string][]} changed */
const drawParts = (changed) =>
  h("dl", { class: "applied-parts" }, changed.map(([part, text]) => h("div", {}, h("dt", {}, part), h("dd", { dir: "auto" }, text))));
