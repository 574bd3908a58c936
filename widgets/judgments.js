// The judgment editor: queries, their hits, and grades by single keys.

import { button, fill, h } from "./kit/dom.js";
import { emptyState } from "./kit/empty.js";
import { frame } from "./kit/frame.js";
import { WIDE_PIXELS } from "./kit/side_panel.js";
import { progressOf } from "./judgments/grades.js";
import { questionList } from "./judgments/question_list.js";
import { scorePanel } from "./judgments/scores.js";
import { gradeSheet } from "./judgments/sheet.js";

/** @typedef {import("./judgments/question_list.js").Question} Question */

/** @type {[string, string][]} */
const KEYS = [
  ["0 1 2 3", "grade the hit and go to the next one"],
  ["u", "unrateable"],
  ["⌫", "clear the grade"],
  ["n", "note"],
  ["o", "full record"],
  ["↑ ↓", "move among hits"],
  ["[ ]", "go to the previous or next query"],
  ["g", "go to the next query to judge"],
];

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  const view = frame(mount, { named: "judgments", keys: KEYS });
  const sheet = gradeSheet(view, model, next);
  const scores = scorePanel(model);
  const list = questionList((place) => {
    if (!isWide) queryPanel.open = false;
    view.run("turn", { place }).then(() => sheet.focus());
  });
  /** Whether the list of queries is beside the hits; otherwise it is folded above them. */
  let isWide = false;
  const meter = h("progress", { class: "meter", "aria-label": "judged hits" });
  const progress = h("span", { class: "far", role: "status" });
  const heading = h("h3", { class: "question", dir: "auto" });
  const gone = h("p", { class: "missing", hidden: true });
  const ask = h("input", {
    class: "input",
    type: "search",
    placeholder: "Another query…",
    "aria-label": "Another query to judge",
    dir: "auto",
    on: {
      keydown: (event) => {
        if (event.key === "Enter" && ask.value.trim()) {
          view.run("ask", { query: ask.value.trim() }).then(() => sheet.focus());
          ask.value = "";
        }
      },
    },
  });
  const begin = h(
    "div",
    { hidden: true },
    emptyState({
      title: "No query to judge yet.",
      hint: "Type a query, and grade its hits from 0 to 3 by single keys. The grades give a score, which shows whether a change of settings helps.",
      action: {
        label: "Enter a query",
        act: () => {
          queryPanel.open = true;
          ask.focus();
        },
      },
    }),
  );
  const changed = h("p", { class: "missing", hidden: true });
  const blind = check("blind", "hides where hits were found and how others rated them");
  const shuffled = check("shuffled", "shows hits in random order");
  const onlyChanged = check("only_changed", "shows only hits whose record has changed since it was judged", "changed");
  const queryPanel = h("details", { class: "facets" }, h("summary", {}, "Queries"), list.el, ask);
  const keys = h("p", { class: "hint keys" });
  const head = h(
    "div",
    { class: "judging-head" },
    h(
      "div",
      { class: "row sheet-head" },
      heading,
      h(
        "span",
        { class: "row" },
        button("Previous query", () => turn(-1), { icon: "‹", bare: true, title: "Previous query ([)" }),
        button("Next query", () => turn(1), { icon: "›", bare: true, title: "Next query (])" }),
        button("Next to judge", next, { class: ["button", "small"], title: "The next query with unjudged hits (g)" }),
      ),
    ),
    scores.el,
  );
  fill(
    view.body,
    h("div", { class: "row progress-row" }, meter, progress, h("span", { class: "row ways" }, onlyChanged.el, blind.el, shuffled.el)),
    gone,
    changed,
    h(
      "div",
      { class: "results" },
      queryPanel,
      h(
        "div",
        { class: "main-column" },
        head,
        keys,
        begin,
        sheet.el,
      ),
    ),
  );
  const sizes = new ResizeObserver(([entry]) => {
    const wide = entry.contentRect.width > WIDE_PIXELS;
    if (wide !== isWide) queryPanel.open = wide;
    isWide = wide;
    queryPanel.classList.toggle("svc-wide", wide);
  });
  sizes.observe(view.root);
  // A hit that is scrolled into view leaves room for the head, which stays in place above it.
  const headSizes = new ResizeObserver(() => view.root.style.setProperty("--svc-judging-head", `${head.offsetHeight}px`));
  headSizes.observe(head);

  /** @param {"blind" | "shuffled" | "only_changed"} name @param {string} title @param {string} [label] */
  function check(name, title, label = name) {
    const box = h("input", { type: "checkbox", on: { change: arrange } });
    return { box, el: h("label", { class: "row hint", title }, box, label) };
  }

  function arrange() {
    void view.run("arrange", {
      blind: blind.box.checked,
      shuffled: shuffled.box.checked,
      only_changed: onlyChanged.box.checked,
    });
  }

  const questions = () => /** @type {Question[]} */ (model.get("questions") ?? []);
  const at = () => model.get("sheet")?.place ?? 0;

  let wanted = 0; // the requested query, whose sheet may not have arrived yet

  /** @param {number} step */
  function turn(step) {
    wanted = list.step(wanted, step);
    return view.run("turn", { place: wanted }).then(() => sheet.focus());
  }

  /** Open the next query with unjudged hits; returns whether there is one. */
  async function next() {
    const { done, total } = progressOf(questions());
    if (total && done >= total) {
      view.say("All hits of all queries are judged.");
      return false;
    }
    const answer = await view.run("turn_to_open");
    sheet.focus();
    return answer !== undefined;
  }

  function drawQuestions() {
    const { done, total, ready, empty } = progressOf(questions());
    [meter.max, meter.value] = [total || 1, done];
    fill(
      progress,
      h("b", {}, `${done.toLocaleString()} of ${total.toLocaleString()}`),
      ` hits judged · ${ready} of ${questions().length - empty} queries done`,
      empty ? ` · ${empty} without hits` : null,
    );
    const known = /** @type {import("./judgments/scores.js").Scores | undefined} */ (model.get("scores"));
    list.show(questions(), (known?.each ?? []).map(([first]) => first.mean), at());
    scores.turn(at());
  }

  view.link.watch("questions", drawQuestions);
  view.link.watch("scores", (next) => {
    scores.show(next);
    drawQuestions();
  });
  view.link.watch("sheet", (sheetState) => {
    const shown = sheetState?.hits ? sheetState : { place: -1, query: "", filters: "", hits: [] };
    begin.hidden = shown.place >= 0;
    heading.parentElement?.toggleAttribute("hidden", shown.place < 0);
    keys.hidden = shown.place < 0;
    fill(heading, shown.query || "(everything)", shown.filters ? h("span", { class: "hint" }, ` ${shown.filters}`) : null);
    sheet.show(shown);
    wanted = Math.max(0, shown.place);
    drawQuestions();
  });
  view.link.watch("labels", (labels) =>
    fill(
      keys,
      Object.entries(labels ?? {}).flatMap(([grade, label]) => [h("kbd", {}, grade), ` ${label} `]),
      h("kbd", {}, "u"), " unrateable ", h("kbd", {}, "⌫"), " clear ", h("kbd", {}, "n"), " note ",
      h("kbd", {}, "o"), " record ", h("kbd", {}, "["), " ", h("kbd", {}, "]"), " query ", h("kbd", {}, "g"), " next to judge",
    ),
  );
  for (const [name, { box }] of Object.entries({ blind, shuffled, only_changed: onlyChanged }))
    view.link.watch(name, (on) => {
      box.checked = Boolean(on);
    });
  view.link.watch("state", (state) => {
    changed.hidden = !state?.changed;
    onlyChanged.el.hidden = !state?.changed;
    fill(changed, `Judged records that have changed since: ${state?.changed}. Grade them again.`);
    gone.hidden = !state?.gone;
    fill(gone, `${state?.gone} judged records are no longer in the index; check whether objectIDs have changed.`);
  });
  view.root.addEventListener("keydown", (event) => {
    const typing = /** @type {HTMLElement} */ (event.target).closest("input:not([type=checkbox]), textarea, select, dialog");
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "[": () => turn(-1), "]": () => turn(1), g: next }[event.key];
    // The keys of grades work wherever the focus is in the editor.
    if (act) act();
    else if (!sheet.grade(event.key)) return;
    event.preventDefault();
  });
  return () => {
    sizes.disconnect();
    headSizes.disconnect();
    view.close();
  };
}

export default { render };
