// Find the elements that match a selector.

import { candidates } from "./element_index.js";
import { ALIASES, SIMPLE, containsTester, isTop, nthTester } from "./pseudos.js";
import { POSITIONS, readSelector } from "./selectors.js";
import { after, before, inOrder, isElement, walk } from "./tree.js";

/** @typedef {import("./selectors.js").Test} Test */
/** @typedef {import("./selectors.js").Compound} Compound */
/** @typedef {(element: any) => boolean} Match */
/** The elements that `:scope` matches, or null for the root. @typedef {any[] | null} Scope */

/** Find the matching elements below some nodes, in page order.
 * @param {string} selector @param {any[]} nodes @returns {any[]} */
export function select(selector, nodes) {
  const groups = readSelector(selector);
  const tops = outermost(nodes);
  const ordered = groups.filter((group) => group.some(hasPosition));
  /** @type {any[]} */
  let found = [];
  const plain = groups.filter((group) => !ordered.includes(group));
  const match = anyOf(plain, nodes);
  for (const top of plain.length ? tops : []) {
    const few = plain.length === 1 ? candidates(top, plain[0][plain[0].length - 1].tests) : null;
    if (few) found = found.concat(few.filter(match));
    else walk(top, (element) => { if (match(element)) found.push(element); });
  }
  for (const group of ordered) for (const node of stepwise(group, nodes)) found.push(node);
  return ordered.length || tops.length > 1 ? inOrder(found) : found;
}

/** Keep the nodes that match a selector. @param {string} selector @param {any[]} nodes
 * @param {Scope} [scope] @returns {any[]} */
export function filter(selector, nodes, scope = null) {
  const groups = readSelector(selector);
  const kept = groups.map((group) => {
    if (!group.some(hasPosition)) return nodes.filter(compile(group, scope));
    const last = group[group.length - 1];
    const rest = group.slice(0, -1);
    const before = { ...last, tests: untilPosition(last.tests) };
    return positions(last.tests, nodes.filter(compile([...rest, before], scope)), scope);
  });
  if (kept.length === 1) return kept[0];
  const all = new Set(kept.flat());
  return nodes.filter((node) => all.has(node));
}

/** Whether a selector matches an element. @param {string} selector @param {any} element */
export const matches = (selector, element) => filter(selector, [element]).length > 0;

/** @param {any[]} nodes */
function outermost(nodes) {
  const unique = [...new Set(nodes)].filter((node) => node?.childNodes?.length);
  if (unique.length < 2) return unique;
  const all = new Set(unique);
  return inOrder(unique.filter((node) => {
    for (let at = node.parent; at; at = at.parent) if (all.has(at)) return false;
    return true;
  }));
}

/** @param {Compound} compound */
const hasPosition = (compound) => compound.tests.some(isPosition);
/** @param {Test} test */
const isPosition = (test) => test.kind === "pseudo" && POSITIONS.has(test.name);

/** @param {Test[]} tests */
const untilPosition = (tests) => tests.slice(0, tests.findIndex(isPosition));

/** Evaluate a group from left to right, because `:first` and similar count the elements to their left.
 * @param {Compound[]} group @param {any[]} nodes @returns {any[]} */
function stepwise(group, nodes) {
  const end = group.findIndex(hasPosition);
  if (end < 0) return reach(group, nodes);
  const { combinator, tests } = group[end];
  const head = [...group.slice(0, end), { combinator, tests: untilPosition(tests) }];
  const found = positions(tests, reach(head, nodes), nodes);
  const rest = group.slice(end + 1);
  return rest.length ? stepwise(rest, found) : found;
}

/** Find the elements that a group without positions matches from some nodes; a combinator may lead it.
 * @param {Compound[]} group @param {any[]} nodes @returns {any[]} */
function reach(group, nodes) {
  const around = /[+~]/.test(group[0].combinator) ? nodes.map((node) => node.parent ?? node) : nodes;
  const match = compile(group, nodes);
  /** @type {any[]} */
  const found = [];
  for (const top of outermost(around)) {
    walk(top, (element) => { if (match(element)) found.push(element); });
  }
  return inOrder(found);
}

