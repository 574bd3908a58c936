// The hits of one page: highlighted text, images, and the criterion that ranks each below the previous one.

import { button, copyText, fill, focusedIn, follow, h, setAttribute } from "../kit/dom.js";
import { drawCode } from "../kit/code_text.js";
import { plainText } from "../kit/highlight.js";
import { hitDisplay } from "../kit/hit_card.js";
import { drawExplanation } from "./explanation.js";

/** @typedef {import("../kit/hit_card.js").Hit & {place: number, why: string, promoted: boolean, previous?: number}} Card */
/** @typedef {{label: string, hits: number, value: any}} RelaxedSearch */
/** @typedef {import("../kit/frame.js").Frame} Frame */

/** Describe why one hit ranks below another. @param {Card} card @param {Card | undefined} above */
export const reason = (card, above) => (above ? card.why : "");

/** Describe how a draft moved a hit; `previous` is its place without the draft, 0 for a new hit. @param {Card} card */
export function describeMove({ previous, place }) {
  if (previous === undefined || previous === place) return null;
  if (!previous) return { kind: "new", text: "new", title: "Not among the first hits without the draft" };
  const up = previous > place;
  const text = `${up ? "▲" : "▼"} ${Math.abs(previous - place).toLocaleString()}`;
  return { kind: up ? "up" : "down", text, title: `Place ${previous.toLocaleString()} without the draft` };
}

/** @param {Card} card */
function drawMove(card) {
  const move = describeMove(card);
  if (!move) return null;
  return h("span", { class: ["move", `is-${move.kind}`], title: move.title }, move.text, h("span", { class: "offscreen" }, `. ${move.title}`));
}

