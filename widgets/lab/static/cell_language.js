// The language of cells: colours of `%svc` lines and `%%svc` bodies, help under the pointer, errors underlined.

import { h } from "../../kit/dom.js";
import { debounce } from "../../kit/timing.js";

/** @typedef {{names: Record<string, {meaning: string, type: string, default: string}>,
 *   verbs: Record<string, {summary: string, options: Record<string, string>}>}} Table */
/** @typedef {{from: number, to: number, kind: string}} Piece */
/** @typedef {{line: number, message: string}} CellError */
/**
 * @typedef {{view: any, table: () => Promise<Table>, hovers: () => boolean,
 *   check: (text: string, dom: Element) => Promise<CellError[] | null>}} Tools
 */

const MAX_CHARACTERS = 100_000; // longer texts are not highlighted
const CHECK_MS = 600; // after the last key
const CELL = /^\s*%%svc(?=\s|$)/;
const LINE = /^([ \t]*(?:[^=%#'"\n]+=[ \t]*)?)%svc(?=\s|$)(.*)$/gm;
const WORDS = /--[\w-]+=?|"(?:[^"\\]|\\.)*"|'[^']*'|[[{][^\n]*|\S+/g;
const JSON_PIECES = /("(?:[^"\\\n]|\\.)*")(\s*:)?|-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/g;
const LINE_PIECES =
  /^[ \t]*(?:- )?[ \t]*([A-Za-z_]\w*)(?=[ \t]*:(?:\s|$))|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<=[:,\s-])-?\d+(?:\.\d+)?(?=[,\s]|$)|(?<=[:,]\s*)(?:true|false|null)(?=[,\s]|$)|(?<=\s|^)#[ \t].*$/gm;

/** Whether a text has anything of the grammar. @param {string} text */
const concerns = (text) => text.length <= MAX_CHARACTERS && text.includes("%svc");

/** Find what is coloured. @param {string} text @param {Set<string>} verbs @returns {Piece[]} */
export function findPieces(text, verbs) {
  if (!concerns(text)) return [];
  const cell = CELL.exec(text);
  if (!cell) return [...text.matchAll(LINE)].flatMap((found) => linePieces(found.index + found[1].length, "%svc", found[2], verbs));
  const end = text.indexOf("\n") < 0 ? text.length : text.indexOf("\n");
  const start = cell[0].length - "%%svc".length;
  return [...linePieces(start, "%%svc", text.slice(cell[0].length, end), verbs), ...bodyPieces(text, end)];
}

/**
 * @param {number} start where the magic begins @param {string} magic @param {string} rest
 * @param {Set<string>} verbs @returns {Piece[]}
 */
function linePieces(start, magic, rest, verbs) {
  const from = start + magic.length;
  const words = [...rest.matchAll(WORDS)];
  /** @type {Piece[]} */
  const pieces = [
    { from: start, to: from, kind: "magic" },
    ...(rest ? [{ from, to: from + rest.length, kind: "plain" }] : []),
  ];
  const two = words.length > 1 && verbs.has(`${words[0][0]} ${words[1][0]}`);
  words.forEach((word, place) => {
    const kind = kindOfWord(word[0], place, two);
    if (kind) pieces.push({ from: from + word.index, to: from + word.index + word[0].length, kind });
  });
  return pieces;
}

