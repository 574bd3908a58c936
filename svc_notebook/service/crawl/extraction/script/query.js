// `$` and its results: a list of nodes with Cheerio's methods, which other modules add.

import { filter, select } from "./matcher.js";
import { parsePiece } from "./parser.js";
import { Node, contains, inOrder, isBranch, isElement, makeRoot, textOf, append } from "./tree.js";
import { outerHtml } from "./serializer.js";

const MARKUP = /<[a-z][^]*>/i;

/** A list of nodes with methods. */
export class Query {
  /** @param {any} $ @param {any[]} nodes @param {Query | null} [before] the list that `end` returns */
  constructor($, nodes, before = null) {
    /** @type {any} */
    this.$ = $;
    this.prevObject = before;
    this.length = nodes.length;
    hide(this, "$");
    hide(this, "prevObject");
    /** @type {any} */
    const list = this;
    for (let at = 0; at < nodes.length; at++) list[at] = nodes[at];
  }

  [Symbol.iterator]() { return Array.prototype[Symbol.iterator].call(this); }
  get [Symbol.toStringTag]() { return "Query"; }
  get cheerio() { return "[cheerio object]"; }

  /** @param {any[]} nodes @returns {Query} a list found from this one */
  made(nodes) { return new Query(this.$, nodes, this); }

  /** @returns {any[]} */
  toArray() { return Array.prototype.slice.call(this); }

  /** @param {number} [at] */
  get(at) { return at === undefined ? this.toArray() : this.toArray().at(at); }

  toString() { return this.$.html(this); }
}

/** Make a member non-enumerable. @param {object} object @param {string} name */
function hide(object, name) {
  Object.defineProperty(object, name, { enumerable: false });
}

/** Make the `$` of a page. @param {any} root @returns {any} */
export function load(root) {
  /** @param {any} [selector] @param {any} [context] @param {any} [within] */
  const $ = (selector, context, within) => find($, selector, context, within);
  $.fn = Query.prototype;
  $._root = root;
  $.root = () => new Query($, [root]);
  $.html = (/** @type {any} */ what) => nodesOf($, what ?? root).map(outerHtml).join("");
  $.xml = $.html;
  $.text = (/** @type {any} */ what) => nodesOf($, what ?? root).map(textOf).join("");
  $.contains = contains;
  $.merge = merge;
  $.load = (/** @type {any} */ html) => load(wholePage(html));
  $.parseHTML = (/** @type {any} */ html) => (html ? pieces(html) : null);
  $.extract = (/** @type {any} */ map) => /** @type {any} */ ($.root()).extract(map);
  return $;
}

/** @param {any} $ @param {any} selector @param {any} context @param {any} within */
function find($, selector, context, within) {
  if (selector instanceof Query) return selector;
  if (!selector) return new Query($, []);
  if (typeof selector !== "string") return new Query($, listOf(selector));
  if (MARKUP.test(selector)) return new Query($, pieces(selector));
  const root = within === undefined ? $.root() : $(typeof within === "string" ? $.load(within).root() : within);
  if (context === undefined || context === null) return root.find(selector);
  const from = typeof context === "string" && !MARKUP.test(context) ? root.find(context) : $(context);
  return from.find(selector);
}

/** Parse HTML into nodes without a parent. @param {string} html @returns {any[]} */
export function pieces(html) {
  const root = parsePiece(html);
  for (const node of root.children) node.parent = node.prev = node.next = null;
  return root.children;
}

/** @param {any} $ @param {any} what nodes, or a selector @returns {any[]} */
const nodesOf = ($, what) => (typeof what === "string" ? $(what).toArray() : listOf(what));

/** @param {any} what a node, or a collection of nodes @returns {any[]} */
export function listOf(what) {
  if (what === null || what === undefined) return [];
  if (what instanceof Node || typeof what === "string") return [what];
  if (typeof what[Symbol.iterator] === "function") return [...what];
  return typeof what.length === "number" ? Array.from(what) : [what];
}