/** Apply the tests of a compound from its first position to the elements found so far.
 * @param {Test[]} tests @param {any[]} found @param {Scope} scope @returns {any[]} */
function positions(tests, found, scope) {
  for (const test of tests.slice(tests.findIndex(isPosition))) {
    found = isPosition(test) ? placed(test, found) : found.filter(tester(test, scope));
  }
  return found;
}

/** @param {Test} test @param {any[]} found */
function placed({ name, argument }, found) {
  const number = parseInt(argument ?? "", 10);
  const at = number < 0 ? number + found.length : number;
  if (name === "first") return found.slice(0, 1);
  if (name === "last") return found.slice(-1);
  if (name === "even" || name === "odd") {
    return found.filter((_, place) => place % 2 === (name === "odd" ? 1 : 0));
  }
  if (Number.isNaN(number)) throw new SyntaxError(`:${name}() needs a number`);
  if (name === "gt") return found.filter((_, place) => place > at);
  if (name === "lt") return found.filter((_, place) => place < at);
  return at in found ? [found[at]] : [];
}

/** @param {Compound[][]} groups @param {Scope} scope @returns {Match} */
function anyOf(groups, scope) {
  const all = groups.map((group) => compile(group, scope));
  return all.length === 1 ? all[0] : (element) => all.some((match) => match(element));
}

/** @param {Compound[]} group @param {Scope} scope @param {boolean} [steady] whether the scope is
 * the same for every element @returns {Match} */
function compile(group, scope, steady = true) {
  return group.reduce((/** @type {Match | null} */ left, { combinator, tests }) => {
    const match = allOf(tests, scope);
    if (!combinator) return match;
    return joined(combinator, left ?? scopeMatch(scope), match, steady);
  }, null) ?? (() => false);
}

/** The elements from which a leading combinator starts. @param {Scope} scope @returns {Match} */
const scopeMatch = (scope) => (node) => (scope ? scope.includes(node) : !node.parent);

/** @param {string} combinator @param {Match} left @param {Match} right @param {boolean} steady
 * @returns {Match} */
function joined(combinator, left, right, steady) {
  if (combinator === ">") {
    return (element) => right(element) && element.parent !== null && left(element.parent);
  }
  if (combinator === " ") {
    return (element) => {
      if (!right(element)) return false;
      for (let at = element.parent; at; at = at.parent) if (left(at)) return true;
      return false;
    };
  }
  if (combinator === "+") {
    return (element) => right(element) && before(element) !== null && left(before(element));
  }
  const anyBefore = steady ? remembered(left) : (/** @type {any} */ element) => {
    for (let at = before(element); at; at = before(at)) if (left(at)) return true;
    return false;
  };
  return (element) => right(element) && anyBefore(element);
}

/** Whether any sibling before passes, each of them asked but once. @param {Match} left
 * @returns {Match} */
function remembered(left) {
  /** @type {Map<any, boolean>} */
  const known = new Map();
  return (element) => {
    const asked = [];
    let at = element;
    for (; at && !known.has(at); at = before(at)) asked.push(at);
    let passed = at !== null && (known.get(at) === true || left(at));
    for (const one of asked.reverse()) {
      known.set(one, passed);
      passed ||= left(one);
    }
    return known.get(element) === true;
  };
}

/** @param {Test[]} tests @param {Scope} scope @returns {Match} */
function allOf(tests, scope) {
  const all = tests.map((test) => tester(test, scope));
  if (all.length === 0) return isElement;
  if (all.length === 1) return all[0];
  return (element) => all.every((match) => match(element));
}

/** @param {Test} test @param {Scope} scope @returns {Match} */
function tester(test, scope) {
  if (test.kind === "any") return isElement;
  if (test.kind === "tag") return tagTester(test);
  if (test.kind === "attribute") return attributeTester(test);
  return pseudoTester(test, scope);
}

/** @param {Test} test @returns {Match} */
function tagTester({ name, written }) {
  return (node) => (node.name === name || node.name === written) && isElement(node);
}

