// Change the tree: set text and HTML; insert, remove, wrap and copy nodes.

import { Query, keep, listOf, pieces } from "./query.js";
import { Leaf, Node, copy, detach, isBranch, isElement, splice, textOf } from "./tree.js";
import { innerHtml } from "./serializer.js";

/** Convert content (nodes, lists, HTML) to nodes; copied if it is inserted at several places.
 * @param {any} what @param {boolean} fresh @returns {any[]} */
function material(what, fresh) {
  if (Array.isArray(what)) return what.flatMap((item) => material(item, fresh));
  if (what === null || what === undefined) return [];
  if (typeof what !== "object") return pieces(String(what));
  const nodes = listOf(what).filter((node) => node instanceof Node);
  return fresh ? nodes.map(copy) : nodes;
}

/** Make a method that inserts content at each node; the last one receives the originals, not copies.
 * @param {(node: any, nodes: any[]) => void} put @param {(node: any) => any} [read] the value that a content
 * function receives */
const placing = (put, read = innerHtml) => function (/** @type {any[]} */ ...given) {
  // @ts-expect-error `this` is the list that the method is called on
  const query = /** @type {any} */ (this);
  const last = query.length - 1;
  query.toArray().forEach((/** @type {any} */ node, /** @type {number} */ at) => {
    const what = typeof given[0] === "function" ? given[0].call(node, at, read(node)) : given;
    put(node, material(what, at < last));
  });
  return query;
};

/** The inverse method, called on the content: `$(content).appendTo(target)`. @param {string} method */
const placed = (method) => function (/** @type {any} */ target) {
  // @ts-expect-error as above
  const query = /** @type {any} */ (this);
  const targets = query.$(target).toArray();
  const put = targets.flatMap((/** @type {any} */ node, /** @type {number} */ at) => {
    const nodes = material(query.toArray(), at < targets.length - 1);
    query.$(node)[method](nodes);
    return nodes;
  });
  return query.made(put);
};

/** @param {any} node */
const placeOf = (node) => node.parent.children.indexOf(node);

/** Insert nodes before or after a node. @param {any} node @param {any[]} nodes @param {number} after */
function beside(node, nodes, after) {
  if (!node.parent) return;
  const others = nodes.filter((other) => other !== node);
  others.forEach(detach);
  splice(node.parent, placeOf(node) + after, 0, others);
}

/** @param {any} parent @param {any[]} nodes @param {boolean} first */
function within(parent, nodes, first) {
  if (!isBranch(parent)) return;
  nodes.forEach((node) => {
    if (node === parent || parentsOf(parent).includes(node)) throw new Error("a node cannot be put into itself");
  });
  nodes.forEach(detach);
  splice(parent, first ? 0 : parent.children.length, 0, nodes);
}

/** @param {any} node @returns {any[]} */
function parentsOf(node) {
  const parents = [];
  for (let at = node.parent; at; at = at.parent) parents.push(at);
  return parents;
}

/** @param {any} node @param {any[]} nodes */
function fill(node, nodes) {
  if (isBranch(node)) splice(node, 0, node.children.length, nodes);
}

/** @param {any} node @param {any[]} nodes */
function replace(node, nodes) {
  if (node.parent) splice(node.parent, placeOf(node), 1, nodes.filter((other) => other !== node));
}

/** The innermost first element of a wrapper. @param {any} node */
function innermost(node) {
  for (let inner = node; inner; inner = inner.children.find(isElement)) node = inner;
  return node;
}

/** @param {any} $ @param {any} wrapper @param {any} node @param {number} at */
function wrapperFor($, wrapper, node, at) {
  const what = typeof wrapper === "function" ? wrapper.call(node, at, node) : wrapper;
  const found = typeof what === "string" ? $(what).toArray() : listOf(what);
  const made = found.find(isElement);
  return made ? copy(made) : null;
}

