// Split long texts into records within a size limit.

import { bytesOf, readable } from "./element_text.js";

/** @typedef {{ baseRecord?: Record<string, any>, maxRecordBytes?: number,
 *   textAttributeName?: string, orderingAttributeName?: string }} Options */

/** Split the texts of elements at spaces. @param {Options & { $elements: any }} options */
export function splitContentIntoRecords({ $elements, ...options }) {
  return numbered($elements.toArray().map(readable), /\s/, options);
}

/** Split a text between its lines, preferably at the end of a paragraph or heading.
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
  // Reserve space for the longest number, and for the suffix of the ids of several records.
  const room = maxRecordBytes - bytesOf(JSON.stringify(make("", 99999))) - 6;
  if (room < 4) throw new RangeError(`baseRecord leaves no space for text within maxRecordBytes = ${maxRecordBytes}`);
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

/** The number of characters that fit as JSON, at least one. @param {string} text @param {number} room */
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

/** The best position to split: the last break of the best kind in the second half of the text.
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
