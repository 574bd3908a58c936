// A text area for code: line numbers, highlighting and matching brackets, painted behind its text.

import { fill, h } from "./dom.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {string | {type: string, content: string | Token[]}} Token */
/** @typedef {{at: number, text: string, el: HTMLElement | null}} Bracket */
/** @typedef {(text: string, language: string) => Token[]} Tokenize */

/** Longer texts are shown without colours, because each keystroke paints the whole text. */
const MAX_PAINTED_CHARACTERS = 60_000;
const PAIRS = /** @type {Record<string, string>} */ ({ ")": "(", "]": "[", "}": "{" });
const OPENERS = Object.values(PAIRS);

/** @type {Promise<Tokenize> | null} */
let loading = null;

/** Load the tokenizer once; the kernel has it, so that notebooks do not store it. @param {Frame} view @returns {Promise<Tokenize>} */
function loadTokenizer(view) {
  loading ??= view.link
    .call("read_tokenizer")
    .then(async (text) => {
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ address);
      URL.revokeObjectURL(address);
      return module.tokenize;
    })
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

/**
 * The bracket before or after the caret and its partner; none if it has no partner.
 * @template {{at: number, text: string}} T
 * @param {T[]} brackets in their order @param {number} caret @returns {T[]}
 */
export function findPair(brackets, caret) {
  /** @type {T[]} */
  const open = [];
  for (const bracket of brackets) {
    if (OPENERS.includes(bracket.text)) open.push(bracket);
    else {
      const partner = open[open.length - 1];
      if (partner?.text !== PAIRS[bracket.text]) return [];
      open.pop();
      if ([partner.at, partner.at + 1, bracket.at, bracket.at + 1].includes(caret)) return [partner, bracket];
    }
  }
  return [];
}

/**
 * Draw tokens as elements with texts, and list their brackets, those in strings and comments left out.
 * @param {Token[]} tokens @returns {{nodes: (Node | string)[], brackets: Bracket[]}}
 */
export function drawTokens(tokens) {
  /** @type {Bracket[]} */
  const brackets = [];
  let at = 0;
  /** @param {Token} token @returns {Node | string} */
  function draw(token) {
    if (typeof token === "string") {
      at += token.length;
      return token;
    }
    const { type, content } = token;
    const start = at;
    const parts = typeof content === "string" ? [content] : content;
    const el = h("span", { class: `token token-${type}` }, parts.map(draw));
    if (typeof content === "string" && (content in PAIRS || OPENERS.includes(content))) brackets.push({ at: start, text: content, el });
    return el;
  }
  return { nodes: tokens.map(draw), brackets };
}

/**
 * Wrap a text area, which stays what it is for its listeners. Colours come when the field is seen.
 * @param {Frame} view @param {HTMLTextAreaElement} area @param {"javascript" | "json"} language
 */
export function codeField(view, area, language) {
  const numbers = h("pre", { class: "code-numbers", "aria-hidden": true });
  const paint = h("pre", { class: "code-paint", "aria-hidden": true });
  const el = h("div", { class: "code-field" }, numbers, h("div", { class: "code-layers" }, paint, area));
  /** @type {Tokenize | null} */
  let tokenize = null;
  /** @type {Bracket[]} */
  let brackets = [];
  let shown = "";
  area.wrap = "off";

  function draw() {
    const text = area.value;
    const count = text.split("\n").length;
    if (count !== numbers.children.length) fill(numbers, Array.from({ length: count }, (_, place) => h("span", {}, `${place + 1}\n`)));
    if (tokenize && text !== shown) {
      const isLong = text.length > MAX_PAINTED_CHARACTERS;
      const drawn = isLong ? { nodes: [], brackets: [] } : drawTokens(tokenize(text, language));
      brackets = drawn.brackets;
      // A last line break needs a line of its own.
      fill(paint, drawn.nodes, "\n");
      el.classList.toggle("svc-painted", !isLong);
      shown = text;
    }
    mark();
    follow();
  }

  function mark() {
    for (const { el } of brackets) el?.classList.remove("svc-bracket");
    if (document.activeElement !== area || area.selectionStart !== area.selectionEnd) return;
    for (const { el } of findPair(brackets, area.selectionStart)) el?.classList.add("svc-bracket");
  }

  function follow() {
    numbers.scrollTop = paint.scrollTop = area.scrollTop;
    paint.scrollLeft = area.scrollLeft;
  }

  // A value that is set by code fires no event.
  const own = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value"));
  Object.defineProperty(area, "value", {
    get: () => own.get?.call(area),
    set(text) {
      own.set?.call(area, text);
      draw();
    },
  });
  area.addEventListener("input", draw);
  area.addEventListener("scroll", follow);
  for (const event of ["keyup", "click", "focus", "blur"]) area.addEventListener(event, mark);
  const seen = new IntersectionObserver(async (entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    draw();
    // Without a kernel the text stays plain.
    tokenize = await loadTokenizer(view).catch(() => null);
    shown = "\0";
    draw();
  });
  seen.observe(el);
  draw();
  return el;
}
