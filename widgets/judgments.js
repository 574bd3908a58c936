// The judgment editor: queries, their hits, and grades by single keys.

import { button, fill, follow, h, setAttribute } from "./kit/dom.js";
import { frame } from "./kit/frame.js";
import { progressOf } from "./judgments/grades.js";
import { gradeSheet } from "./judgments/sheet.js";

/** @typedef {{query: string, filters: string, done: number, total: number}} Question */

/** @param {import("./types").Mount} mount */
function render(mount) {
  const { model } = mount;
  const view = frame(mount, { named: "judgments" });
  const sheet = gradeSheet(view, model, next);
  const list = h("ol", { class: "questions", "aria-label": "Queries", on: { keydown: handleKey } });
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
  const blind = check("blind", "hides where hits were found and how others rated them");
  const shuffled = check("shuffled", "shows hits in random order");
  const queryPanel = h("details", { class: "facets" }, h("summary", {}, "Queries"), list, ask);
  const keys = h("p", { class: "hint keys" });
  fill(
    view.body,
    h("div", { class: "row progress-row" }, meter, progress, h("span", { class: "row ways" }, blind.el, shuffled.el)),
    gone,
    h(
      "div",
      { class: "results" },
      queryPanel,
      h(
        "div",
        { class: "main-column" },
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
        keys,
        sheet.el,
      ),
    ),
  );
  const sizes = new ResizeObserver(([entry]) => {
    if (entry.contentRect.width > 700) queryPanel.open = true;
    queryPanel.classList.toggle("svc-wide", entry.contentRect.width > 700);
  });
  sizes.observe(view.root);

  /** @param {"blind" | "shuffled"} name @param {string} title */
  function check(name, title) {
    const box = h("input", {
      type: "checkbox",
      on: { change: () => view.run("arrange", { blind: blind.box.checked, shuffled: shuffled.box.checked }) },
    });
    return { box, el: h("label", { class: "row hint", title }, box, name) };
  }

  const questions = () => /** @type {Question[]} */ (model.get("questions") ?? []);
  const at = () => model.get("sheet")?.place ?? 0;

  let wanted = 0; // the requested query, whose sheet may not have arrived yet

  /** @param {number} step */
  function turn(step) {
    wanted = Math.max(0, Math.min(questions().length - 1, wanted + step));
    return view.run("turn", { place: wanted }).then(() => sheet.focus());
  }

  async function next() {
    const { done, total } = progressOf(questions());
    if (total && done >= total) {
      view.say("All hits of all queries are judged.");
      return;
    }
    await view.run("turn_to_open");
    sheet.focus();
  }

  function drawQuestions() {
    const { done, total, ready } = progressOf(questions());
    [meter.max, meter.value] = [total || 1, done];
    fill(
      progress,
      h("b", {}, `${done.toLocaleString()} of ${total.toLocaleString()}`),
      ` hits judged · ${ready} of ${questions().length} queries done`,
    );
    follow(
      list,
      questions(),
      ({ query, filters }) => JSON.stringify([query, filters]),
      (question, old, place) => drawQuestion(question, old, place),
    );
  }

  /** @param {Question} question @param {HTMLElement | null} old @param {number} place */
  function drawQuestion({ query, filters, done, total }, old, place) {
    const el = old ?? h("li", {}, h("button", { type: "button", class: "history-row", on: { click: () => go(el) } }));
    const row = /** @type {HTMLElement} */ (el.firstElementChild);
    setAttribute(row, "aria-current", place === at() ? "true" : null);
    row.tabIndex = place === at() ? 0 : -1;
    fill(
      row,
      h("span", { class: "history-label", dir: "auto" }, query || "(everything)", filters ? h("span", { class: "hint" }, ` ${filters}`) : null),
      h("span", { class: ["hint", total > 0 && done === total && "ready"] }, done === total ? (total ? "✓" : "no hits") : `${done}/${total}`),
    );
    return el;
  }

  /** @param {Element} el */
  const go = (el) => view.run("turn", { place: [...list.children].indexOf(el) }).then(() => sheet.focus());

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...list.children];
    const from = items.findIndex((item) => item.contains(/** @type {Node} */ (event.target)));
    const to = items[Math.max(0, Math.min(items.length - 1, from + step))];
    /** @type {HTMLElement} */ (to.firstElementChild)?.focus();
  }

  view.link.watch("questions", drawQuestions);
  view.link.watch("sheet", (sheetState) => {
    const shown = sheetState?.hits ? sheetState : { place: -1, query: "", filters: "", hits: [] };
    fill(heading, shown.place < 0 ? "No query yet" : shown.query || "(everything)", shown.filters ? h("span", { class: "hint" }, ` ${shown.filters}`) : null);
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
  for (const [name, { box }] of Object.entries({ blind, shuffled }))
    view.link.watch(name, (on) => {
      box.checked = Boolean(on);
    });
  view.link.watch("state", (state) => {
    gone.hidden = !state?.gone;
    fill(gone, `${state?.gone} judged hits are not in the index any more: have its objectIDs changed?`);
  });
  view.root.addEventListener("keydown", (event) => {
    const typing = /** @type {HTMLElement} */ (event.target).matches("input, textarea, select");
    const act = { "[": () => turn(-1), "]": () => turn(1), g: next }[event.key];
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  return () => {
    sizes.disconnect();
    view.close();
  };
}

export default { render };
