import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake.mjs";
import { guessName, readText, describeImport } from "../../widgets/curation/exchange.js";
import { count, drawChanges, titleOf } from "../../widgets/curation/review.js";
import { describeLines, findMissing, readLines } from "../../widgets/synonyms/new_synonym.js";
import { KINDS, describeRow, fromRow, toRow } from "../../widgets/synonyms/rows.js";

for (const { name, members } of KINDS) {
  test(`a synonym is the same after the table: ${name}`, () => {
    const [head, words] = members;
    const synonym = { objectID: "1", type: name, ...(head && { [head]: "a" }), [words]: ["b", "c"] };

    assert.deepEqual(fromRow(toRow(synonym)), synonym);
  });
}

test("a synonym that changes its type keeps its words", () => {
  const row = toRow({ objectID: "1", type: "synonym", synonyms: ["a", "b"] });

  const way = fromRow({ ...row, type: "onewaysynonym" });
  assert.deepEqual(way, { objectID: "1", type: "onewaysynonym", input: "a", synonyms: ["b"] });
  const back = fromRow({ ...toRow(way), type: "synonym" });
  assert.deepEqual(back.synonyms, ["a", "b"]);
  assert.equal(describeRow(toRow(way)), "→ one-way: a → b");
});

for (const [text, name] of [
  ['[{"objectID": "1"}]', "pasted.json"],
  [' {"objectID": "1"}\n{"objectID": "2"}', "pasted.ndjson"],
  ['{\n "objectID": "1"}', "pasted.json"],
  ["objectID,type", "pasted.csv"],
]) {
  test(`what is pasted says its format: ${name}`, () => {
    assert.equal(guessName(text), name);
  });
}

test("changes are counted and drawn, the first of many", () => {
  const changes = Array.from({ length: 70 }, (_, n) => ({ id: `<b>${n}`, how: n ? "added" : "removed", before: n ? null : n, after: n || null }));

  const drawn = drawChanges(changes, (document) => [`is ${document}`]);

  assert.equal(count(changes), "69 added, 1 removed");
  assert.match(drawn.textContent, /and 10 more$/);
});

test("a file is read as UTF-8, or not at all", async () => {
  assert.equal(await readText(new Blob(["für"])), "für");
  assert.equal(await readText(new Blob([new Uint8Array([0x66, 0xfc, 0x72])])), null);
});

test("what a file changed is told in words", () => {
  assert.equal(describeImport({ read: 3, added: 1, changed: 0, removed: 2 }), "1 added, 2 removed");
  assert.equal(describeImport({ read: 3, added: 0, changed: 0, removed: 0 }), "no changes");
});

test("a pasted list has two-way and one-way synonyms, comments and errors", () => {
  const read = readLines("# furniture\n\nsofa, couch , sofa\ntv,telly => television\r\nalone\na => \nb => c => d\n");

  assert.deepEqual(read.synonyms, [
    { type: "synonym", synonyms: ["sofa", "couch"] },
    { type: "onewaysynonym", input: "tv", synonyms: ["television"] },
    { type: "onewaysynonym", input: "telly", synonyms: ["television"] },
  ]);
  assert.deepEqual(describeLines(read), {
    found: "1 two-way, 2 one-way",
    errors: "line 5 has fewer than two words; line 6 has no word on one side of the arrow; line 7 has more than one arrow",
  });
});

for (const [row, words] of [
  [{ head: null, words: ["a"] }, /at least two/],
  [{ head: "", words: ["a"] }, /the word that/],
  [{ head: "a", words: [] }, /at least one/],
  [{ head: "a", words: ["b"] }, /^$/],
]) {
  test(`a typed synonym names what it lacks: ${JSON.stringify(row)}`, () => {
    assert.match(findMissing(row), words);
  });
}

test("the question before applying names what is applied, and where", () => {
  const changes = [{ how: "added" }, { how: "changed" }, { how: "changed" }];

  assert.equal(titleOf(changes, ["synonym", "synonyms"], "films"), "Apply 1 added, 2 changed synonyms to films?");
  assert.equal(titleOf(changes.slice(0, 1), ["rule", "rules"], "films"), "Apply 1 added rule to films?");
});
