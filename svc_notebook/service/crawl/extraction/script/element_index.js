// An index of a page's elements by name, id and class, valid until the page changes.

import { stamp, walk } from "./tree.js";

/** @typedef {import("./selectors.js").Test} Test */
/** @typedef {{ made: number, tag: Map<string, any[]>, id: Map<string, any[]>,
 *   class: Map<string, any[]> }} Register */

/** @type {WeakMap<any, Register>} */
const registers = new WeakMap();

/** Return the elements that may pass the tests, in page order; null if any element may.
 * @param {any} top @param {Test[]} tests @returns {any[] | null} */
export function candidates(top, tests) {
  if (top.type !== "root") return null;
  const test = tests.find(isId) ?? tests.find(isClass) ?? tests.find(isTag);
  if (!test) return null;
  const { tag, id, class: classes } = registerOf(top);
  if (isTag(test)) return (test.written === test.name && tag.get(test.name)) || null;
  return (isId(test) ? id : classes).get(test.value ?? "") ?? [];
}

/** @param {Test} test */
const isId = (test) => test.kind === "attribute" && test.name === "id" && test.operator === "=" && !test.fold;
/** @param {Test} test */
const isClass = (test) => test.name === "class" && test.operator === "~=" && !test.fold;
/** @param {Test} test */
const isTag = (test) => test.kind === "tag";

/** @param {any} top @returns {Register} */
function registerOf(top) {
  const known = registers.get(top);
  if (known?.made === stamp()) return known;
  const register = { made: stamp(), tag: new Map(), id: new Map(), class: new Map() };
  walk(top, (element) => {
    enter(register.tag, element.name, element);
    const { id, class: classes } = element.attribs;
    if (id !== undefined) enter(register.id, id, element);
    if (classes) for (const word of new Set(classes.split(/[ \n\t\r\f]+/))) enter(register.class, word, element);
  });
  registers.set(top, register);
  return register;
}

/** @param {Map<string, any[]>} entries @param {string} name @param {any} element */
function enter(entries, name, element) {
  const list = entries.get(name);
  if (list) list.push(element);
  else entries.set(name, [element]);
}