/** @param {string} word @param {number} place @param {boolean} two whether the verb has two words */
function kindOfWord(word, place, two) {
  if (place === 0 || (place === 1 && two)) return "verb";
  if (word.startsWith("--") || word === "-o") return "option";
  if (/^["'{[]/.test(word)) return "text";
  return /^-?\d+(\.\d+)?$/.test(word) ? "number" : "";
}

/** @param {string} text @param {number} start @returns {Piece[]} */
function bodyPieces(text, start) {
  const body = text.slice(start);
  if (!body.trim()) return [];
  const json = /^\s*[[{]/.test(body);
  /** @type {Piece[]} */
  const pieces = [{ from: start, to: text.length, kind: "plain" }];
  for (const found of body.matchAll(json ? JSON_PIECES : LINE_PIECES)) {
    const named = json ? found[2] !== undefined : found[1] !== undefined;
    const word = found[1] ?? found[0];
    const from = start + found.index + found[0].indexOf(word);
    const kind = named ? "key" : /^["']/.test(word) ? "text" : word.startsWith("#") ? "comment" : "number";
    pieces.push({ from, to: from + word.length, kind });
  }
  return pieces;
}

/**
 * What a place of a text is about: a parameter or setting, an option or a verb.
 * @param {string} text @param {number} at @param {Table} table
 * @returns {{from: number, to: number, title: string, lines: string[]} | null}
 */
export function findHelp(text, at, table) {
  if (text.length > MAX_CHARACTERS || !/svc/.test(text)) return null;
  let [from, to] = [at, at];
  while (from > 0 && /[\w-]/.test(text[from - 1])) from -= 1;
  while (to < text.length && /[\w-]/.test(text[to])) to += 1;
  const word = text.slice(from, to);
  const name = word.replace(/^--/, "");
  if (!name) return null;
  const line = text.slice(text.lastIndexOf("\n", from - 1) + 1, from);
  const magic = /%svc\s/.test(line);
  const cell = CELL.test(text);
  if (magic) {
    const typed = line.replace(/^.*%svc\s+/, "");
    const verb = verbOf(`${typed}${word}`, table);
    if (word.startsWith("--")) {
      const option = table.verbs[verb]?.options[name];
      if (option) return { from, to, title: word, lines: [option] };
    } else if (verb && verb.endsWith(word) && verb.startsWith(typed.trim()))
      return { from, to, title: verb, lines: [table.verbs[verb].summary] };
    if (!word.startsWith("--")) return null;
  } else if (!cell && !/^\s*=/.test(text.slice(to)) && !/^["']\s*:/.test(text.slice(to))) return null;
  else if (cell && !/^["']?\s*:/.test(text.slice(to))) return null;
  const about = Object.hasOwn(table.names, name) ? table.names[name] : null;
  return about && { from, to, title: name, lines: [about.meaning, `type: ${about.type}`, `default: ${about.default}`] };
}

/** @param {string} typed @param {Table} table */
function verbOf(typed, table) {
  const [first = "", second = ""] = typed.trim().split(/\s+/);
  const both = `${first} ${second}`;
  return Object.hasOwn(table.verbs, both) ? both : Object.hasOwn(table.verbs, first) ? first : "";
}

/** Make the extension of editors. @param {Tools} tools */
export function makeCellLanguage({ view: { ViewPlugin, Decoration, hoverTooltip }, table, hovers, check }) {
  /** @type {Set<string>} */
  let verbs = new Set();
  /** @type {Set<any>} */
  const views = new Set();
  void table().then((loaded) => {
    verbs = new Set(Object.keys(loaded.verbs));
    for (const view of views) view.dispatch({ userEvent: "svc.checked" });
  });

  /** @param {string} text @param {CellError[]} errors */
  function decorate(text, errors) {
    const pieces = findPieces(text, verbs);
    const marks = pieces.map(({ from, to, kind }) => Decoration.mark({ class: `svc-code-${kind}` }).range(from, to));
    const lines = text.split("\n");
    for (const { line, message } of errors) {
      const from = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
      const to = from + (lines[line]?.length ?? 0);
      const attributes = { title: message, "aria-invalid": "true" };
      if (to > from) marks.push(Decoration.mark({ class: "svc-code-error", attributes }).range(from, to));
    }
    return Decoration.set(marks, true);
  }

  const colours = ViewPlugin.fromClass(
    class {
      /** @param {any} view */
      constructor(view) {
        this.view = view;
        views.add(view);
        /** @type {CellError[]} */
        this.errors = [];
        this.checkSoon = debounce(() => void this.check(), CHECK_MS);
        this.decorations = decorate(view.state.doc.toString(), []);
      }

      /** @param {any} change */
      update(change) {
        if (change.docChanged) {
          this.errors = [];
          if (concerns(change.state.doc.toString())) this.checkSoon();
        }
        if (change.docChanged || change.transactions.some((/** @type {any} */ one) => one.isUserEvent("svc.checked")))
          this.decorations = decorate(change.state.doc.toString(), this.errors);
      }

      async check() {
        const text = this.view.state.doc.toString();
        const errors = await check(text, this.view.dom);
        if (!errors || text !== this.view.state.doc.toString()) return;
        this.errors = errors;
        this.view.dispatch({ userEvent: "svc.checked" });
      }

      destroy() {
        this.checkSoon.cancel();
        views.delete(this.view);
      }
    },
    { decorations: (/** @type {any} */ plugin) => plugin.decorations },
  );

  const help = hoverTooltip(async (/** @type {any} */ view, /** @type {number} */ at) => {
    const text = view.state.doc.toString();
    const found = hovers() && text.length <= MAX_CHARACTERS && text.includes("svc") ? findHelp(text, at, await table()) : null;
    return (
      found && {
        pos: found.from,
        end: found.to,
        above: true,
        create: () => ({
          dom: h("div", { class: "code-help", role: "tooltip" }, h("strong", {}, found.title), found.lines.map((line) => h("div", {}, line))),
        }),
      }
    );
  });
  return [colours, help];
}
