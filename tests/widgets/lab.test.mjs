import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import "./fake.mjs";
import { findHelp, findPieces } from "../../widgets/lab/static/cell_language.js";
import { fullPath, SUFFIXES } from "../../widgets/lab/static/file_loader.js";
import { rowsOf } from "../../widgets/lab/static/rows.js";

const TABLE = JSON.parse(readFileSync(new URL("../../widgets/lab/static/language.json", import.meta.url)));
const VERBS = new Set(Object.keys(TABLE.verbs));

/** The pieces of one kind as text. */
const pieces = (text, kind) =>
  findPieces(text, VERBS)
    .filter((piece) => piece.kind === kind)
    .map(({ from, to }) => text.slice(from, to));

for (const [name, text, expected] of [
  ["a line", "%svc search films lamp", { magic: ["%svc"], verb: ["search"] }],
  ["an assignment", "x = %svc search films", { magic: ["%svc"], verb: ["search"] }],
  ["two words", "%svc synonyms save films", { verb: ["synonyms", "save"] }],
  ["a family and an index", "%svc synonyms films", { verb: ["synonyms"] }],
  ["options", "%svc search films --filters='a b' -o hits 5", { option: ["--filters=", "-o"], text: ["'a b'"], number: ["5"] }],
  ["texts", "%svc search films 'a b' \"c\"", { text: ["'a b'", '"c"'] }],
  ["json", '%%svc settings films\n{"a": "b", "c": [1, true]}', { key: ['"a"', '"c"'], text: ['"b"'], number: ["1", "true"] }],
  ["lines", "%%svc search films\nquery: lamp\nhitsPerPage: 5", { key: ["query", "hitsPerPage"], number: ["5"] }],
  ["a comment", "%%svc search films\nquery: a # words", { comment: ["# words"] }],
  ["no comment", "%%svc search films\nquery: a #1", { comment: [] }],
  ["python", "text = '%svc x'", { magic: [], verb: [], key: [] }],
  ["another magic", "%%timeit\nx: 1", { magic: [], key: [] }],
]) {
  test(`pieces of ${name}`, () => {
    for (const [kind, texts] of Object.entries(expected)) assert.deepEqual(pieces(text, kind), texts, kind);
  });
}

for (const [name, text, word, title] of [
  ["a parameter of a body", "%%svc search films\nhitsPerPage: 5", "hitsPerPage", "hitsPerPage"],
  ["a key of JSON", '%%svc settings films\n{"ranking": []}', "ranking", "ranking"],
  ["an option", "%svc search films --hitsPerPage 5", "hitsPerPage", "hitsPerPage"],
  ["a verb", "%svc search films", "search", "search"],
  ["a verb of two words", "%svc synonyms save films", "save", "synonyms save"],
  ["an argument in Python", "svc.search('films', hitsPerPage=5)", "hitsPerPage", "hitsPerPage"],
  ["a value", "%%svc search films\nquery: ranking", "ranking", undefined],
  ["an operand", "%svc search query", "query", undefined],
  ["another program", "query = 5", "query", undefined],
]) {
  test(`help on ${name}`, () => {
    assert.equal(findHelp(text, text.lastIndexOf(word) + 1, TABLE)?.title, title);
  });
}

test("only files that a load reads are offered", () => {
  const names = ["a.csv", "a.TSV", "a.ndjson", "a.jsonl", "a.json", "a.parquet", "a.xlsx", "a.txt", "csv", "a.csv.gz"];
  assert.deepEqual(names.filter((name) => SUFFIXES.test(name)), names.slice(0, 7));
  assert.equal(fullPath("/home/me/", "a b/c.csv"), "/home/me/a b/c.csv");
  assert.equal(fullPath("", "c.csv"), "c.csv");
});

const entry = (name, more = {}) => ({ name, records: 1000, bytes: 5, pending: 0, primary: "", ...more });
const known = (more = {}) => ({
  read: true,
  indices: [entry("films"), entry("films-by-year", { primary: "films" }), entry("shop", { pending: 3 })],
  contents: new Map(),
  most: new Map([["shop", 12]]),
  crawlers: null,
  open: new Set(),
  filter: "",
  ...more,
});
const labels = (rows) => rows.map((row) => `${row.level} ${row.label}`);

test("a replica stands under its primary", () => {
  assert.deepEqual(labels(rowsOf(known())), ["1 films", "1 shop", "1 Crawlers"]);
  const rows = rowsOf(known({ open: new Set(["index:films"]) }));
  assert.deepEqual(labels(rows), ["1 films", "2 Reading…", "2 films-by-year", "1 shop", "1 Crawlers"]);
});

test("a replica whose primary is not listed stands by itself", () => {
  const rows = rowsOf(known({ indices: [entry("lost", { primary: "gone" })] }));
  assert.deepEqual(labels(rows), ["1 lost", "1 Crawlers"]);
});

test("without a crawler the tree offers to create one, unless it is filtered", () => {
  const open = new Set(["crawlers"]);
  const last = (more) => rowsOf(known({ open, ...more })).at(-1);

  assert.deepEqual([last({ crawlers: [] }).kind, last({ crawlers: [] }).label], ["action", "New crawler…"]);
  const docs = { name: "docs", id: "1", state: "not run yet", lastRun: "" };
  assert.equal(last({ crawlers: [docs] }).label, "docs");
  for (const crawlers of [[], [docs]]) assert.deepEqual(rowsOf(known({ open, crawlers, filter: "nowhere" })), []);
});

test("pending tasks are counted, with their progress", () => {
  const shop = rowsOf(known()).find((row) => row.label === "shop");
  assert.equal(shop.detail, "1,000 · 3 pending");
  assert.equal(shop.progress, 0.75);
});

test("a filter finds replicas, and attributes that are known", () => {
  assert.deepEqual(labels(rowsOf(known({ filter: "YEAR" }))), ["1 films", "2 films-by-year"]);
  const part = { value: [] };
  const content = { attributes: { value: [{ name: "price", kind: "number", example: "5" }] }, facets: part, settings: part, synonyms: { value: 0 }, rules: { value: 0 } };
  assert.deepEqual(labels(rowsOf(known({ filter: "pric", contents: new Map([["shop", content]]) }))), ["1 shop"]);
  assert.deepEqual(rowsOf(known({ filter: "nothing" })), []);
});

test("a part that may not be read is its error", () => {
  const refused = { error: "needs settings" };
  const content = { attributes: refused, facets: refused, settings: refused, synonyms: { value: 2 }, rules: refused };
  const rows = rowsOf(known({ open: new Set(["index:shop"]), contents: new Map([["shop", content]]) }));
  const details = Object.fromEntries(rows.map((row) => [row.label, row.detail]));
  assert.equal(details["Changed settings"], "needs settings");
  assert.equal(details.Synonyms, "2");
});