/** `bar` is drawn before the choice of density. @param {Frame} view @param {import("../types").Model} model @param {Node[]} [bar] */
export function hitList(view, model, bar = []) {
  /** @type {Card[]} */
  let cards = [];
  /** @type {string[]} */
  let attributes = [];
  let open = "";
  /** @type {WeakMap<HTMLElement, string>} */
  const drawn = new WeakMap();
  const list = h("ol", { class: "hits", "aria-label": "Hits", on: { keydown: handleKey } });
  const none = h("div", { class: "none", role: "status" });
  const pager = h("nav", { class: "row pager", "aria-label": "Pages" });
  const display = hitDisplay(view, model, () => redraw(), bar);
  const el = h("div", { class: "main-column" }, display.toolbar, list, none, h("div", { class: "row foot" }, pager));

  /** @param {Card} card @param {HTMLElement | null} old @param {number} place */
  function drawCard(card, old, place) {
    const el = old ?? h("li", { class: "hit", tabindex: -1 });
    const detail = old?.querySelector(".svc-detail") ?? null;
    el.tabIndex = place === 0 ? 0 : -1;
    setAttribute(el, "aria-current", card.id === model.get("selected") ? "true" : null);
    setAttribute(el, "aria-expanded", card.id === open ? "true" : "false");
    // Unchanged cards are not redrawn, so that images do not flicker and selections stay.
    const state = JSON.stringify([card, reason(card, cards[place - 1]), view.state()?.curates, display.key()]);
    if (!old || drawn.get(el) !== state) fill(el, ...drawHit(card, place), tools(card), detail);
    drawn.set(el, state);
    if (card.id !== open) detail?.remove();
    return el;
  }

  /** @param {Card} card @param {number} place */
  function drawHit(card, place) {
    const why = reason(card, cards[place - 1]) || (card.promoted ? "Pinned by a rule" : "");
    const reasons = why && display.density() !== "rows" ? [h("span", { class: "why" }, drawCode(why))] : [];
    const notes = [drawMove(card), ...reasons].filter(Boolean);
    return display.draw(card, { place: card.place, notes, open: () => toggle(card) });
  }

  /** @param {Card} card */
  function tools(card) {
    if (!view.state()?.curates) return null;
    return h(
      "div",
      { class: "hit-tools" },
      button(
        `Pin ${plainText(card.title) || card.id} here`,
        () => curate("pin", card),
        { icon: "⊤", bare: true, tabindex: -1, title: "Pin here (p)" },
      ),
      button(
        `Hide ${plainText(card.title) || card.id}`,
        () => curate("hide", card),
        { icon: "⊘", bare: true, tabindex: -1, title: "Hide (h)" },
      ),
    );
  }

  /** Open or close the details of a hit. @param {Card} card */
  async function toggle(card) {
    open = open === card.id ? "" : card.id;
    redraw();
    if (!open) return;
    const [record, ranking] = await Promise.all([
      view.run("record", { id: card.id }),
      view.run("explain", { id: card.id }),
    ]);
    const el = [...list.children].find((child) => /** @type {HTMLElement} */ (child).dataset.key === card.id);
    if (!record || !el || open !== card.id) return;
    el.querySelector(".svc-detail")?.remove();
    const detail = drawDetail(card, record, ranking);
    el.append(detail);
    detail.firstElementChild?.scrollIntoView?.({ block: "nearest" });
  }

  /** @param {Card} card @param {any} record @param {import("./explanation.js").Explanation | undefined} ranking */
  function drawDetail(card, record, ranking) {
    return h(
      "div",
      { class: "detail" },
      ranking ? drawExplanation(plainText(card.title), card, ranking) : null,
      h(
        "div",
        { class: "row" },
        button("Copy objectID", () => copy(card.id, "The objectID"), { title: "Copy the objectID (c)" }),
        button("Copy record", () => copy(JSON.stringify(record, null, 2), "The record")),
      ),
      h("pre", { tabindex: 0, "aria-label": "Record", dir: "auto" }, JSON.stringify(record, null, 2)),
    );
  }

  /** @param {string} text @param {string} name */
  async function copy(text, name) {
    await copyText(text);
    view.say(`${name} is copied.`);
  }

  /** @param {"pin" | "hide"} action @param {Card} card */
  function curate(action, card) {
    if (view.state()?.curates) view.run("curate", { action, id: card.id, place: card.place });
  }

  /** Name the words and filters that leave a search without hits, and searches that have hits. */
  async function suggestRelaxed() {
    const found = /** @type {{reasons: string[], searches: RelaxedSearch[]} | undefined} */ (await view.run("relax"));
    if (cards.length || !found) return;
    fill(
      none,
      none.firstChild,
      found.reasons.map((reason) => h("p", { dir: "auto" }, drawCode(reason))),
      found.searches.map(({ label, hits, value }) =>
        button(`${label}: ${hits.toLocaleString()} ${hits === 1 ? "hit" : "hits"}`, () => view.propose(value)),
      ),
      found.searches.length ? null : h("p", { class: "hint" }, "Load records with svc.load, then search again."),
      found.searches.length ? null : button("Insert code that loads a file", () => view.offerCode(loadCode(view.state()?.index ?? ""))),
    );
  }

  function firstPage() {
    const act = () => {
      const { page: _, ...rest } = view.value();
      view.propose(rest);
    };
    return button("Show the first page", act);
  }

  /** @param {Card[]} next */
  function samePage(next) {
    return next.some((card) => card.id === open);
  }

  function redraw() {
    display.prepare(cards, attributes);
    list.className = `svc-hits svc-in-${display.density()}`;
    const focused = focusedIn(list);
    const at = [...list.children].findIndex((item) => item === focused);
    follow(list, cards, (card) => card.id, drawCard);
    // A hit that is gone, such as a hidden one, leaves the focus to the hit at its place.
    if (at >= 0 && focused && !list.contains(focused)) focusOn(at);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const items = /** @type {HTMLElement[]} */ ([...list.children]);
    const at = items.findIndex((item) => item === event.target);
    const card = cards[at];
    if (!card) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => focusOn(at + 1),
      ArrowUp: () => focusOn(at - 1),
      Home: () => focusOn(0),
      End: () => focusOn(cards.length - 1),
      Enter: () => toggle(card),
      " ": () => toggle(card),
      Escape: () => open && toggle(card),
      p: () => curate("pin", card),
      h: () => curate("hide", card),
      x: () => curate("hide", card),
      c: () => copy(card.id, "The objectID"),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {number} place */
  function focusOn(place) {
    const items = /** @type {HTMLElement[]} */ ([...list.children]);
    const target = items[Math.max(0, Math.min(items.length - 1, place))];
    for (const item of items) item.tabIndex = item === target ? 0 : -1;
    target?.focus();
  }

  return {
    el,
    focus: () => focusOn(0),
    /** @param {any} answer */
    show(answer) {
      cards = answer.hits;
      attributes = answer.attributes ?? [];
      if (!samePage(cards)) open = "";
      redraw();
      none.hidden = cards.length > 0;
      fill(none, h("p", {}, answer.nbHits ? "No hits on this page." : "No hits."), answer.nbHits ? firstPage() : null);
      if (!cards.length && !answer.nbHits) suggestRelaxed();
      drawPager(pager, answer, view);
    },
  };
}

/** Code that loads records into an index. @param {string} index */
export const loadCode = (index) => `import svc_notebook as svc\n\nsvc.load("FILE", ${JSON.stringify(index)})`;

/** @param {HTMLElement} pager @param {any} answer @param {Frame} view */
function drawPager(pager, answer, view) {
  const { page = 0, nbPages = 0 } = answer;
  /** @param {number} to */
  const go = (to) => {
    const { page: _, ...rest } = view.value();
    view.propose(to ? { ...rest, page: to } : rest);
  };
  const focused = /** @type {HTMLElement | null} */ (
    pager.contains(document.activeElement) ? document.activeElement : null
  )?.dataset.to;
  pager.hidden = nbPages < 2;
  fill(
    pager,
    [
      ["first", "«", 0],
      ["previous", "‹", page - 1],
    ].map((at) => link(at)),
    h("span", {}, `page ${page + 1} of ${nbPages.toLocaleString()}`),
    [
      ["next", "›", page + 1],
      ["last", "»", nbPages - 1],
    ].map((at) => link(at)),
  );
  if (focused) keepFocus(pager, focused);

  /** @param {any} at */
  function link([name, icon, to]) {
    return button(`${name} page`, () => go(to), {
      icon,
      bare: true,
      data: { to: name },
      disabled: to < 0 || to >= nbPages || to === page,
    });
  }
}

/** Keep the focus on the pressed button; if it is disabled now, move it to the opposite one. @param {HTMLElement} pager @param {string} pressed */
function keepFocus(pager, pressed) {
  /** @type {HTMLButtonElement[]} */
  const open = [...pager.querySelectorAll("button")].filter((one) => !one.disabled);
  const named = [pressed, "previous", "next"].map((name) => open.find((one) => one.dataset.to === name));
  named.find(Boolean)?.focus();
}