Object.assign(Query.prototype, {
  append: placing((node, nodes) => within(node, nodes, false)),
  prepend: placing((node, nodes) => within(node, nodes, true)),
  before: placing((node, nodes) => beside(node, nodes, 0)),
  after: placing((node, nodes) => beside(node, nodes, 1)),
  replaceWith: placing(replace, (node) => node),
  appendTo: placed("append"),
  prependTo: placed("prepend"),
  insertBefore: placed("before"),
  insertAfter: placed("after"),
  /** @this {any} @param {any} target */
  replaceAll(target) { this.$(target).replaceWith(this); return this; },

  /** @this {any} @param {any} [by] */
  remove(by) {
    const nodes = by === undefined ? this.toArray() : keep(this.toArray(), by);
    nodes.filter((/** @type {any} */ node) => node.parent).forEach(detach);
    return this;
  },
  /** @this {any} @param {any} [by] */
  detach(by) { return this.remove(by); },
  /** @this {any} */
  empty() { this.toArray().forEach((/** @type {any} */ node) => fill(node, [])); return this; },
  /** @this {any} */
  clone() { return this.made(this.toArray().map(copy)); },

  /** @this {any} @param {any} [value] */
  text(value) {
    if (value === undefined) return this.toArray().map(textIn).join("");
    this.toArray().forEach((/** @type {any} */ node, /** @type {number} */ at) => {
      const text = typeof value === "function" ? value.call(node, at, textOf(node)) : value;
      if (isBranch(node)) fill(node, text === "" ? [] : [new Leaf("text", String(text))]);
      else node.data = String(text);
    });
    return this;
  },
  /** @this {any} @param {any} [value] */
  html(value) {
    if (value === undefined) return this.length ? innerHtml(this[0]) : null;
    this.toArray().forEach((/** @type {any} */ node, /** @type {number} */ at) => {
      const what = typeof value === "function" ? value.call(node, at, innerHtml(node)) : value;
      fill(node, material(what, at < this.length - 1));
    });
    return this;
  },

  /** @this {any} @param {any} wrapper */
  wrap(wrapper) {
    this.toArray().forEach((/** @type {any} */ node, /** @type {number} */ at) => {
      const around = wrapperFor(this.$, wrapper, node, at);
      if (!around) return;
      if (node.parent) splice(node.parent, placeOf(node), 1, [around]);
      within(innermost(around), [node], false);
    });
    return this;
  },
  /** @this {any} @param {any} wrapper */
  wrapAll(wrapper) {
    const around = this.length ? wrapperFor(this.$, wrapper, this[0], 0) : null;
    if (!around) return this;
    beside(this[0], [around], 0);
    within(innermost(around), this.toArray(), false);
    return this;
  },
  /** @this {any} @param {any} wrapper */
  wrapInner(wrapper) {
    this.toArray().filter(isBranch).forEach((/** @type {any} */ node, /** @type {number} */ at) => {
      const around = wrapperFor(this.$, wrapper, node, at);
      if (!around) return;
      const inner = [...node.children];
      fill(node, [around]);
      within(innermost(around), inner, false);
    });
    return this;
  },
  /** @this {any} @param {any} [by] */
  unwrap(by) {
    this.parent(by).not("body").each((/** @type {any} */ _, /** @type {any} */ parent) => {
      replace(parent, [...parent.children]);
    });
    return this;
  },

  /** Read several values at once: `{title: "h1", links: [{selector: "a", value: "href"}]}`.
   * @this {any} @param {Record<string, any>} map */
  extract(map) {
    return Object.fromEntries(Object.entries(map).map(([name, wanted]) => {
      const many = Array.isArray(wanted);
      const { selector, value = "textContent" } = typeof (many ? wanted[0] : wanted) === "string"
        ? { selector: many ? wanted[0] : wanted } : many ? wanted[0] : wanted;
      const read = (/** @type {any} */ node) => readOne(this.$(node), value, name);
      const found = this.find(selector).toArray();
      return [name, many ? found.map(read).filter((/** @type {any} */ one) => one !== undefined) : found.length ? read(found[0]) : undefined];
    }));
  },
});

/** @param {any} query @param {any} value @param {string} name */
function readOne(query, value, name) {
  if (typeof value === "function") return value(query[0], name, {});
  return typeof value === "object" ? query.extract(value) : query.prop(value);
}

/** @param {any} value a node, or the result of `map` for one */
const textIn = (value) => (value instanceof Node ? textOf(value) : String(value));
