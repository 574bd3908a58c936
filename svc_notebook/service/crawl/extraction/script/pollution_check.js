// Pollution check: detect whether a run changed any object that the next run would share.

const { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;

/** @typedef {{ object: any, above: any, keys: PropertyKey[], members: PropertyDescriptor[] }} ObjectState */

/** Record the state of all objects reachable from the language and from some objects of the script.
 *
 * Plain functions are frozen instead, which reduces the records to a third.
 * @param {any[]} own @returns {ObjectState[]} */
export function recordAll(own) {
  const known = new Set([Object.prototype]);
  const addObject = (/** @type {any} */ value) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") known.add(value);
  };
  [...language(), ...own].forEach(addObject);
  const states = [];
  for (const object of known) {
    if (isPlain(object)) Object.freeze(object);
    const state = stateOf(object);
    addObject(state.above);
    for (const { value, get, set } of state.members) [value, get, set].forEach(addObject);
    if (!Object.isFrozen(object)) states.push(state);
  }
  return states;
}

/** Objects that a program reaches through syntax and return values, including unnamed ones.
 * @returns {any[]} */
function language() {
  const segments = new Intl.Segmenter().segment("a");
  const iterators = [[], "", new Map(), new Set(), segments].map((of) => of[Symbol.iterator]());
  return [
    globalThis, ...iterators, segments, "a".matchAll(/a/g), [].values().take(1),
    Iterator.from({ next: () => ({ done: true, value: 0 }) }),
    async () => {}, function* () {}, async function* () {},
    (function () { return arguments; })(), new Error(), callSite(),
  ];
}

/** A call site, which only `Error.prepareStackTrace` receives. */
function callSite() {
  const engine = /** @type {any} */ (Error);
  engine.prepareStackTrace = (/** @type {any} */ _, /** @type {any[]} */ sites) => sites[0];
  const site = new Error().stack;
  delete engine.prepareStackTrace;
  return site;
}

/** Whether an object is a function with only the members `name` and `length`. @param {any} object */
const isPlain = (object) => (
  typeof object === "function" && ownKeys(object).every((key) => key === "name" || key === "length")
);

/** @param {any} object @returns {ObjectState} */
function stateOf(object) {
  const keys = ownKeys(object);
  const members = keys.map((key) => (
    /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(object, key))
  ));
  return { object, above: getPrototypeOf(object), keys, members };
}

/** Return whether the state is as recorded.
 *
 * Any object may have been changed: the function calls no method, uses no iterator, and reads
 * descriptors only after `Object.prototype`, the first object, is known to be unchanged.
 * @param {ObjectState[]} states */
export function isUnchanged(states) {
  for (let at = 0; at < states.length; at++) if (!isAsRecorded(states[at])) return false;
  return true;
}

/** @param {ObjectState} state */
function isAsRecorded({ object, above, keys, members }) {
  if (getPrototypeOf(object) !== above || !isExtensible(object)) return false;
  const present = ownKeys(object);
  if (present.length !== keys.length) return false;
  for (let at = 0; at < keys.length; at++) if (present[at] !== keys[at]) return false;
  for (let at = 0; at < keys.length; at++) {
    const found = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(object, keys[at]));
    if (!isSame(found, members[at])) return false;
  }
  return true;
}

/** @param {PropertyDescriptor} one @param {PropertyDescriptor} other */
const isSame = (one, other) => (
  (one.value === other.value || (one.value !== one.value && other.value !== other.value))
  && one.get === other.get && one.set === other.set
  && one.writable === other.writable && one.enumerable === other.enumerable
  && one.configurable === other.configurable
);
