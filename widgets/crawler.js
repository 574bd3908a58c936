// The crawler editor: a configuration, and beside it the result of trying one page.

import { drawChanged, drawNew, listSentences } from "./crawler/changed.js";
import { failedPanel } from "./crawler/failed.js";
import { extractorPanel } from "./crawler/extractor.js";
import { trialPanel } from "./crawler/trial.js";
import { button, fill, h } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { tabs } from "./kit/tabs.js";
import { jsonPanel } from "./query/json.js";

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  const start = button("Start crawl…", startCrawl, { class: ["button"] });
  const view = frame(mount, {
    named: "crawler",
    retry: "refresh",
    tools: [
      start,
      button("Reload", () => view.run("refresh"), {
        icon: "⟳",
        bare: true,
        title: "Reload the saved value; your changes stay",
      }),
    ],
    diff: async () => {
      if (view.state().isNew) return drawNew((await view.run("describe_crawl", { draft: true })) ?? [], view.state().index);
      return drawChanged((await view.run("differing")) ?? [], view.state().index);
    },
  });
  const status = h("p", { class: "hint standing", role: "status" });
  const extractor = extractorPanel(view, () => trial.test());
  const trial = trialPanel(view, () => extractor.take(), (action, line) => {
    panels.open("extractor");
    extractor.goTo(action, line);
  });
  const failed = failedPanel(view, (url) => {
    trial.choose(url);
    trial.test();
  }, firstCrawl);
  const panels = tabs({
    label: "Configuration",
    panels: [
      { name: "extractor", title: "Extractors", draw: () => extractor.el },
      {
        name: "json",
        title: "JSON",
        draw: () => jsonPanel(view, {
          label: "Configuration as JSON, or JavaScript: new Crawler({ … })",
          action: "Use as draft",
          takeScript: (text) => view.run("take_script", { text }),
        }).el,
      },
      { name: "failed", title: "Failed URLs", draw: () => failed.el },
    ],
    opened: (name) => {
      if (name === "failed") failed.read();
    },
  });
  /** What leads to the first crawl: a crawl uses the saved configuration. */
  function firstCrawl() {
    const state = view.state();
    if (!isNew(state)) return null;
    if (state?.isNew) return { label: "Create the crawler…", act: () => void view.review() };
    if (state?.dirty) return { label: "Apply the changes…", act: () => void view.review() };
    return { label: "Start crawl…", act: () => void startCrawl(), disabled: Boolean(state?.reindexing) };
  }

  async function startCrawl() {
    const sentences = await view.run("describe_crawl");
    if (!sentences) return;
    const answer = await view.ask({
      title: `Start a crawl of ${view.state().index}?`,
      body: listSentences(sentences),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "start", label: "Start crawl", main: true },
      ],
    });
    if (answer !== "start") return;
    const ends = await view.run("start_crawl", {}, { long: true });
    if (ends) view.say(`Crawled: ${ends.done} done, ${ends.skipped} skipped, ${ends.failed} failed.`);
  }

  fill(
    view.body,
    status,
    h("div", { class: "workbench" }, h("div", { class: "crawler-panels" }, panels.el), trial.el),
  );

  view.link.watch("state", (state) => {
    const text = describeCrawler(state);
    status.classList.toggle("svc-error-text", Boolean(state?.blocked));
    fill(status, [text, ...(state?.warnings ?? [])].join(" "));
    start.disabled = Boolean(state?.isNew || state?.dirty || state?.reindexing);
    start.title = startTitle(state);
    trial.allow(!state?.isNew);
  });
  view.link.watch("value", () => {
    extractor.show();
    trial.compare();
  });
  view.link.watch("urls", () => trial.offer(model.get("urls") ?? []));
  view.link.watch("shown", () => trial.show(model.get("shown") ?? {}));
  return () => view.close();
}

/** Whether a crawler has not started any crawl. @param {any} state */
const isNew = (state) => !state?.running && !(state?.lastReindexStartedAt ?? state?.lastReindexStartAt);

/** @param {any} state */
function startTitle(state) {
  if (state?.isNew) return "Create the crawler first";
  return state?.dirty ? "Apply the changes first: a crawl uses the saved configuration" : "Crawl all pages with the saved configuration";
}

/** The status of a crawler in words. @param {any} state */
export function describeCrawler(state) {
  if (state?.blocked) return `Blocked: ${state.blockingError || "a task failed; cancel it to continue"}`;
  if (state?.reindexing) return "Crawling now.";
  if (state?.isNew) return "Not created yet. Create… saves this configuration; Try and Start crawl then run it.";
  if (isNew(state)) return "Not run yet. Try pages here; Start crawl begins the first crawl.";
  return state?.running ? "Waiting for the next crawl." : "Paused.";
}

export default { render };
