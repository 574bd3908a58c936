// The list of queries: their progress and scores, in an order of choice.

import { button, fill, follow, h, setAttribute } from "../kit/dom.js";
import { writeScore } from "./scores.js";

/** @typedef {{query: string, filters: string, frequency: number | null, done: number, total: number, changed?: number}} Question */
/** @typedef {{question: Question, place: number, score: number | null}} Entry */

/** The orders of the list; the smallest value comes first. @type {[string, string, (entry: Entry) => number][]} */
const ORDERS = [
  ["given", "in the given order", ({ place }) => place],
  ["score", "lowest score first", ({ score }) => score ?? Infinity],
  ["frequency", "most frequent first", ({ question }) => -(question.frequency ?? -1)],
  ["changed", "most changed records first", ({ question }) => -(question.changed ?? 0)],
  ["judged", "least judged first", ({ question }) => (question.total ? question.done / question.total : Infinity)],
];

/** The places of queries in an order; equal ones stay in the given order. @param {Entry[]} entries @param {string} name */
export function sortPlaces(entries, name) {
  const [, , value] = ORDERS.find(([own]) => own === name) ?? ORDERS[0];
  return [...entries].sort((a, b) => compare(value(a), value(b)) || a.place - b.place).map(({ place }) => place);
}

/** @param {number} a @param {number} b */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The place one step further in an order; the last one stays the last. @param {number[]} order @param {number} place @param {number} step */
export function stepIn(order, place, step) {
  const at = order.indexOf(place) + step;
  return order[Math.max(0, Math.min(order.length - 1, at))] ?? 0;
}

/** The state of a query in a few words. @param {Question} question */
export function describeState({ done, total }) {
  if (!total) return "no hits";
  return done === total ? "✓" : `${done}/${total}`;
}

/** `open(place)` opens the sheet of a query. @param {(place: number) => void} open */
export function questionList(open) {
  /** @type {Entry[]} */
  let entries = [];
  /** @type {number[]} */
  let order = [];
  let current = 0;
  const list = h("ol", { class: "questions", "aria-label": "Queries", on: { keydown: handleKey } });
  const choice = h(
    "select",
    { class: "input", "aria-label": "Order of the queries", on: { change: sort } },
    ORDERS.map(([name, title]) => h("option", { value: name }, title)),
  );
  // Grades do not move queries in the list: its order changes only on request.
  const again = button("Sort again", sort, { icon: "↻", bare: true });
  const el = h("div", { class: "question-list" }, h("div", { class: "row question-order" }, choice, again), list);

  function sort() {
    order = sortPlaces(entries, choice.value);
    draw();
  }

  function draw() {
    const frequencies = entries.some(({ question }) => question.frequency !== null);
    for (const option of choice.querySelectorAll("option")) if (option.value === "frequency") option.disabled = !frequencies;
    follow(
      list,
      order.flatMap((place) => entries[place] ?? []),
      ({ question }) => JSON.stringify([question.query, question.filters]),
      (entry, old) => drawEntry(entry, old, frequencies),
    );
  }

  /** @param {Entry} entry @param {HTMLElement | null} old @param {boolean} frequencies */
  function drawEntry({ question, place, score }, old, frequencies) {
    const el = old ?? h("li", {}, h("button", { type: "button", class: "history-row" }));
    const row = /** @type {HTMLElement} */ (el.firstElementChild);
    const state = JSON.stringify([question, place, score, place === current, frequencies]);
    if (row.dataset.state === state) return el;
    row.dataset.state = state;
    row.onclick = () => open(place);
    setAttribute(row, "aria-current", place === current ? "true" : null);
    row.tabIndex = place === current ? 0 : -1;
    const { query, filters, done, total, frequency } = question;
    fill(
      row,
      h("span", { class: "history-label", dir: "auto" }, query || "(everything)", filters ? h("span", { class: "hint" }, ` ${filters}`) : null),
      frequencies ? h("span", { class: ["hint", "frequency"], title: "searches" }, frequency === null ? "–" : frequency.toLocaleString()) : null,
      h("span", { class: ["hint", "question-score"], title: "score" }, total ? writeScore(score) : null),
      h("span", { class: ["hint", "question-state", !total && "warning-text", total > 0 && done === total && "ready"] }, describeState(question)),
    );
    return el;
  }

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

  return {
    el,
    /** @param {Question[]} questions @param {(number | null)[]} scores @param {number} at the place of the open query */
    show(questions, scores, at) {
      entries = questions.map((question, place) => ({ question, place, score: scores[place] ?? null }));
      current = at;
      if (order.length !== entries.length) sort();
      else draw();
    },
    /** The place of the query one step further in the list. @param {number} place @param {number} step */
    step: (place, step) => stepIn(order, place, step),
  };
}