/** Parse a text as a whole page with `html`, `head` and `body`. @param {any} html */
function wholePage(html) {
  if (html instanceof Query || html instanceof Node) return rooted(listOf(html));
  const root = parsePiece(String(html));
  if (select("html", [root]).length) return root;
  const early = root.children.filter((node) => node.type === "directive");
  const inner = root.children.filter((node) => node.type !== "directive");
  const page = pieces("<html><head></head><body></body></html>");
  const [head, body] = page[0].children;
  for (const node of inner) {
    const named = node.name === "head" || node.name === "body" ? node : null;
    if (named) (named.name === "head" ? head : body).attribs = named.attribs;
    const place = named?.name === "head" || (HEADED.has(node.name) && !body.children.length) ? head : body;
    for (const child of named ? named.children : [node]) append(place, child);
  }
  return rooted([...early, ...page]);
}

const HEADED = new Set("title meta link base style script noscript template".split(" "));

/** @param {any[]} nodes */
function rooted(nodes) {
  const root = makeRoot();
  for (const node of nodes) append(root, node);
  return root;
}

/** Append one list to another. @param {any} first @param {any} second */
function merge(first, second) {
  if (typeof first?.length !== "number" || typeof second?.length !== "number") return undefined;
  for (let at = 0; at < second.length; at++) first[first.length++] = second[at];
  return first;
}

/** Keep the nodes that a selector, a function or a list of nodes selects. @param {any[]} nodes
 * @param {any} by @returns {any[]} */
export function keep(nodes, by) {
  if (typeof by === "string") return filter(by, nodes.filter(isElement));
  if (typeof by === "function") return nodes.filter((node, at) => by.call(node, at, node));
  const wanted = new Set(listOf(by));
  return nodes.filter((node) => wanted.has(node));
}

/** Methods that select among nodes, and combine lists. */
const choosing = {
  /** @this {any} @param {any} by */
  find(by) {
    const nodes = this.toArray().filter(isBranch);
    if (typeof by === "string") return this.made(select(by, nodes));
    return this.made(listOf(by).filter((node) => nodes.some((/** @type {any} */ outer) => contains(outer, node))));
  },
  /** @this {any} @param {any} by */
  filter(by) { return this.made(keep(this.toArray(), by)); },
  /** @this {any} @param {any} by */
  not(by) {
    const gone = new Set(keep(this.toArray(), by));
    return this.made(this.toArray().filter((/** @type {any} */ node) => !gone.has(node)));
  },
  /** @this {any} @param {any} by */
  is(by) { return by !== undefined && keep(this.toArray(), by).length > 0; },
  /** @this {any} @param {any} by */
  has(by) {
    return this.filter((/** @type {any} */ _, /** @type {any} */ node) => this.$(node).find(by).length > 0);
  },
  /** @this {any} @param {number} at */
  eq(at) { const node = this.get(Number(at)); return this.made(node === undefined ? [] : [node]); },
  /** @this {any} */
  first() { return this.length > 1 ? this.made([this[0]]) : this; },
  /** @this {any} */
  last() { return this.length ? this.made([this[this.length - 1]]) : this; },
  /** @this {any} @param {number} [from] @param {number} [to] */
  slice(from, to) { return this.made(this.toArray().slice(from, to)); },
  /** @this {any} @param {(this: any, at: number, node: any) => any} visit */
  each(visit) {
    for (let at = 0; at < this.length; at++) if (visit.call(this[at], at, this[at]) === false) break;
    return this;
  },
  /** @this {any} @param {(this: any, at: number, node: any) => any} change */
  map(change) {
    return this.made(this.toArray().flatMap((/** @type {any} */ node, /** @type {number} */ at) => {
      const value = change.call(node, at, node);
      return value === null || value === undefined ? [] : value instanceof Query ? value.toArray() : value;
    }));
  },
  /** @this {any} @param {any} [of] */
  index(of) {
    if (of === undefined) return this.parent().children().toArray().indexOf(this[0]);
    if (typeof of === "string") return this.$(of).toArray().indexOf(this[0]);
    return this.toArray().indexOf(of instanceof Query ? of.get(0) : of);
  },
  /** @this {any} @param {any} other @param {any} [context] */
  add(other, context) {
    return this.made(inOrder([...this.toArray(), ...this.$(other, context).toArray()]));
  },
  /** @this {any} @param {any} [by] */
  addBack(by) {
    const before = this.prevObject ?? this.made([]);
    return this.add(by === undefined ? before : before.filter(by));
  },
  /** @this {any} */
  end() { return this.prevObject ?? this.made([]); },
};

Object.assign(Query.prototype, choosing);
