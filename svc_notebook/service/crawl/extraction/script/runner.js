// Run an extractor: its arguments, its logs and its result.

import "./attributes.js";
import { defineGlobals, encodeConfiguration } from "./configuration.js";
import "./manipulation.js";
import "./traversal.js";
import { makeHelpers } from "./helpers.js";
import { select } from "./matcher.js";
import { parsePage } from "./parser.js";
import { Query, load } from "./query.js";
import { forgetSelectors } from "./selectors.js";
import { isUnchanged, recordAll } from "./pollution_check.js";
import { Node } from "./tree.js";
import { SearchParams, Url } from "./urls.js";

const MAX_LOG_LINES = 1000;
const MAX_LOG_LINE_CHARACTERS = 10000;

/** @type {string[]} */
const logs = [];
/** The result of the extractor as JSON, once it has ended. @type {string | null} */
let outcome = null;
/** Whether the run waits for a pending promise. */
let open = false;

/** @typedef {{ url: string, fileType: string, contentLength: number,
 *   sources: Record<string, any>, links: string[] }} Facts */

/** Call an extractor with a page. @param {any} extractor @param {string} html @param {string} input */
export function runExtractor(extractor, html, input) {
  run(input, (facts) => {
    const { fileType, contentLength } = facts;
    const url = new Url(facts.url);
    const $ = load(parsePage(html));
    const page = { $, url, fileType, contentLength };
    return extractor({ ...page, dataSources: facts.sources, helpers: makeHelpers(page) });
  }, recordsOf);
}

/** Call a link extractor with a page. @param {any} extractor @param {string} html @param {string} input */
export function runLinks(extractor, html, input) {
  run(input, (facts) => extractor({
    $: load(parsePage(html)),
    url: new Url(facts.url),
    fileType: facts.fileType,
    contentLength: facts.contentLength,
    defaultExtractor: () => [...facts.links],
  }), linksOf);
}

/** Return which selectors match in a page; an invalid one is an error.
 * @param {string} html @param {string} selectors */
export function testSelectors(html, selectors) {
  run(selectors, (/** @type {any} */ wanted) => {
    const root = parsePage(html);
    return wanted.map((/** @type {string} */ selector) => select(selector, [root]).length > 0);
  }, (value) => value);
}

/** Prepare the evaluation of a configuration's script. */
export const prepareConfiguration = () => defineGlobals();

/** Return the configuration of an evaluated script as JSON. @param {any} value */
export const readConfiguration = (value) => encodeConfiguration(value);

/** The result of the run; null while a promise is pending. */
export const readOutcome = () => outcome;

/** The state before the first run, if the context may be reused.
 * @type {import("./pollution_check.js").ObjectState[] | null} */
let states = null;

/** Record the state before the first run. */
export function recordState() {
  states = recordAll([...sampleArguments()]);
}

/** Prepare another run; return whether the state is unchanged, so that the context can be reused. */
export function prepareNextRun() {
  outcome = null;
  logs.length = 0;
  if (open || !states || !isUnchanged(states)) return false;
  forgetSelectors();
  // This match resets what V8 keeps of the last match, such as `RegExp.$1`.
  return /^/.test("");
}

/** @param {string} input JSON @param {(facts: Facts) => any} call @param {(value: any) => any} check */
function run(input, call, check) {
  const end = (/** @type {string} */ json) => { open = false; outcome = json; };
  const done = (/** @type {any} */ value) => end(JSON.stringify({ value: check(value), logs }, toJson));
  const failed = (/** @type {any} */ error) => end(JSON.stringify({ error: describeError(error), logs }));
  open = true;
  try {
    const value = call(JSON.parse(input));
    if (typeof value?.then === "function") Promise.resolve(value).then(done).catch(failed);
    else done(value);
  } catch (error) {
    failed(error);
  }
}

/** @param {any} value @returns {any[]} */
function recordsOf(value) {
  if (value === null) return [];
  const records = Array.isArray(value) ? value : [value];
  records.forEach((record, at) => {
    const kind = kindOf(record);
    if (kind === "an object") return;
    const what = Array.isArray(value) ? `record ${at + 1} is ${kind}` : `it returned ${kind}`;
    throw new TypeError(`${what}: an extractor returns a list of objects, or [] to skip the page`);
  });
  return records;
}

