// Serialize trees to HTML.

import { escapeAttribute, escapeText } from "./entities.js";
import { RAW, VOID } from "./parser.js";
import { isElement } from "./tree.js";

/** A node as HTML, including itself. @param {any} node @returns {string} */
export function outerHtml(node) {
  if (node.type === "text") return RAW.has(node.parent?.name) ? node.data : escapeText(node.data);
  if (node.type === "comment") return `<!--${node.data}-->`;
  if (node.type === "directive") return `<${node.data}>`;
  if (!isElement(node)) return innerHtml(node);
  let tag = `<${node.name}`;
  for (const name in node.attribs) tag += ` ${name}="${escapeAttribute(node.attribs[name])}"`;
  return VOID.has(node.name) && !node.children.length ? `${tag}>` : `${tag}>${innerHtml(node)}</${node.name}>`;
}

/** The contents of a node as HTML. @param {any} node @returns {string} */
export function innerHtml(node) {
  let html = "";
  for (const child of node.childNodes) html += outerHtml(child);
  return html;
}
