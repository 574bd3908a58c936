// Pseudo-classes: positions among siblings, form states, texts.

import { after, before, contains, isElement, textOf, walk } from "./tree.js";

/** @typedef {(element: any) => boolean} Match */

/** @param {string} name @param {[number, number]} nth @param {Match | null} of @returns {Match} */
export function nthTester(name, [step, offset], of) {
  /** @type {Map<any, Map<any, number>>} */
  const counted = new Map();
  const count = (/** @type {any} */ parent) => countChildren(parent, name, of);
  return (element) => {
    if (!isElement(element) || !element.parent) return false;
    let places = counted.get(element.parent);
    if (!places) counted.set(element.parent, (places = count(element.parent)));
    const steps = (places.get(element) ?? NaN) - offset;
    return step === 0 ? steps === 0 : steps % step === 0 && steps / step >= 0;
  };
}

/** Number the children that match. @param {any} parent @param {string} name
 * @param {Match | null} of @returns {Map<any, number>} */
function countChildren(parent, name, of) {
  const children = parent.children.filter(isElement);
  const typed = name.endsWith("of-type");
  if (name.startsWith("nth-last")) children.reverse();
  /** @type {Map<string, number>} */
  const numbers = new Map();
  const places = new Map();
  for (const child of children) {
    if (of && !of(child)) continue;
    const kind = typed ? child.name : "";
    numbers.set(kind, (numbers.get(kind) ?? 0) + 1);
    places.set(child, numbers.get(kind));
  }
  return places;
}

/** @param {string} name @param {string} [text] @returns {Match} */
export function containsTester(name, text = "") {
  if (name === "contains") return (node) => isElement(node) && textOf(node).includes(text);
  const wanted = text.toLowerCase();
  return (node) => isElement(node) && textOf(node).toLowerCase().includes(wanted);
}

/** @param {any} node @param {(node: any) => any} along */
function aloneOfType(node, along) {
  for (let at = along(node); at; at = along(at)) if (at.name === node.name) return false;
  return true;
}

/** @param {any} node */
export const isTop = (node) => !node.parent || node.parent.type === "root";
/** @param {any} node @param {string} name */
const has = (node, name) => node.attribs[name] !== undefined;
const FIELDS = new Set("button input select textarea optgroup option fieldset".split(" "));

/** @param {any} node */
function isDisabled(node) {
  if (!FIELDS.has(node.name)) return false;
  if (has(node, "disabled")) return true;
  for (let at = node.parent; at; at = at.parent) {
    if (at.name === "optgroup" && node.name === "option" && has(at, "disabled")) return true;
    if (at.name === "fieldset" && has(at, "disabled")) return !inFirstLegend(node, at);
  }
  return false;
}

/** @param {any} node @param {any} fieldset */
function inFirstLegend(node, fieldset) {
  const legend = fieldset.children.find((/** @type {any} */ child) => child.name === "legend");
  return legend !== undefined && contains(legend, node);
}

/** @param {any} option */
function isSelected(option) {
  if (option.name !== "option") return false;
  if (has(option, "selected")) return true;
  let list = option.parent;
  if (list?.name === "optgroup") list = list.parent;
  if (list?.name !== "select" || has(list, "multiple")) return false;
  /** @type {any[]} */
  const options = [];
  walk(list, (element) => { if (element.name === "option") options.push(element); });
  return options[0] === option && !options.some((other) => has(other, "selected"));
}

/** @type {Record<string, Match>} */
export const SIMPLE = {
  "first-child": (node) => !before(node),
  "last-child": (node) => !after(node),
  "only-child": (node) => !before(node) && !after(node),
  "first-of-type": (node) => aloneOfType(node, before),
  "last-of-type": (node) => aloneOfType(node, after),
  "only-of-type": (node) => aloneOfType(node, before) && aloneOfType(node, after),
  root: (node) => isTop(node) && !before(node),
  empty: (node) => !node.children.some((/** @type {any} */ child) => isElement(child) || child.type === "text"),
  parent: (node) => node.children.some((/** @type {any} */ child) => isElement(child) || child.type === "text"),
  disabled: isDisabled,
  enabled: (node) => FIELDS.has(node.name) && !isDisabled(node),
  selected: isSelected,
  checked: (node) => (node.name === "input" && /^(?:checkbox|radio)$/i.test(node.attribs.type ?? "")
    && has(node, "checked")) || isSelected(node),
  hover: () => false,
  active: () => false,
  focus: () => false,
  target: () => false,
  visited: () => false,
};

/** Pseudo-classes that abbreviate another selector. */
export const ALIASES = new Map(Object.entries({
  header: "h1, h2, h3, h4, h5, h6",
  input: "input, button, select, textarea",
  button: "button, input[type=button]",
  text: "input:not([type]), input[type=''], input[type=text]",
  "any-link": "a[href], area[href], link[href]",
  link: "a[href], area[href], link[href]",
  required: ":is(input, select, textarea)[required]",
  optional: ":is(input, select, textarea):not([required])",
  "read-only": "[readonly], :not(input, textarea)",
  ...Object.fromEntries("checkbox file image password radio reset submit".split(" ")
    .map((type) => [type, type === "submit" ? "input[type=submit], button[type=submit]" : `input[type=${type}]`])),
}));
