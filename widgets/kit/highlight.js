// Highlighted text as elements: matches stand between two private-use characters.

import { h } from "./dom.js";

export const PRE = "\uE000";
export const POST = "\uE001";

/**
 * Split marked text into parts. Unpaired marks are dropped.
 * @param {string} text
 * @returns {{text: string, marked: boolean}[]}
 */
export function splitMarked(text, pre = PRE, post = POST) {
  const [first, ...rest] = text.split(pre);
  const parts = [{ text: first.replaceAll(post, ""), marked: false }];
  for (const piece of rest) {
    const end = piece.indexOf(post);
    if (end < 0) parts.push({ text: piece, marked: false });
    else
      parts.push(
        { text: piece.slice(0, end), marked: true },
        { text: piece.slice(end + post.length).replaceAll(post, ""), marked: false },
      );
  }
  return parts.filter((part) => part.text);
}

/** Text without its marks. @param {string} text */
export function plainText(text) {
  return splitMarked(text)
    .map((part) => part.text)
    .join("");
}

/** Marked text as nodes. @param {string} text @returns {Node[]} */
export function drawMarked(text) {
  return splitMarked(text).map((part) =>
    part.marked ? h("mark", { class: "mark" }, part.text) : document.createTextNode(part.text),
  );
}
