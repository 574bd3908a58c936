// Long texts, cut into records that are small enough.

import { bytesOf, readable } from "./texts.js";

/** @typedef {{ baseRecord?: Record<string, any>, maxRecordBytes?: number,
 *   textAttributeName?: string, orderingAttributeName?: string }} Options */

/** Cut the texts of elements at spaces. @param {Options & { $elements: any }} options */
export function splitContentIntoRecords({ $elements, ...options }) {
  return numbered($elements.toArray().map(readable), /\s/, options);
}

/** Cut a text between its lines, above all where a paragraph or a heading ends.
 * @param {Options & { text?: string }} options */
export function splitTextIntoRecords({ text = "", ...options }) {
  return numbered([String(text).trim()], /\n\n+(?=#)|\n\n+|\n|\s/, options);
}

/** @param {string[]} texts @param {RegExp} breaks best first @param {Options} options */
function numbered(texts, breaks, options) {
  const { baseRecord = {}, maxRecordBytes = 10000, textAttributeName = "text", orderingAttributeName } = options;
  /** @type {(text: string, at: number) => Record<string, any>} */
  const make = (text, at) => ({
    ...baseRecord,
    [textAttributeName]: text,
    ...(orderingAttributeName ? { [orderingAttributeName]: at } : {}),
  });
  // Room for the longest number, and for what the ids of several records go on with.
  const room = maxRecordBytes - bytesOf(JSON.stringify(make("", 99999))) - 6;
  if (room < 4) throw new RangeError(`baseRecord leaves no room for text within maxRecordBytes = ${maxRecordBytes}`);
  const records = texts.flatMap((text) => pieces(text, room, breaks)).map(make);
  if (records.length < 2 || !("objectID" in baseRecord)) return records;
  return records.map((record, at) => ({ ...record, objectID: `${baseRecord.objectID}-${at}` }));
}

/** @param {string} text @param {number} room @param {RegExp} breaks @returns {string[]} */
function pieces(text, room, breaks) {
  const made = [];
  let rest = text;
  while (rest) {
    const fitting = fits(rest, room);
    const end = fitting === rest.length ? fitting : breakBefore(rest, fitting, breaks);
    const piece = rest.slice(0, end).trim();
    if (piece) made.push(piece);
    rest = rest.slice(end).trim();
  }
  return made;
}

/** How many characters fit, as JSON writes them, at least one. @param {string} text @param {number} room */
function fits(text, room) {
  let used = 0;
  let at = 0;
  while (at < text.length) {
    const sign = String.fromCodePoint(/** @type {number} */ (text.codePointAt(at)));
    used += bytesOf(JSON.stringify(sign)) - 2;
    if (used > room && at) break;
    at += sign.length;
  }
  return at;
}

/** Where to cut at best: at the last break of the best kind that keeps the piece half full.
 * @param {string} text @param {number} end @param {RegExp} breaks */
function breakBefore(text, end, breaks) {
  const window = text.slice(0, end + 1);
  for (const kind of breaks.source.split("|")) {
    const found = [...window.matchAll(new RegExp(kind, "g"))].filter((one) => one.index > 0 && one.index <= end);
    const last = found[found.length - 1]?.index ?? 0;
    if (last > (kind === "\\s" ? 0 : end / 2)) return last;
  }
  return end;
}
