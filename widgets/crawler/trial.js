// The result of trying one page: records by action, links, logs and errors.

import { button, fill, freshId, h } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { tabs } from "../kit/tabs.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {{index: string, count: number, records: {id: string, text: string}[]}} Action */
/** `action` and `line` are the place of an error in an extractor. @typedef {{code?: string, message: string, action?: number, line?: number}} TrialError */
/** @typedef {{url?: string, seconds?: number | null, error?: TrialError | null, actions?: Action[],
 *   links?: string[], linkCount?: number, lines?: string[], lineCount?: number, external?: string}} Shown */

/**
 * `ready` finishes input that is being typed elsewhere, `goTo` shows a line of an action's extractor.
 * @param {Frame} view @param {() => void} ready @param {(action: number, line: number) => void} goTo
 */
export function trialPanel(view, ready, goTo) {
  const urlOptions = h("datalist", { id: freshId("urls") });
  const input = h("input", {
    class: "input",
    type: "url",
    placeholder: "https://example.com/page",
    "aria-label": "Page to try",
    list: urlOptions.id,
    on: { keydown: (event) => event.key === "Enter" && test() },
  });
  const tryButton = button("Try", () => test(), { class: ["button", "main"], title: "Fetch the page and run the draft on it" });
  const errorBanner = h("div", { class: "banner", role: "alert", hidden: true });
  const summary = h("p", { class: "hint", role: "status" }, "Trying a page stores nothing.");
  const parts = {
    records: h(
      "div",
      { class: "records" },
      nothingTried(() => test()),
    ),
    links: h("ol", { class: "links" }),
    logs: h("pre", { tabindex: 0, "aria-label": "Log" }),
    external: h("pre", { tabindex: 0, "aria-label": "External data" }),
  };
  const panels = tabs({
    label: "Results",
    panels: [
      { name: "records", title: "Records", draw: () => parts.records },
      { name: "links", title: "Links", draw: () => parts.links },
      { name: "logs", title: "Log", draw: () => parts.logs },
      { name: "external", title: "External data", draw: () => parts.external },
    ],
  });

  const outdated = h("p", { class: "stale", role: "status", hidden: true }, "The draft has changed since this page was tried.");
  let url = ""; // of the result that is shown
  let tried = ""; // the configuration of the result that is shown

  async function test() {
    const typed = input.value.trim();
    if (!typed) return input.focus();
    ready();
    tryButton.disabled = true;
    await view.taken();
    const config = JSON.stringify(view.value());
    if ((await view.run("run_test", { url: typed }, { long: true, again: test })) !== undefined) tried = config;
    compare();
    tryButton.disabled = false;
  }

  /** Mark a result of another configuration than the draft. */
  function compare() {
    outdated.hidden = !tried || tried === JSON.stringify(view.value());
  }

  /** @param {Shown} shown */
  function show(shown) {
    const { seconds = null, error = null, actions = [], links = [], linkCount = 0 } = shown;
    url = shown.url ?? "";
    if (!url) return;
    if (document.activeElement !== input) input.value = url;
    errorBanner.hidden = !error;
    fill(errorBanner, error ? drawError(error) : null);
    const records = actions.reduce((total, action) => total + action.count, 0);
    const took = seconds === null ? "" : `, in ${seconds.toLocaleString()} s`;
    fill(summary, `${count(records, "record")}, ${count(linkCount, "link")} to follow${took}`);
    fill(
      parts.records,
      actions.map(drawAction),
      actions.length ? null : h("p", { class: "hint" }, error ? "No records." : "No action matches this page."),
    );
    fill(
      parts.links,
      links.map((link) => h("li", {}, link)),
      linkCount > links.length ? h("li", { class: "hint" }, `and ${linkCount - links.length} more`) : null,
      linkCount ? null : h("li", { class: "hint" }, "No links to follow."),
    );
    const { lines = [], lineCount = 0, external = "" } = shown;
    fill(parts.logs, lines.join("\n") || "No log output.", lineCount > lines.length ? `\n… ${lineCount} lines total` : null);
    fill(parts.external, external || "None.");
  }

  /** @param {TrialError} error */
  function drawError({ code, message, action = 0, line = 0 }) {
    return [
      h("span", { class: "banner-text" }, code && h("b", {}, `${code} `), message),
      line ? button(`Go to line ${line}`, () => goTo(action, line)) : null,
    ];
  }

  /** Allow pages to be tried; a crawler that is not created yet has no tests. @param {boolean} allowed */
  function allow(allowed) {
    if (tryButton.disabled === !allowed) return;
    tryButton.disabled = input.disabled = !allowed;
    if (url) return;
    fill(parts.records, allowed ? nothingTried(test) : notCreated(() => view.review()));
  }

  /** @param {string[]} urls */
  function offer(urls) {
    fill(
      urlOptions,
      urls.map((url) => h("option", { value: url })),
    );
    if (!input.value && urls.length) input.value = urls[0];
  }

  return {
    el: h(
      "div",
      { class: "trial" },
      urlOptions,
      h("div", { class: "row url-row" }, input, tryButton),
      outdated,
      errorBanner,
      summary,
      panels.el,
    ),
    test,
    allow,
    compare,
    show,
    offer,
    /** @param {string} url */
    choose: (url) => {
      input.value = url;
    },
  };
}

/** @param {() => void} act */
const nothingTried = (act) =>
  emptyState({
    title: "No page tried yet.",
    hint: "Try fetches one page and shows the records, links and log that the draft produces.",
    action: { label: "Fetch the page above", act },
  });

/** @param {() => void} act */
const notCreated = (act) =>
  emptyState({
    title: "The crawler is not created yet.",
    hint: "A crawler that exists can try single pages, without storing anything.",
    action: { label: "Create the crawler…", act },
  });

/** @param {Action} action */
function drawAction({ index, count: total, records }) {
  return h(
    "section",
    { class: "action", "aria-label": index },
    h("h4", {}, h("bdi", {}, index), `: ${count(total, "record")}`),
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
