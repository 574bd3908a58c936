// Read a configuration from a script: `new Crawler({ ... })`, `module.exports = ...` or an object.

const NAMES = "its values are read from this text alone";

/** The configurations that the script passed to `new Crawler`. @type {any[]} */
const configurations = [];

class Crawler {
  /** @param {any} config */
  constructor(config) {
    configurations.push(config);
  }
}

/** Define what a script of a configuration may use: `Crawler`, `module`; others are refused by name. */
export function defineGlobals() {
  const module = { exports: {} };
  const environment = new Proxy({}, { get: (_, name) => refuse(`process.env.${String(name)}`) });
  const process = new Proxy({}, {
    get: (_, name) => (name === "env" ? environment : refuse(`process.${String(name)}`)),
  });
  const require = (/** @type {any} */ name) => refuse(`require(${JSON.stringify(name)})`);
  Object.assign(globalThis, { Crawler, module, exports: module.exports, process, require });
}

/** @param {string} name @returns {never} */
function refuse(name) {
  throw new TypeError(`\`${name}\` is not available in a configuration, because ${NAMES}: write the value in its place`);
}

/** The configuration of a script that was evaluated to `value`, as JSON in which functions are tagged.
 * @param {any} value */
export function encodeConfiguration(value) {
  if (configurations.length > 1) throw new TypeError(`it has ${configurations.length} crawlers: give the text of one`);
  const { exports } = /** @type {any} */ (globalThis).module;
  const last = value instanceof Crawler ? undefined : value;
  const config = configurations[0] ?? exports.default ?? (isObject(exports) && Object.keys(exports).length ? exports : last);
  if (!isObject(config)) throw new TypeError("it has no configuration: write `new Crawler({ ... })`");
  return JSON.stringify(encode(config, "", []));
}

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {any} value @param {string} path @param {any[]} above @returns {any} */
function encode(value, path, above) {
  if (typeof value === "function") return { __type: "function", source: Function.prototype.toString.call(value) };
  if (typeof value === "string") return value.toWellFormed();
  if (value === null || value === undefined || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const inner = [...above, value];
  if (above.includes(value)) throw new TypeError(`\`${path}\` contains itself`);
  if (Array.isArray(value)) return value.map((item, at) => encode(item ?? null, `${path}[${at}]`, inner));
  const prototype = typeof value === "object" ? Object.getPrototypeOf(value) : null;
  if (value instanceof RegExp) {
    throw new TypeError(`\`${path}\` is a regular expression: write a pattern as text, such as "https://example.com/old/**"`);
  }
  if (typeof value !== "object" || (prototype !== Object.prototype && prototype !== null)) {
    throw new TypeError(`\`${path}\` is ${String(value)}, which a configuration cannot contain`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, encode(member, path ? `${path}.${name}` : name, inner)]));
}
