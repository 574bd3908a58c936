// One query's hits, and a grade for each.

import { button, fill, follow, h, setAttribute } from "../kit/dom.js";
import { drawMarked, plainText } from "../kit/highlight.js";
import { isJudged, meaningOf, nextOpen, spoken } from "./grades.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */
/** @typedef {import("../types").Model} Model */
/** @typedef {import("./grades.js").Hit} Hit */

/** @param {Frame} view @param {Model} model @param {() => Promise<void>} leave what comes after the last hit */
export function gradeSheet(view, model, leave) {
  /** @type {Hit[]} */
  let hits = [];
  let [place, at] = [-1, 0];
  let giving = 0; // grades and notes on their way
  let leaving = false; // what is typed before the next sheet is there was meant for it
  /** @type {string | null} */
  let noting = null;
  const list = h("ol", { class: "hits sheet", "aria-label": "Hits to judge", on: { keydown: steer } });
  const none = h("p", { class: "none" }, "Nothing was found for this query, so there is nothing to judge.");
  const labels = () => model.get("labels") ?? {};

  /** @param {Hit} hit @param {HTMLElement | null} old @param {number} number */
  function drawHit(hit, old, number) {
    const el = old ?? h("li", { class: "hit judged-hit", on: { focusin: () => reach(number) } });
    el.tabIndex = number === at ? 0 : -1;
    el.classList.toggle("svc-done", isJudged(hit));
    el.classList.toggle("svc-at", number === at);
    setAttribute(el, "aria-label", `${plainText(hit.title) || hit.id}: ${spoken(hit, labels())}`);
    const state = JSON.stringify([hit, number, noting === hit.id, labels(), model.get("images")]);
    if (el.dataset.state === state) return el;
    el.dataset.state = state;
    const detail = el.querySelector(".svc-detail");
    const parts = [drawImage(hit), drawText(hit, number), drawGrades(hit, number)];
    const typing = noting === hit.id ? el.querySelector(".svc-note-input") : null;
    if (!typing) fill(el, ...parts, drawNote(hit), detail);
    else redrawAround(el, parts, [typing, detail]);
    return el;
  }

  /** @param {Hit} hit @param {number} number */
  function drawText(hit, number) {
    return h(
      "div",
      { class: "hit-text" },
      h(
        "div",
        { class: "hit-head" },
        h("span", { class: "place" }, String(number + 1)),
        h("b", { dir: "auto" }, drawMarked(hit.title)),
        h("code", { class: "id" }, hit.id),
      ),
      h(
        "dl",
        {},
        hit.lines.map(([name, text]) =>
          h("div", { class: "line" }, h("dt", {}, name), h("dd", { dir: "auto" }, drawMarked(text))),
        ),
      ),
      h(
        "div",
        { class: "row hint" },
        hit.found.map(([variant, rank]) => h("span", { class: "found" }, h("bdi", {}, variant), ` ${rank}`)),
        hit.others.map((other) => h("span", { class: "found other", dir: "auto" }, other)),
        button("Whole record", (event) => showRecord(hit, event), {
          class: ["button", "bare", "small"],
          tabindex: -1,
          title: "Whole record (o)",
        }),
      ),
    );
  }

  /** @param {Hit} hit */
  function drawImage(hit) {
    if (!hit.image || !(model.get("images") || hit.image.startsWith("data:"))) return null;
    return h("img", {
      class: "picture",
      src: hit.image,
      alt: "",
      loading: "lazy",
      referrerpolicy: "no-referrer",
      on: { error: (event) => event.target.remove() },
    });
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
    const odd = hit.rating !== null && !choices.some(({ on }) => on);
    return h(
      "div",
      { class: "grades", role: "group", "aria-label": "Grade" },
      odd ? h("span", { class: "hint" }, String(hit.rating)) : null,
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
    if (noting !== hit.id) return hit.note ? h("p", { class: "note-text", dir: "auto" }, hit.note) : null;
    const input = h("input", {
      class: "input note-input",
      type: "text",
      value: hit.note ?? "",
      placeholder: "Why? Enter keeps it, Escape leaves it",
      "aria-label": "Note",
      dir: "auto",
      on: {
        keydown: (event) => {
          event.stopPropagation();
          if (event.key === "Enter") keepNote(hit, input.value);
          if (event.key === "Escape") keepNote(hit, null);
        },
      },
    });
    return input;
  }

  /** @param {Hit} hit */
  function openNote(hit) {
    noting = hit.id;
    redraw();
    /** @type {HTMLElement | null} */ (list.querySelector(".svc-note-input"))?.focus();
  }

  /** Keep what was typed, or nothing; what cannot be kept stays to be tried again. @param {Hit} hit @param {string | null} text */
  async function keepNote(hit, text) {
    const before = hits.find((one) => one.id === hit.id)?.note ?? "";
    const note = (text ?? before).trim();
    const other = note !== before;
    noting = null;
    if (other) hits = hits.map((one) => (one.id === hit.id ? { ...one, note } : one));
    redraw();
    focusOn(at);
    if (!other) return;
    giving += 1;
    const done = await view.run("note", { id: hit.id, text: note });
    giving -= 1;
    show(model.get("sheet"));
    if (done !== undefined || noting !== null) return;
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

  /** Give a grade by its key, and go on to what is open. @param {Hit} hit @param {string} key @param {number} number */
  async function give(hit, key, number) {
    const meant = meaningOf(key, labels());
    if (!meant || leaving) return;
    const last = { ...hit, ...meant };
    hits = hits.map((other) => (other.id === hit.id ? last : other));
    const next = isJudged(last) ? nextOpen(hits, number) : number;
    at = next < 0 ? number : next;
    redraw();
    focusOn(at);
    giving += 1;
    leaving = next < 0;
    await view.run("grade", { id: hit.id, ...meant });
    giving -= 1;
    show(model.get("sheet"));
    if (next < 0) await leave();
    leaving = false;
  }

  /** @param {number} number */
  function reach(number) {
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
    follow(list, hits, (hit) => `${place} ${hit.id}`, drawHit);
  }

  /** @param {KeyboardEvent} event */
  function steer(event) {
    const item = /** @type {HTMLElement} */ (event.target).closest("li");
    const number = [...list.children].indexOf(/** @type {Element} */ (item));
    const hit = hits[number];
    if (!hit || event.ctrlKey || event.metaKey || event.altKey) return;
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
    const act = keys[event.key] ?? (meaningOf(event.key, labels()) && (() => give(hit, event.key, number)));
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {{place: number, hits: Hit[]}} sheet */
  function show(sheet) {
    const turned = sheet.place !== place;
    const inside = list.contains(document.activeElement);
    // What was graded here meanwhile is newer than what comes back.
    if (giving && !turned) return;
    hits = sheet.hits;
    none.hidden = hits.length > 0 || sheet.place < 0;
    if (turned) {
      [place, noting] = [sheet.place, null];
      at = Math.max(0, nextOpen(hits, -1));
    }
    redraw();
    if (turned && inside) focusOn(at);
  }

  return { el: h("div", { class: "sheet-box" }, list, none), focus: () => (hits.length ? focusOn(at) : view.root.focus()), show };
}

/** What is being typed keeps its place, and with it the keyboard. @param {HTMLElement} el @param {(Node | null)[]} parts @param {(Element | null)[]} kept */
function redrawAround(el, parts, kept) {
  for (const one of [...el.children]) if (!kept.includes(one)) one.remove();
  for (const part of parts) if (part) el.insertBefore(part, kept[0]);
}
