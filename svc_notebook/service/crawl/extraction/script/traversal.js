// Traverse the tree from each node of a list: parents, children and siblings.

import { matches } from "./matcher.js";
import { Query, keep, listOf } from "./query.js";
import { after, before, inOrder, isBranch, isElement } from "./tree.js";

/** @typedef {(node: any) => any} Step */

/** @type {Step} */
const up = (node) => (node.parent?.type === "root" ? null : node.parent);
/** All nodes that repeated steps reach, up to the first that matches `until`.
 * @param {any} node @param {Step} step @param {any} [until] @returns {any[]} */
function reach(node, step, until) {
  const ends = typeof until === "string" || until === undefined ? null : new Set(listOf(until));
  const reached = [];
  for (let at = step(node); at; at = step(at)) {
    if (ends ? ends.has(at) : until && matches(until, at)) break;
    reached.push(at);
  }
  return reached;
}

/** Make a method that goes one step from each node. @param {Step} step */
const one = (step) => function (/** @type {any} */ by) {
  // @ts-expect-error `this` is the list that the method is called on
  return gather(this, (node) => [step(node)].filter(Boolean), by);
};

/** Make a method that goes to the end. @param {Step} step @param {boolean} backwards */
const all = (step, backwards) => function (/** @type {any} */ by) {
  // @ts-expect-error as above
  return gather(this, (node) => reach(node, step), by, backwards);
};

/** Make a method that goes up to a matching node. @param {Step} step @param {boolean} backwards */
const until = (step, backwards) => function (/** @type {any} */ end, /** @type {any} */ by) {
  // @ts-expect-error as above
  return gather(this, (node) => reach(node, step, end), by, backwards);
};

/** @param {any} query @param {(node: any) => any[]} from @param {any} by @param {boolean} [backwards] */
function gather(query, from, by, backwards = false) {
  const lists = query.toArray().map(from);
  let nodes = lists.length === 1 ? lists[0] : inOrder(lists.flat());
  // Nearest first; the results of a single node already are.
  if (backwards && lists.length > 1) nodes = nodes.reverse();
  return query.made(by === undefined ? nodes : keep(nodes, by));
}

const elements = (/** @type {any} */ node) => (isBranch(node) ? node.children.filter(isElement) : []);

Object.assign(Query.prototype, {
  parent: one((node) => (node.parent?.type === "root" ? null : node.parent)),
  parents: all(up, true),
  parentsUntil: until(up, true),
  next: one(after),
  nextAll: all(after, false),
  nextUntil: until(after, false),
  prev: one(before),
  prevAll: all(before, true),
  prevUntil: until(before, true),
  /** @this {any} @param {any} by */
  children(by) { return gather(this, elements, by); },
  /** @this {any} */
  contents() { return gather(this, (node) => [...node.childNodes], undefined); },
  /** @this {any} @param {any} by */
  siblings(by) {
    return gather(this, (node) => (node.parent ? elements(node.parent).filter((other) => other !== node) : []), by);
  },
  /** @this {any} @param {any} by */
  closest(by) {
    /** @type {any[]} */
    const found = this.toArray().flatMap((/** @type {any} */ node) => {
      if (by === undefined) return [];
      return keep([node, ...reach(node, up)].filter(isElement), by).slice(0, 1);
    });
    return this.made([...new Set(found)]);
  },
});
