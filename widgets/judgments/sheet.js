// The sheet of one query: its hits and their grades.

import { button, fill, follow, h, setAttribute } from "../kit/dom.js";
import { emptyState } from "../kit/empty.js";
import { plainText } from "../kit/highlight.js";
import { hitDisplay } from "../kit/hit_card.js";
import { isJudged, meaningOf, nextOpen, describeJudgment } from "./grades.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../types").Model} Model */
/** @typedef {import("./grades.js").Hit} Hit */

/** How long keys wait for the sheet of the next query. */
const SHEET_TIMEOUT_MS = 5000;

/** @param {Frame} view @param {Model} model @param {() => Promise<boolean>} leave called after the last hit; whether another sheet comes */
export function gradeSheet(view, model, leave) {
  /** @type {Hit[]} */
  let hits = [];
  let [place, at] = [-1, 0];
  let sending = 0; // grades and notes that are being sent
  let leaving = false; // keeps keys until the next sheet arrives
  /** @type {string[]} the keys pressed while the next sheet was awaited, in order */
  const waiting = [];
  /** @type {(() => void) | null} called when another sheet is drawn */
  let onTurn = null;
  /** @type {string | null} */
  let notedId = null;
  const list = h("ol", { class: "hits sheet", "aria-label": "Hits to judge", on: { keydown: handleKey } });
  const display = hitDisplay(view, model, () => redraw());
  /** @type {string[]} */
  let attributes = [];
  const none = h(
    "div",
    { hidden: true },
    emptyState({
      title: "No hits for this query.",
      hint: "There is nothing to judge. It counts as 0 in the score if relevant records are known for it, and is left out otherwise. A synonym, or a query with fewer words, can give it hits.",
      action: { label: "Next to judge", act: () => void leave() },
    }),
  );
  const labels = () => model.get("labels") ?? {};

  /** @param {Hit} hit @param {HTMLElement | null} old @param {number} number */
  function drawHit(hit, old, number) {
    const el = old ?? h("li", { class: "hit judged-hit", on: { focusin: () => select(number) } });
    el.tabIndex = number === at ? 0 : -1;
    el.classList.toggle("svc-done", isJudged(hit));
    el.classList.toggle("svc-at", number === at);
    setAttribute(el, "aria-label", `${plainText(hit.title) || hit.id}: ${describeJudgment(hit, labels())}`);
    const state = JSON.stringify([hit, number, notedId === hit.id, labels(), display.key()]);
    if (el.dataset.state === state) return el;
    el.dataset.state = state;
    const detail = el.querySelector(".svc-detail");
    const parts = [...drawText(hit, number), drawGrades(hit, number)];
    const typing = notedId === hit.id ? el.querySelector(".svc-note-input") : null;
    if (!typing) fill(el, ...parts, drawNote(hit), detail);
    else redrawAround(el, parts, [typing, detail]);
    return el;
  }

  /** @param {Hit} hit @param {number} number */
  function drawText(hit, number) {
    const notes = [
      ...hit.found.map(([variant, rank]) => h("span", { class: "found" }, h("bdi", {}, variant), ` ${rank}`)),
      ...hit.others.map((other) => h("span", { class: "found other", dir: "auto" }, other)),
      ...(hit.changed ? [h("span", { class: "found changed" }, "changed since")] : []),
      button("Full record", (event) => showRecord(hit, event), {
        class: ["button", "bare", "small"],
        tabindex: -1,
        title: "Full record (o)",
      }),
    ];
    return display.draw(hit, { place: number + 1, notes });
  }

  /** @param {Hit} hit @param {number} number */
  function drawGrades(hit, number) {
    const choices = Object.entries(labels()).map(([grade, label]) => ({
      text: grade,
      label: `${grade}: ${label}`,
      key: grade,
      on: hit.rating === Number(grade),
    }));
    const all = [...choices, { text: "?", label: "unrateable (u)", key: "u", on: Boolean(hit.unrateable) }];
    const unlisted = hit.rating !== null && !choices.some(({ on }) => on);
    return h(
      "div",
      { class: "grades", role: "group", "aria-label": "Grade" },
      unlisted ? h("span", { class: "hint" }, String(hit.rating)) : null,
      all.map(({ text, label, key, on }) =>
        h(
          "button",
          {
            type: "button",
            class: ["grade", on && "chosen"],
            title: label,
            "aria-label": label,
            "aria-pressed": on ? "true" : "false",
            tabindex: -1,
            on: { click: () => give(hit, on ? "Delete" : key, number) },
          },
          text,
        ),
      ),
      button(hit.note ? "Edit the note" : "Add a note", () => openNote(hit), {
        icon: "✎",
        bare: true,
        tabindex: -1,
        title: "Note (n)",
      }),
    );
  }

  /** @param {Hit} hit */
  function drawNote(hit) {
    if (notedId !== hit.id) return hit.note ? h("p", { class: "note-text", dir: "auto" }, hit.note) : null;
    const input = h("input", {
      class: "input note-input",
      type: "text",
      value: hit.note ?? "",
      placeholder: "Note: Enter saves, Escape cancels",
      "aria-label": "Note",
      dir: "auto",
      on: {
        keydown: (event) => {
          event.stopPropagation();
          if (event.key === "Enter") saveNote(hit, input.value);
          if (event.key === "Escape") saveNote(hit, null);
        },
      },
    });
    return input;
  }

  /** @param {Hit} hit */
  function openNote(hit) {
    notedId = hit.id;
    redraw();
    /** @type {HTMLElement | null} */ (list.querySelector(".svc-note-input"))?.focus();
  }

  /** Save the typed note, or cancel; a note that cannot be saved stays in the field. @param {Hit} hit @param {string | null} text */
  async function saveNote(hit, text) {
    const before = hits.find((one) => one.id === hit.id)?.note ?? "";
    const note = (text ?? before).trim();
    const other = note !== before;
    notedId = null;
    if (other) hits = hits.map((one) => (one.id === hit.id ? { ...one, note } : one));
    redraw();
    focusOn(at);
    if (!other) return;
    sending += 1;
    const done = await view.run("note", { id: hit.id, text: note });
    sending -= 1;
    show(model.get("sheet"));
    if (done !== undefined || notedId !== null) return;
    openNote(hit);
    const input = /** @type {HTMLInputElement | null} */ (list.querySelector(".svc-note-input"));
    if (input) input.value = note;
  }

  /** @param {Hit} hit @param {Event} [event] */
  async function showRecord(hit, event) {
    event?.stopPropagation();
    const el = /** @type {HTMLElement | undefined} */ ([...list.children][hits.indexOf(hit)]);
    const open = el?.querySelector(".svc-detail");
    if (open) return open.remove();
    const record = await view.run("record", { id: hit.id });
    if (record)
      el?.append(
        h(
          "div",
          { class: "detail" },
          h("pre", { tabindex: 0, "aria-label": "Record", dir: "auto" }, JSON.stringify(record, null, 2)),
        ),
      );
  }

  /** Give a grade by its key, and move to the next unjudged hit. @param {Hit} hit @param {string} key @param {number} number */
  async function give(hit, key, number) {
    const judgment = meaningOf(key, labels());
    if (!judgment || leaving) return;
    const last = { ...hit, ...judgment };
    hits = hits.map((other) => (other.id === hit.id ? last : other));
    const next = isJudged(last) ? nextOpen(hits, number) : number;
    at = next < 0 ? number : next;
    redraw();
    focusOn(at);
    sending += 1;
    leaving = next < 0;
    const answer = await view.run("grade", { id: hit.id, ...judgment });
    sending -= 1;
    show(model.get("sheet"));
    if (next < 0) await leaveSheet(answer !== undefined);
  }

  /** Go on to the next query, then act on the keys that were pressed meanwhile. @param {boolean} graded */
  async function leaveSheet(graded) {
    /** @type {any} */
    let timer = null;
    const turned = new Promise((done) => {
      onTurn = () => done(undefined);
      timer = setTimeout(done, SHEET_TIMEOUT_MS);
    });
    // The answer of a call can arrive before the sheet.
    const turns = graded && (await leave());
    if (turns) await turned;
    clearTimeout(timer);
    [leaving, onTurn] = [false, null];
    // Without another sheet the keys have no hit that they were meant for.
    const keys = waiting.splice(0);
    if (turns) for (const key of keys) press(key);
  }

  /** Act on a key, at the hit that has the focus or would have it. @param {string} key */
  function press(key) {
    const hit = hits[at];
    if (leaving) waiting.push(key);
    else if (hit) actionOf(key, hit, at)?.();
  }

  /** @param {number} number */
  function select(number) {
    if (number === at) return;
    at = number;
    redraw();
  }

  /** @param {number} number */
  function focusOn(number) {
    at = Math.max(0, Math.min(hits.length - 1, number));
    redraw();
    /** @type {HTMLElement | undefined} */ (list.children[at])?.focus();
  }

  function redraw() {
    display.prepare(hits, attributes);
    list.className = `svc-hits svc-sheet svc-in-${display.density()}`;
    follow(list, hits, (hit) => `${place} ${hit.id}`, drawHit);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const item = /** @type {HTMLElement} */ (event.target).closest("li");
    const number = [...list.children].indexOf(/** @type {Element} */ (item));
    const hit = hits[number];
    if (!hit || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!actionOf(event.key, hit, number)) return;
    event.preventDefault();
    at = number;
    press(event.key);
  }

  /** The action of a key at a hit; undefined if the key has none. @param {string} key @param {Hit} hit @param {number} number @returns {(() => void) | undefined} */
  function actionOf(key, hit, number) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => focusOn(number + 1),
      ArrowUp: () => focusOn(number - 1),
      j: () => focusOn(number + 1),
      k: () => focusOn(number - 1),
      Home: () => focusOn(0),
      End: () => focusOn(hits.length - 1),
      n: () => openNote(hit),
      o: () => showRecord(hit),
    };
    return keys[key] ?? (meaningOf(key, labels()) ? () => void give(hit, key, number) : undefined);
  }

  /** @param {{place: number, hits: Hit[], attributes?: string[]}} sheet */
  function show(sheet) {
    const turned = sheet.place !== place;
    const inside = list.contains(document.activeElement);
    // Grades given here are newer than the received sheet.
    if (sending && !turned) return;
    hits = sheet.hits;
    attributes = sheet.attributes ?? [];
    none.hidden = hits.length > 0 || sheet.place < 0;
    if (turned) {
      [place, notedId] = [sheet.place, null];
      at = Math.max(0, nextOpen(hits, -1));
    }
    redraw();
    if (turned && inside) focusOn(at);
    if (turned) onTurn?.();
  }

  return {
    el: h("div", { class: "sheet-box" }, display.toolbar, list, none),
    focus: () => (hits.length ? focusOn(at) : view.root.focus()),
    /** Grade from elsewhere in the editor; returns whether the key is one of a grade. @param {string} key */
    grade(key) {
      const isGrade = key === "u" || key in labels();
      if (isGrade) press(key);
      return isGrade && (leaving || hits.length > 0);
    },
    show,
  };
}

/** Redraw an element around children that keep the focus. @param {HTMLElement} el @param {(Node | null)[]} parts @param {(Element | null)[]} kept */
function redrawAround(el, parts, kept) {
  for (const one of [...el.children]) if (!kept.includes(one)) one.remove();
  for (const part of parts) if (part) el.insertBefore(part, kept[0]);
}
