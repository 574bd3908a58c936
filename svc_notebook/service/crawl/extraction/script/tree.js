// The tree of a page: nodes with the members of Cheerio's nodes, and functions to insert and remove them.

/** Changes with every change of any tree, so that cached indexes can be recognised as stale. */
let changes = 0;

/** Mark a tree as changed. */
export function touch() {
  changes++;
}

/** @returns {number} */
export const stamp = () => changes;

export class Node {
  /** @param {string} type */
  constructor(type) {
    this.type = type;
    /** @type {any} */
    this.parent = null;
    /** @type {any} */
    this.prev = null;
    /** @type {any} */
    this.next = null;
    this.place = 0;
  }

  get parentNode() { return this.parent; }
  get previousSibling() { return this.prev; }
  get nextSibling() { return this.next; }
  get nodeType() { return NODE_TYPES[this.type] ?? 1; }
  get firstChild() { return null; }
  get lastChild() { return null; }
  /** @returns {any[]} */
  get childNodes() { return []; }
  get textContent() { return textOf(this); }
}

/** @type {Record<string, number>} */
const NODE_TYPES = { root: 9, text: 3, comment: 8, directive: 10 };

/** A node without children that contains a text: `text`, `comment` or `directive`. */
export class Leaf extends Node {
  /** @param {string} type @param {string} data */
  constructor(type, data) {
    super(type);
    this.data = data;
  }

  get nodeValue() { return this.data; }
}

/** A node with children: the root of a tree, or an element. */
export class Branch extends Node {
  /** @param {string} type @param {string} name */
  constructor(type, name) {
    super(type);
    this.name = name;
    /** @type {any[]} */
    this.children = [];
    this.counted = -1;
  }

  get firstChild() { return this.children[0] ?? null; }
  get lastChild() { return this.children[this.children.length - 1] ?? null; }
  get childNodes() { return this.children; }
  get tagName() { return this.name; }
  get nodeName() { return this.name; }
}

export class Element extends Branch {
  /** @param {string} name @param {Record<string, string>} attribs */
  constructor(name, attribs) {
    super(name === "script" || name === "style" ? name : "tag", name);
    this.attribs = attribs;
  }

  get attributes() {
    return Object.keys(this.attribs).map((name) => ({ name, value: this.attribs[name] }));
  }
}

/** @returns {Branch} a root without children */
export const makeRoot = () => new Branch("root", "root");

/** @param {any} node @returns {node is Element} */
export const isElement = (node) => node instanceof Element;

/** @param {any} node @returns {node is Branch} */
export const isBranch = (node) => node instanceof Branch;

/** Append a node as the last child; a node with another parent must be removed from it first.
 * @param {Branch} parent @param {any} node */
export function append(parent, node) {
  const last = parent.lastChild;
  node.parent = parent;
  node.prev = last;
  node.next = null;
  if (last) last.next = node;
  parent.children.push(node);
}

/** Remove a node from its parent. @param {any} node */
export function detach(node) {
  changes++;
  const { parent, prev, next } = node;
  if (prev) prev.next = next;
  if (next) next.prev = prev;
  if (parent) parent.children.splice(parent.children.indexOf(node), 1);
  node.parent = node.prev = node.next = null;
}

/** Replace some children by nodes, which are removed from their previous parents.
 * @param {Branch} parent @param {number} at @param {number} count the number of replaced children
 * @param {any[]} nodes */
export function splice(parent, at, count, nodes) {
  changes++;
  const after = parent.children[at + count] ?? null;
  const gone = parent.children.slice(at, at + count).filter((node) => !nodes.includes(node));
  for (const node of new Set([...gone, ...nodes])) detach(node);
  const start = after ? parent.children.indexOf(after) : parent.children.length;
  parent.children.splice(start, 0, ...nodes);
  nodes.forEach((node) => { node.parent = parent; });
  relink(parent.children, start - 1, start + nodes.length);
}

/** @param {any[]} children @param {number} from @param {number} to */
function relink(children, from, to) {
  for (let at = Math.max(from, 0); at <= Math.min(to, children.length - 1); at++) {
    children[at].prev = children[at - 1] ?? null;
    children[at].next = children[at + 1] ?? null;
  }
}

/** Copy a node and its descendants, without a parent. @param {any} node @returns {any} */
export function copy(node) {
  if (!isBranch(node)) return new Leaf(node.type, node.data);
  const made = isElement(node)
    ? new Element(node.name, Object.assign(Object.create(null), node.attribs))
    : makeRoot();
  for (const child of node.children) append(made, copy(child));
  return made;
}

/** Call `visit` for every element below a node, in page order; `false` ends the traversal.
 * @param {any} node @param {(element: Element) => any} visit @returns {boolean} */
export function walk(node, visit) {
  let at = node.firstChild;
  while (at) {
    if (isElement(at) && visit(at) === false) return false;
    if (at.firstChild) {
      at = at.firstChild;
      continue;
    }
    while (!at.next && at.parent !== node) at = at.parent;
    at = at.next;
  }
  return true;
}

/** @param {any} node @returns {any} the element before it */
export function before(node) {
  let at = node.prev;
  while (at && !isElement(at)) at = at.prev;
  return at;
}

/** @param {any} node @returns {any} the element after it */
export function after(node) {
  let at = node.next;
  while (at && !isElement(at)) at = at.next;
  return at;
}

/** @param {any} node @returns {any} the topmost node above it, or itself */
export function topOf(node) {
  while (node.parent) node = node.parent;
  return node;
}

/** Whether `inner` is a descendant of `outer`. @param {any} outer @param {any} inner */
export function contains(outer, inner) {
  for (let at = inner?.parent; at; at = at.parent) if (at === outer) return true;
  return false;
}

/** Sort nodes in page order, without duplicates. @param {any[]} nodes @returns {any[]} */
export function inOrder(nodes) {
  const unique = [...new Set(nodes)];
  if (unique.length < 2) return unique;
  const tops = [...new Set(unique.map(topOf))];
  tops.forEach(number);
  const rank = new Map(tops.map((top, at) => [top, at]));
  const rankOf = (/** @type {any} */ node) => rank.get(topOf(node)) ?? 0;
  return unique.sort((a, b) => rankOf(a) - rankOf(b) || a.place - b.place);
}

/** @param {any} top */
function number(top) {
  if (top.counted === changes) return;
  let place = 0;
  /** @type {any[]} */
  const waiting = [top];
  while (waiting.length) {
    const node = waiting.pop();
    node.place = place++;
    for (let child = node.lastChild; child; child = child.prev) waiting.push(child);
  }
  top.counted = changes;
}

/** The concatenated text below a node. @param {any} node @returns {string} */
export function textOf(node) {
  if (node.type === "text") return node.data;
  if (!isBranch(node)) return "";
  let text = "";
  for (const child of node.children) text += textOf(child);
  return text;
}
