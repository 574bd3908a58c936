// The failed URLs of the last crawl: the reason, and the page that links to each.

import { button, fill, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{url: string, reason: string, message: string, referrer: string}} Failed */

/** `attempt` tries a URL; `isNew` returns whether no crawl has run. @param {Frame} view @param {(url: string) => void} attempt @param {() => boolean} isNew */
export function failedPanel(view, attempt, isNew) {
  const status = h("p", { class: "hint", role: "status" });
  const list = h("ul", { class: "failed-urls", "aria-label": "Failed URLs" });
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
    fill(status, rows.length ? sumOf(rows.length, more) : isNew() ? "No crawl has run yet: URLs that fail are listed here." : "No URL of the last crawl failed.");
    fill(list, rows.map(draw));
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

  return { el: h("div", {}, h("div", { class: "row" }, status, reload), list), read };
}

/** @param {number} number @param {boolean} more */
const sumOf = (number, more) =>
  more ? `The first ${number.toLocaleString()}; all of them are in editor.failed.` : `${number.toLocaleString()} failed.`;
