// Texts of elements as displayed, and their size in bytes.

import { isElement, isBranch } from "./tree.js";

/** Elements with a line break before and after them. */
const BLOCKS = new Set(
  ("address article aside blockquote br caption dd details dialog div dl dt fieldset figcaption figure"
    + " footer form h1 h2 h3 h4 h5 h6 head header hr legend li main menu nav ol option p pre section"
    + " summary table tbody td tfoot th thead title tr ul").split(" "),
);
const UNSEEN = new Set("script style noscript template head".split(" "));

/** A node's text on one line, with a space for each line break or cell of the page.
 * @param {any} node @returns {string} */
export const readable = (node) => spaced(node).replace(/\s+/g, " ").trim();

/** @param {any} node @returns {string} */
function spaced(node) {
  if (node.type === "text") return node.data;
  if (!isBranch(node)) return "";
  let text = "";
  for (const child of node.children) if (!UNSEEN.has(child.name)) text += spaced(child);
  return isElement(node) && BLOCKS.has(node.name) ? ` ${text} ` : text;
}

/** The text of an element, or the content of a `meta`. @param {any} node */
export const saidBy = (node) => (
  node.name === "meta" ? (node.attribs.content ?? "").trim() : readable(node)
);

/** The size of a text in bytes of UTF-8. @param {string} text */
export function bytesOf(text) {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Each surrogate of a pair counts as two of its four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes;
}
