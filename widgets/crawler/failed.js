// The failed URLs of the last crawl: the reason, and the page that links to each.

import { button, fill, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{url: string, reason: string, message: string, referrer: string}} Failed */

/**
 * `attempt` tries a URL; `begin` returns what leads to the first crawl, null if one has run.
 * @param {Frame} view @param {(url: string) => void} attempt
 * @param {() => import("../kit/empty.js").EmptyState["action"] | null} begin
 */
export function failedPanel(view, attempt, begin) {
  const status = h("p", { class: "hint", role: "status" });
  const list = h("ul", { class: "failed-urls", "aria-label": "Failed URLs" });
  const none = h("div", { hidden: true });
  const reload = button("Reload", read, { icon: "⟳", bare: true, title: "Refresh the list" });

  async function read() {
    fill(status, "Reading…");
    /** @type {{rows: Failed[], more: boolean} | undefined} */
    const found = await view.run("list_failed");
    if (!found) {
      fill(status, "The list could not be read.");
      return;
    }
    const { rows, more } = found;
    fill(status, rows.length ? sumOf(rows.length, more) : begin() ? "" : "No URL of the last crawl failed.");
    drawNone(!rows.length);
    fill(list, rows.map(draw));
  }

  /** @param {boolean} isEmpty */
  function drawNone(isEmpty) {
    const action = isEmpty ? begin() : null;
    none.hidden = !action;
    if (action) fill(none, emptyState({ title: "No crawl has run yet.", hint: "URLs that fail are listed here.", action }));
  }

  /** @param {Failed} row */
  const draw = ({ url, reason, message, referrer }) =>
    h(
      "li",
      {},
      button(url, () => attempt(url), { title: "Try this page" }),
      h("p", { class: "hint" }, h("code", {}, reason), ` ${message}`),
      referrer ? h("p", { class: "hint" }, "Found on ", h("bdi", {}, referrer)) : null,
    );

  return { el: h("div", {}, h("div", { class: "row" }, status, reload), list, none), read };
}

/** @param {number} number @param {boolean} more */
const sumOf = (number, more) =>
  more ? `The first ${number.toLocaleString()}; all of them are in editor.failed.` : `${number.toLocaleString()} failed.`;
