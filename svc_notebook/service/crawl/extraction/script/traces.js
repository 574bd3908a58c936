// What a run may have left behind for the next one to find: any change to what runs share.

const { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect;

/** @typedef {{ object: any, above: any, keys: PropertyKey[], members: PropertyDescriptor[] }} Note */

/** Note how all is that can be reached from the language itself and from some objects of ours.
 *
 * Functions that nobody changes are frozen instead, which makes the notes a third as many.
 * @param {any[]} own @returns {Note[]} */
export function noteAll(own) {
  const known = new Set([Object.prototype]);
  const meet = (/** @type {any} */ value) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") known.add(value);
  };
  [...language(), ...own].forEach(meet);
  const notes = [];
  for (const object of known) {
    if (isPlain(object)) Object.freeze(object);
    const note = noteOf(object);
    meet(note.above);
    for (const { value, get, set } of note.members) [value, get, set].forEach(meet);
    if (!Object.isFrozen(object)) notes.push(note);
  }
  return notes;
}

/** What a program reaches by its syntax and by what calls return, be it named anywhere or not.
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

/** A place in a stack, of a kind that `Error.prepareStackTrace` alone is given. */
function callSite() {
  const engine = /** @type {any} */ (Error);
  engine.prepareStackTrace = (/** @type {any} */ _, /** @type {any[]} */ sites) => sites[0];
  const site = new Error().stack;
  delete engine.prepareStackTrace;
  return site;
}

/** A function with a name and a length, and nothing else. @param {any} object */
const isPlain = (object) => (
  typeof object === "function" && ownKeys(object).every((key) => key === "name" || key === "length")
);

/** @param {any} object @returns {Note} */
function noteOf(object) {
  const keys = ownKeys(object);
  const members = keys.map((key) => (
    /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(object, key))
  ));
  return { object, above: getPrototypeOf(object), keys, members };
}

/** Tell whether all is as it was noted.
 *
 * It runs where anything may have been changed: it calls no method, iterates over nothing, and reads
 * descriptors only once `Object.prototype`, the first of all, is known to answer for none of them.
 * @param {Note[]} notes */
export function isUntouched(notes) {
  for (let at = 0; at < notes.length; at++) if (!isAsNoted(notes[at])) return false;
  return true;
}

/** @param {Note} note */
function isAsNoted({ object, above, keys, members }) {
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
