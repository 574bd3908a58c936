import { resetText, unsetText } from "../../widgets/settings/changes.js";
import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { meaningOf, nameWithout, readEntry, typedEntry, writeEntry } from "../../widgets/settings/entries.js";
import { summarize } from "../../widgets/settings/preview.js";
import { fits } from "../../widgets/kit/parameter_groups.js";
import { brief, stateOf } from "../../widgets/settings/state.js";

const SEARCHABLE = ["", "unordered", "ordered"];
const CUSTOM = ["desc", "asc"];

for (const [entry, around, parts] of [
  ["title", SEARCHABLE, { around: "", name: "title" }],
  ["unordered(title)", SEARCHABLE, { around: "unordered", name: "title" }],
  ["desc(title)", SEARCHABLE, { around: "", name: "desc(title)" }],
  ["asc(a.b)", CUSTOM, { around: "asc", name: "a.b" }],
  ["a,b", SEARCHABLE, { around: "", name: "a,b" }],
]) {
  test(`an entry is taken apart and put together: ${entry}`, () => {
    assert.deepEqual(readEntry(entry, around), parts);
    assert.equal(writeEntry(parts), entry);
  });
}

for (const [text, around, entry] of [
  [" price ", CUSTOM, "desc(price)"],
  ["asc(price)", CUSTOM, "asc(price)"],
  ["title", SEARCHABLE, "title"],
  ["  ", CUSTOM, ""],
]) {
  test(`what is typed becomes an entry: "${text}"`, () => {
    assert.equal(typedEntry(text, around), entry);
  });
}

test("an entry without a modifier has one name", () => {
  assert.equal(nameWithout("searchableAttributes"), "ordered");
  assert.equal(nameWithout("attributesForFaceting"), "counted");
});

test("an entry says what its place means", () => {
  assert.equal(meaningOf("customRanking", { around: "asc", name: "price" }), "lower is better");
  assert.equal(meaningOf("ranking", { around: "", name: "typo" }), "fewer typos first");
  assert.equal(meaningOf("ranking", { around: "", name: "unknown" }), "");
});

const row = { name: "hitsPerPage", meaning: "hits on one page", default: 20 };
for (const [value, change, kind, text] of [
  [{}, undefined, "absent", "not set"],
  [{ hitsPerPage: 20 }, undefined, "same", "default"],
  [{ hitsPerPage: 5 }, undefined, "set", "set"],
  [{ hitsPerPage: 5 }, { how: "set", before: null }, "new", "newly set"],
  [{ hitsPerPage: 5 }, { how: "changed", before: 7 }, "changed", "changed, was 7"],
  [{ hitsPerPage: null }, { how: "reset", before: 7 }, "reset", "will be reset, was 7"],
]) {
  test(`a setting is one of six things: ${kind}`, () => {
    assert.deepEqual(stateOf(row, value, change), { kind, text });
  });
}

test("a long value is cut, and text stands in quotes", () => {
  assert.equal(brief("a"), '"a"');
  assert.equal(brief(null), "none");
  assert.equal(brief("x".repeat(200)).length, 80);
});

test("a setting is found by words of its name and its meaning", () => {
  assert.ok(fits(row, "PAGE hits"));
  assert.ok(!fits(row, "page typo"));
});

const sides = (before, after) => [{ nbHits: before }, { nbHits: after }];
for (const [preview, words] of [
  [{ comparison: { moved: 0, gained: 0, lost: 0, sides: sides(1, 1) } }, "unchanged, 1 hit"],
  [{ comparison: { moved: 2, gained: 1, lost: 0, sides: sides(3, 4) } }, "2 moved · 1 new · 3 → 4 hits"],
  [{ error: { message: "gone" } }, "gone"],
]) {
  test(`a pinned query says what became of it: ${words}`, () => {
    assert.equal(summarize(preview).join(" · "), words);
  });
}

test("where the default is not known, it is not made up", () => {
  assert.equal(resetText(undefined), "reset to its default");
  assert.equal(resetText(20), "reset to 20");
  assert.equal(resetText(null), "reset to none");
  assert.equal(unsetText(undefined), "not set");
  assert.equal(unsetText([]), "not set ([])");
});
