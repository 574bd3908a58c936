// `helpers.markdown` and `helpers.codeSnippets`: texts as Markdown, and code with its language.

import { isElement, textOf } from "./tree.js";
import { Url } from "./urls.js";

const LEFT_OUT = new Set("script style noscript template head svg iframe button form".split(" "));
const CLASS = /(?:^|\s)(?:language|lang|highlight-source|brush:?)-?([\w+#-]+)/;

/** Write elements as Markdown. @param {any} $ @param {any} what @param {any} url */
export function markdown($, what, url) {
  const blocks = $(what).toArray().map((/** @type {any} */ node) => blockOf(node, url));
  return blocks.filter(Boolean).join("\n\n");
}

/** @type {Record<string, (node: any, url: any) => string>} */
const BLOCKS = {
  pre: (node) => `\`\`\`${languageOf(node, CLASS)}\n${textOf(node).replace(/\n$/, "")}\n\`\`\``,
  hr: () => "---",
  blockquote: (node, url) => blocksIn(node, url).replace(/^(?=.)/gm, "> ").replace(/^$/gm, ">"),
  ul: (node, url) => listOf(node, url, () => "- "),
  ol: (node, url) => listOf(node, url, (at) => `${at + Number(node.attribs.start ?? 1)}. `),
  table: tableOf,
  dl: (node, url) => node.children.filter(isElement).map((/** @type {any} */ item) => (
    item.name === "dt" ? `**${inlineIn(item, url)}**` : blocksIn(item, url)
  )).join("\n\n"),
};
for (const level of [1, 2, 3, 4, 5, 6]) {
  BLOCKS[`h${level}`] = (node, url) => `${"#".repeat(level)} ${inlineIn(node, url)}`;
}
BLOCKS.p = (node, url) => inlineIn(node, url);

const CONTAINERS = new Set(
  ("address article aside body center dd details dialog div dt fieldset figure figcaption footer header"
    + " html li main menu nav section summary tbody thead tr td th").split(" "),
);

/** @type {Record<string, (text: string, node: any, url: any) => string>} */
const INLINE = {
  strong: (text) => marked("**", text),
  b: (text) => marked("**", text),
  em: (text) => marked("*", text),
  i: (text) => marked("*", text),
  del: (text) => marked("~~", text),
  code: (text) => marked(text.includes("`") ? "``" : "`", text),
  kbd: (text) => marked("`", text),
  br: () => "  \n",
  a: (text, node, url) => (node.attribs.href && text.trim() && !node.attribs.href.startsWith("#")
    ? `[${text.trim()}](${absolute(node.attribs.href, url)})` : text),
  img: (_, node, url) => (node.attribs.src ? `![${node.attribs.alt ?? ""}](${absolute(node.attribs.src, url)})` : ""),
};

/** @param {any} node @param {any} url @returns {string} */
function blockOf(node, url) {
  if (LEFT_OUT.has(node.name)) return "";
  if (Object.hasOwn(BLOCKS, node.name)) return BLOCKS[node.name](node, url);
  return CONTAINERS.has(node.name) ? blocksIn(node, url) : inline(node, url).trim();
}

/** The blocks inside a node; consecutive inline nodes become paragraphs. @param {any} node @param {any} url */
function blocksIn(node, url) {
  /** @type {string[]} */
  const blocks = [];
  let line = "";
  const end = () => {
    if (line.trim()) blocks.push(tidy(line));
    line = "";
  };
  for (const child of node.children) {
    if (!Object.hasOwn(BLOCKS, child.name) && !CONTAINERS.has(child.name)) {
      line += inline(child, url);
      continue;
    }
    end();
    blocks.push(blockOf(child, url));
  }
  end();
  return blocks.filter(Boolean).join("\n\n");
}

/** @param {any} node @param {any} url @returns {string} */
function inline(node, url) {
  if (node.type === "text") return node.data.replace(/\s+/g, " ");
  if (!isElement(node) || LEFT_OUT.has(node.name)) return "";
  const text = node.children.map((/** @type {any} */ child) => inline(child, url)).join("");
  return Object.hasOwn(INLINE, node.name) ? INLINE[node.name](text, node, url) : text;
}

/** @param {any} node @param {any} url */
const inlineIn = (node, url) => tidy(node.children.map((/** @type {any} */ child) => inline(child, url)).join(""));

/** @param {string} line */
const tidy = (line) => line.replace(/([^\n]) +/g, (_, sign) => `${sign} `).replace(/ \n/g, "  \n").trim();

/** @param {string} mark @param {string} text */
const marked = (mark, text) => (text.trim() ? text.replace(/^(\s*)([^]*?)(\s*)$/, `$1${mark}$2${mark}$3`) : text);

/** @param {any} node @param {any} url @param {(at: number) => string} mark */
function listOf(node, url, mark) {
  const items = node.children.filter((/** @type {any} */ child) => child.name === "li");
  return items.map((/** @type {any} */ item, /** @type {number} */ at) => {
    const sign = mark(at);
    const text = blocksIn(item, url).replace(/\n\n(?=\s*(?:[-*]|\d+\.) )/g, "\n");
    return sign + text.replace(/\n(?=.)/g, `\n${" ".repeat(sign.length)}`);
  }).join("\n");
}

/** @param {any} node @param {any} url @returns {string} */
function tableOf(node, url) {
  /** @type {any[]} */
  const rows = [];
  const collect = (/** @type {any} */ part) => part.children.forEach((/** @type {any} */ child) => {
    if (child.name === "tr") rows.push(child);
    else if (isElement(child) && child.name !== "table") collect(child);
  });
  collect(node);
  const cells = rows.map((row) => row.children.filter((/** @type {any} */ cell) => cell.name === "td" || cell.name === "th")
    .map((/** @type {any} */ cell) => inlineIn(cell, url).replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")));
  const lines = cells.filter((row) => row.length).map((row) => `| ${row.join(" | ")} |`);
  if (!lines.length) return "";
  const ruler = `|${" --- |".repeat(cells.find((row) => row.length)?.length ?? 1)}`;
  return [lines[0], ruler, ...lines.slice(1)].join("\n");
}

/** @param {string} address @param {any} url */
function absolute(address, url) {
  return Url.parse(address, url.href)?.href ?? address;
}

/** @param {any} node @param {RegExp} pattern @returns {string} */
function languageOf(node, pattern) {
  const own = node.attribs?.class?.match(pattern)?.[1] ?? node.attribs?.["data-lang"] ?? node.attribs?.["data-language"];
  if (own) return own;
  const inner = node.childNodes.find((/** @type {any} */ child) => child.name === "code");
  return inner ? languageOf(inner, pattern) : "";
}

/** Return a page's code snippets with their language and URL.
 * @param {any} $ @param {{ $elements?: any, tag?: string, languageClassPrefix?: string }} options */
export function codeSnippets($, { $elements, tag = "pre", languageClassPrefix = "language-" }) {
  const literal = languageClassPrefix.replace(/[^\w-]/g, "\\$&");
  const pattern = new RegExp(`(?:^|\\s)${literal}(\\S+)`);
  const nodes = ($elements ?? $("body")).toArray().flatMap((/** @type {any} */ node) => (
    node.name === tag ? [node] : $(node).find(tag).toArray()
  ));
  return nodes.map((/** @type {any} */ node) => {
    const language = languageOf(node, pattern) || languageOf(node.parent ?? node, pattern);
    const link = $(node).siblings("a[href]").first().attr("href");
    return { content: textOf(node).trim(), ...(language ? { language } : {}), ...(link ? { codeUrl: link } : {}) };
  });
}
