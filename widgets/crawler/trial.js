// One page tried: its records by action, the links that are followed, what was logged, what failed.

import { button, fill, freshId, h } from "../kit/dom.js";
import { tabs } from "../kit/tabs.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{index: string, count: number, records: {id: string, text: string}[]}} Action */
/** @typedef {{url?: string, seconds?: number | null, error?: {code: string, message: string} | null, actions?: Action[],
 *   links?: string[], linkCount?: number, lines?: string[], lineCount?: number, external?: string}} Shown */

/** `ready` takes what is being typed elsewhere. @param {Frame} view @param {() => void} ready */
export function trialPanel(view, ready) {
  const known = h("datalist", { id: freshId("urls") });
  const input = h("input", {
    class: "input",
    type: "url",
    placeholder: "https://example.com/page",
    "aria-label": "Page to try",
    list: known.id,
    on: { keydown: (event) => event.key === "Enter" && test() },
  });
  const go = button("Try", () => test(), { class: ["button", "main"], title: "Fetch the page and run the draft over it" });
  const wrong = h("div", { class: "banner", role: "alert", hidden: true });
  const sum = h("p", { class: "hint", role: "status" }, "Nothing is kept of a page that is tried.");
  const parts = {
    records: h("div", { class: "records" }),
    links: h("ol", { class: "links" }),
    logs: h("pre", { tabindex: 0, "aria-label": "What was logged" }),
    external: h("pre", { tabindex: 0, "aria-label": "External data" }),
  };
  const panels = tabs({
    label: "What the page gave",
    panels: [
      { name: "records", title: "Records", draw: () => parts.records },
      { name: "links", title: "Links", draw: () => parts.links },
      { name: "logs", title: "Log", draw: () => parts.logs },
      { name: "external", title: "External data", draw: () => parts.external },
    ],
  });

  async function test() {
    const url = input.value.trim();
    if (!url) return input.focus();
    ready();
    go.disabled = true;
    await view.taken();
    await view.run("run_test", { url }, { long: true, again: test });
    go.disabled = false;
  }

  /** @param {Shown} shown */
  function show(shown) {
    const { url = "", seconds = null, error = null, actions = [], links = [], linkCount = 0 } = shown;
    if (!url) return;
    if (document.activeElement !== input) input.value = url;
    wrong.hidden = !error;
    fill(wrong, error ? h("span", { class: "banner-text" }, error.code && h("b", {}, `${error.code} `), error.message) : null);
    const records = actions.reduce((total, action) => total + action.count, 0);
    const took = seconds === null ? "" : `, in ${seconds.toLocaleString()} s`;
    fill(sum, `${count(records, "record")}, ${count(linkCount, "link")} to follow${took}`);
    fill(
      parts.records,
      actions.map(drawAction),
      actions.length ? null : h("p", { class: "hint" }, error ? "No records." : "No action takes this page."),
    );
    fill(
      parts.links,
      links.map((link) => h("li", {}, link)),
      linkCount > links.length ? h("li", { class: "hint" }, `and ${linkCount - links.length} more`) : null,
      linkCount ? null : h("li", { class: "hint" }, "No links to follow."),
    );
    const { lines = [], lineCount = 0, external = "" } = shown;
    fill(parts.logs, lines.join("\n") || "Nothing was logged.", lineCount > lines.length ? `\n… ${lineCount} lines in all` : null);
    fill(parts.external, external || "None.");
  }

  /** @param {string[]} urls */
  function offer(urls) {
    fill(
      known,
      urls.map((url) => h("option", { value: url })),
    );
    if (!input.value && urls.length) input.value = urls[0];
  }

  return {
    el: h(
      "div",
      { class: "trial" },
      known,
      h("div", { class: "row url-row" }, input, go),
      wrong,
      sum,
      panels.el,
    ),
    test,
    show,
    offer,
    /** @param {string} url */
    choose: (url) => {
      input.value = url;
    },
  };
}

/** @param {Action} action */
function drawAction({ index, count: total, records }) {
  return h(
    "section",
    { class: "action", "aria-label": index },
    h("h4", {}, h("bdi", {}, index), ` ${total.toLocaleString()}`),
    records.map(({ id, text }, place) =>
      h(
        "details",
        { class: "record", open: place === 0 },
        h("summary", {}, h("bdi", {}, id || `record ${place + 1}`)),
        h("pre", { tabindex: 0, dir: "auto" }, text),
      ),
    ),
    total > records.length ? h("p", { class: "hint" }, `and ${total - records.length} more, in editor.records`) : null,
  );
}

/** @param {number} number @param {string} word */
const count = (number, word) => `${number.toLocaleString()} ${word}${number === 1 ? "" : "s"}`;
