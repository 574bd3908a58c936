// The workbench: the query editor on the left; settings, synonyms, rules, judgments, analytics and the
// history on the right, below one another where the workbench is narrow. Drafts of the right show in
// the hits.

import { button, fill, h } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { tabs } from "./kit/tabs.js";
import { appliedPanel } from "./workbench/applied.js";
import { Panes } from "./workbench/panes.js";
import { drawReview } from "./workbench/review.js";
import { trialBar } from "./workbench/trial.js";

/** Parts that are drafted, with the titles of their tabs. @type {[string, string][]} */
const DRAFTED = [
  ["settings", "Settings"],
  ["synonyms", "Synonyms"],
  ["rules", "Rules"],
];

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  const view = frame(mount, {
    named: "bench",
    retry: "refresh",
    tools: [
      button("Reload", () => view.run("refresh", {}, { long: true }), {
        icon: "⟳",
        bare: true,
        title: "Reload all parts; your changes stay",
      }),
    ],
    diff: () => drawReview(view, model),
  });
  const panes = new Panes(mount, view.error);
  const trial = trialBar(view, model);
  const applied = appliedPanel(view, () => side.open("settings"));
  const judge = button("Judge this query", () => view.run("judge_query"), {
    class: ["button", "small"],
    title: "Grade the hits of the current query; the grades give the score of drafts",
  });
  const side = tabs({
    label: "Parts of the index",
    opened: (name) => name === "history" && applied.load(),
    panels: [
      ...DRAFTED.map(([name, title]) => ({ name, title, draw: () => panes.draw(name) })),
      {
        name: "judgments",
        title: "Judgments",
        draw: () => h("div", { class: "bench-judgments" }, h("div", { class: "row" }, judge), panes.draw("judgments")),
      },
      { name: "analytics", title: "Analytics", draw: () => panes.draw("analytics") },
      { name: "history", title: "History", draw: () => applied.el },
    ],
  });
  const left = h("div", { class: "bench-main", role: "group", "aria-label": "Search" }, panes.draw("query"));
  const right = h("div", { class: "bench-side", role: "group", "aria-label": "Parts of the index" }, side.el);
  fill(view.body, trial.el, h("div", { class: "bench-columns" }, left, right));

  view.link.watch("value", (changes) => {
    for (const [name] of DRAFTED) side.mark(name, Object.keys(changes?.[name] ?? {}).length);
  });
  view.link.watch("state", () => trial.draw());
  view.link.on("drafted", async ({ id }) => {
    side.open("rules");
    await panes.ready("rules");
    view.run("show_rule", { id });
  });
  view.link.on("continued", ({ step }) => {
    const name = { synonym: "synonyms", judge: "judgments" }[/** @type {string} */ (step)];
    if (name) side.open(name);
  });
  view.link.on("applied", () => {
    if (side.current() === "history") applied.load();
  });
  void panes.model("query").then((query) => {
    if (query) trial.follow(query);
  });
  return () => {
    trial.close();
    panes.close();
    view.close();
  };
}

export default { render };
