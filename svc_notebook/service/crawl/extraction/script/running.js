// One run of an extractor: what it is given, what it says on the way, and what it returns.

import "./attributes.js";
import "./manipulating.js";
import "./traversing.js";
import { makeHelpers } from "./helpers.js";
import { select } from "./matching.js";
import { parsePage } from "./parsing.js";
import { Query, load } from "./query.js";
import { forgetSelectors } from "./selectors.js";
import { isUntouched, noteAll } from "./traces.js";
import { Node } from "./tree.js";
import { SearchParams, Url } from "./urls.js";

const MOST_LOGS = 1000;
const LONGEST_LOG = 10000;

/** @type {string[]} */
const logs = [];
/** What became of the extractor: JSON, once it has ended. @type {string | null} */
let outcome = null;
/** Whether a promise is open that the run waits for. */
let open = false;

/** @typedef {{ url: string, fileType: string, contentLength: number,
 *   sources: Record<string, any>, links: string[] }} Facts */

/** Call an extractor with a page. @param {any} extractor @param {string} html @param {string} said */
export function runExtractor(extractor, html, said) {
  run(said, (facts) => {
    const { fileType, contentLength } = facts;
    const url = new Url(facts.url);
    const $ = load(parsePage(html));
    const page = { $, url, fileType, contentLength };
    return extractor({ ...page, dataSources: facts.sources, helpers: makeHelpers(page) });
  }, recordsOf);
}

/** Call a link extractor with a page. @param {any} extractor @param {string} html @param {string} said */
export function runLinks(extractor, html, said) {
  run(said, (facts) => extractor({
    $: load(parsePage(html)),
    url: new Url(facts.url),
    fileType: facts.fileType,
    contentLength: facts.contentLength,
    defaultExtractor: () => [...facts.links],
  }), linksOf);
}

/** Tell which selectors find something in a page; a wrong one is an error.
 * @param {string} html @param {string} selectors */
export function testSelectors(html, selectors) {
  run(selectors, (/** @type {any} */ wanted) => {
    const root = parsePage(html);
    return wanted.map((/** @type {string} */ selector) => select(selector, [root]).length > 0);
  }, (value) => value);
}

/** What the run has come to; null as long as a promise is open. */
export const readOutcome = () => outcome;

/** How all was before the first run, where there may be more than one.
 * @type {import("./traces.js").Note[] | null} */
let notes = null;

/** Note how all is, before the first run. */
export function watch() {
  notes = noteAll([...given()]);
}

/** Make ready for another run; tell whether that may be: not where this one left anything behind. */
export function tidy() {
  outcome = null;
  logs.length = 0;
  if (open || !notes || !isUntouched(notes)) return false;
  forgetSelectors();
  // What the engine keeps of the last match, as `RegExp.$1`.
  return /^/.test("");
}

/** @param {string} said JSON @param {(facts: Facts) => any} call @param {(value: any) => any} check */
function run(said, call, check) {
  const end = (/** @type {string} */ json) => { open = false; outcome = json; };
  const done = (/** @type {any} */ value) => end(JSON.stringify({ value: check(value), logs }, written));
  const failed = (/** @type {any} */ error) => end(JSON.stringify({ error: tell(error), logs }));
  open = true;
  try {
    const value = call(JSON.parse(said));
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
  throw new TypeError("a link extractor returns a list of addresses");
}

/** @param {any} value */
function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Query || value instanceof Node) return "an element of the page";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Refuse what JSON would lose, and mend halves of characters.
 * @this {any} @param {string} key @param {any} value */
function written(key, value) {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (value instanceof Query || value instanceof Node) {
    throw new TypeError(`\`${key}\` holds an element of the page: take its .text(), .html() or .attr()`);
  }
  if (typeof value === "bigint") throw new TypeError(`\`${key}\` is a BigInt: make it a number or a text`);
  if (value instanceof Set) return [...value];
  return value instanceof Map ? Object.fromEntries(value) : value;
}

/** @param {any} error */
function tell(error) {
  if (!(error instanceof Error)) return `it threw ${shown(error)}`;
  const place = /recordExtractor:(\d+):(\d+)/.exec(String(error.stack ?? ""));
  // The source stands behind a parenthesis of ours.
  const column = place ? Number(place[2]) - (place[1] === "1" ? 1 : 0) : 0;
  return `${error.name}: ${error.message}${place ? ` (line ${place[1]}, column ${column})` : ""}`;
}

/** A value as the logs show it. @param {any} value @returns {string} */
function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return tell(value);
  if (value instanceof Query) return `${value.length} found: ${value.toString()}`;
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value !== "object" || value instanceof Url) return String(value);
  if (value instanceof Node) return `<${/** @type {any} */ (value).name ?? value.type}>`;
  try {
    return JSON.stringify(value, (_, inner) => (needsShowing(inner) ? shown(inner) : inner)) ?? String(value);
  } catch {
    return String(value);
  }
}

/** @param {any} value */
const needsShowing = (value) => value instanceof Node || value instanceof Query || typeof value === "bigint";

/** @param {...any} values */
function log(...values) {
  if (logs.length > MOST_LOGS) return;
  const line = values.map(shown).join(" ").toWellFormed();
  const cut = line.length > LONGEST_LOG ? `${line.slice(0, LONGEST_LOG)}...` : line;
  logs.push(logs.length === MOST_LOGS ? "... and more, which is left out" : cut);
}

const nothing = () => {};
/** What an extractor finds around it; whatever could reach out or wait is taken away. */
const WORLD = {
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
  // Some of the engine's own cannot be taken away, only be made nothing.
  if (!Reflect.deleteProperty(globalThis, name)) Reflect.set(globalThis, name, undefined);
}
Object.assign(globalThis, WORLD);

/** One of each kind of thing that an extractor is given. */
function* given() {
  const $ = load(parsePage("<!DOCTYPE html><p class=a>a<!-- b --></p>"));
  const page = { $, url: new Url("https://a.test/?b=c"), fileType: "html", contentLength: 1 };
  const { searchParams } = page.url;
  yield* [page, makeHelpers(page), $("*"), $.root(), $._root, $("p").contents().toArray()];
  yield* [searchParams, searchParams.keys(), $("p").attr(), $("p").data(), $("p").prop("style")];
}