/** @type {Record<string, (actual: string, value: string) => boolean>} */
const COMPARED = {
  "=": (actual, value) => actual === value,
  "!=": (actual, value) => actual !== value,
  "~=": (actual, value) => value !== "" && !/\s/.test(value) && hasWord(actual, value),
  "|=": (actual, value) => actual === value || actual.startsWith(`${value}-`),
  "^=": (actual, value) => value !== "" && actual.startsWith(value),
  "$=": (actual, value) => value !== "" && actual.endsWith(value),
  "*=": (actual, value) => value !== "" && actual.includes(value),
};

/** @param {Test} test @returns {Match} */
function attributeTester({ name, written = name, operator, value = "", fold }) {
  if (!operator) return (node) => nameIn(node, name, written) !== undefined;
  const compare = COMPARED[operator];
  const wanted = fold ? value.toLowerCase() : value;
  return (node) => {
    const actual = nameIn(node, name, written);
    if (actual === undefined) return operator === "!=" && isElement(node);
    return compare(fold ? actual.toLowerCase() : actual, wanted);
  };
}

/** @param {any} node @param {string} name @param {string} written @returns {string | undefined} */
const nameIn = (node, name, written) => node.attribs?.[name] ?? node.attribs?.[written];

/** @param {string} text @param {string} word */
export function hasWord(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if ((at === 0 || isSpace(text[at - 1])) && (end === text.length || isSpace(text[end]))) {
      return true;
    }
  }
  return false;
}

/** @param {string} sign */
const isSpace = (sign) => sign === " " || sign === "\n" || sign === "\t" || sign === "\r" || sign === "\f";

/** @param {Test} test @param {Scope} scope @returns {Match} */
function pseudoTester(test, scope) {
  const { name, groups, nth, argument } = test;
  if (name === "not") return negated(anyOf(needed(groups, name), scope));
  if (name === "is" || name === "where" || name === "matches") return anyOf(needed(groups, name), scope);
  if (name === "has") return hasTester(needed(groups, name));
  if (name === "scope") {
    return (node) => isElement(node) && (scope?.some(isElement) ? scope.includes(node) : isTop(node));
  }
  if (nth) return nthTester(name, nth, groups ? anyOf(groups, scope) : null);
  if (name === "contains" || name === "icontains") return containsTester(name, argument);
  if (ALIASES.has(name)) return anyOf(readSelector(/** @type {string} */ (ALIASES.get(name))), scope);
  const simple = SIMPLE[name];
  if (!Object.hasOwn(SIMPLE, name) || argument !== undefined) {
    throw new SyntaxError(`unknown selector \`:${name}${argument === undefined ? "" : "()"}\``);
  }
  return (node) => isElement(node) && simple(node);
}

/** @template T @param {T | undefined} groups @param {string} name @returns {T} */
function needed(groups, name) {
  if (groups) return groups;
  throw new SyntaxError(`:${name} needs a selector in parentheses`);
}

/** @param {Match} match @returns {Match} */
const negated = (match) => (node) => isElement(node) && !match(node);

/** @param {Compound[][]} groups @returns {Match} */
function hasTester(groups) {
  const tests = groups.map((group) => (group.some(hasPosition) ? hasPlaced(group) : hasOne(group)));
  return (element) => isElement(element) && tests.some((test) => test(element));
}

/** @param {Compound[]} group @returns {Match} */
const hasPlaced = (group) => (element) => stepwise(group, [element]).length > 0;

/** @param {Compound[]} group @returns {Match} */
function hasOne(group) {
  /** @type {any[]} */
  const scope = [null];
  const combinator = group[0].combinator || " ";
  const match = compile([{ ...group[0], combinator }, ...group.slice(1)], scope, false);
  const aside = combinator === "+" || combinator === "~";
  return (element) => {
    const outer = scope[0];
    scope[0] = element;
    let found = false;
    const miss = (/** @type {any} */ inner) => !(found = match(inner));
    if (!aside) walk(element, miss);
    for (let at = aside ? after(element) : null; at && !found; at = after(at)) {
      if (miss(at)) walk(at, miss);
    }
    scope[0] = outer;
    return found;
  };
}