/** @param {any} value @returns {string[]} */
function linksOf(value) {
  const links = Array.isArray(value) ? value.map((link) => (link instanceof Url ? link.href : link)) : null;
  if (links?.every((link) => typeof link === "string")) return links;
  throw new TypeError("a link extractor returns a list of URLs");
}

/** @param {any} value */
function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Query || value instanceof Node) return "an element of the page";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Reject values that JSON cannot represent, and replace lone surrogates.
 * @this {any} @param {string} key @param {any} value */
function toJson(key, value) {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (value instanceof Query || value instanceof Node) {
    throw new TypeError(`\`${key}\` contains an element of the page: use its .text(), .html() or .attr()`);
  }
  if (typeof value === "bigint") throw new TypeError(`\`${key}\` is a BigInt: convert it to a number or a string`);
  if (value instanceof Set) return [...value];
  return value instanceof Map ? Object.fromEntries(value) : value;
}

/** @param {any} error */
function describeError(error) {
  if (!(error instanceof Error)) return `it threw ${format(error)}`;
  const place = /recordExtractor:(\d+):(\d+)/.exec(String(error.stack ?? ""));
  // The source follows a parenthesis added by the engine.
  const column = place ? Number(place[2]) - (place[1] === "1" ? 1 : 0) : 0;
  return `${error.name}: ${error.message}${place ? ` (line ${place[1]}, column ${column})` : ""}`;
}

/** Format a value for the logs. @param {any} value @returns {string} */
function format(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof Query) return `${value.length} found: ${value.toString()}`;
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value !== "object" || value instanceof Url) return String(value);
  if (value instanceof Node) return `<${/** @type {any} */ (value).name ?? value.type}>`;
  try {
    return JSON.stringify(value, (_, inner) => (needsFormat(inner) ? format(inner) : inner)) ?? String(value);
  } catch {
    return String(value);
  }
}

/** @param {any} value */
const needsFormat = (value) => value instanceof Node || value instanceof Query || typeof value === "bigint";

/** @param {...any} values */
function log(...values) {
  if (logs.length > MAX_LOG_LINES) return;
  const line = values.map(format).join(" ").toWellFormed();
  const cut = line.length > MAX_LOG_LINE_CHARACTERS ? `${line.slice(0, MAX_LOG_LINE_CHARACTERS)}...` : line;
  logs.push(logs.length === MAX_LOG_LINES ? "... and more, which is omitted" : cut);
}

const nothing = () => {};
/** The globals of an extractor; those that could wait or access other resources are removed. */
const GLOBALS = {
  URL: Url,
  URLSearchParams: SearchParams,
  console: {
    log, info: log, warn: log, error: log, debug: log, dir: log, trace: log,
    table: log, group: log, groupEnd: nothing, time: nothing, timeEnd: nothing, assert: nothing,
  },
};

Object.defineProperty(Url, "name", { value: "URL" });
Object.defineProperty(SearchParams, "name", { value: "URLSearchParams" });
for (const name of ["Atomics", "SharedArrayBuffer", "WebAssembly", "setTimeout", "clearTimeout", "__timer_manager"]) {
  // Some built-ins cannot be deleted, only set to undefined.
  if (!Reflect.deleteProperty(globalThis, name)) Reflect.set(globalThis, name, undefined);
}
Object.assign(globalThis, GLOBALS);

/** One sample of each kind of object that an extractor receives. */
function* sampleArguments() {
  const $ = load(parsePage("<!DOCTYPE html><p class=a>a<!-- b --></p>"));
  const page = { $, url: new Url("https://a.test/?b=c"), fileType: "html", contentLength: 1 };
  const { searchParams } = page.url;
  yield* [page, makeHelpers(page), $("*"), $.root(), $._root, $("p").contents().toArray()];
  yield* [searchParams, searchParams.keys(), $("p").attr(), $("p").data(), $("p").prop("style")];
}
