// The JavaScript client, release 4: every request as its users send it, to another host.

const { deepEqual, equal, ok } = require("node:assert/strict");
const { facts, fromPackages, ids, numbered, refused, report, step } = require("./steps.cjs");
const algoliasearch = fromPackages("algoliasearch-4");

const name = "javascript 4/ü";
const hosts = [{ url: new URL(facts.url).host, protocol: "http" }];
const connect = (key) => algoliasearch(facts.appId, key, { hosts });
const client = connect(facts.adminKey);
const index = client.initIndex(name);

async function main() {
  await step("records", async () => {
    await index.saveObject({ objectID: "1", name: "lamp", n: 1 }).wait();
    await index.partialUpdateObject({ objectID: "1", n: 2 }).wait();
    deepEqual(await index.getObject("1", { attributesToRetrieve: ["n"] }), { objectID: "1", n: 2 });
    await index.deleteObject("1").wait();
    equal(await refused(() => index.getObject("1")), "ObjectID does not exist");
  });
  await step("batches", async () => {
    await index.replaceAllObjects(numbered(5), { safe: true });
    await index.saveObjects([{ name: "x", _tags: ["x"] }], {
      autoGenerateObjectIDIfNotExist: true,
    }).wait();
    await index.partialUpdateObjects([{ objectID: "8", n: 8 }], { createIfNotExists: true }).wait();
    await index.deleteObjects(["8"]).wait();
    await index.deleteBy({ tagFilters: "x" }).wait();
    await client.multipleBatch([
      { action: "addObject", indexName: name, body: { objectID: "6" } },
      { action: "deleteObject", indexName: name, body: { objectID: "6" } },
    ]).wait();
    const found = [];
    await index.browseObjects({ query: "", batch: (hits) => found.push(...ids({ hits })) });
    deepEqual(found.sort(), ["0", "1", "2", "3", "4"]);
  });
  await step("reads", async () => {
    const { results } = await index.getObjects(["2"], { attributesToRetrieve: ["n"] });
    deepEqual(results, [{ objectID: "2", n: 2 }]);
    const request = { indexName: name, objectID: "2", attributesToRetrieve: "n" };
    deepEqual((await client.multipleGetObjects([request])).results, results);
    equal((await index.findObject(({ n }) => n === 3)).position, 3);
  });
  await step("settings", async () => {
    const given = { searchableAttributes: ["name"], attributesForFaceting: ["searchable(name)"] };
    await index.setSettings(given, { forwardToReplicas: true }).wait();
    const settings = await index.getSettings();
    deepEqual(settings.searchableAttributes, ["name"]);
    await index.setSettings({ ...settings, version: 2 }).wait();
    ok(await index.exists());
    equal(await client.initIndex("nothing").exists(), false);
  });
  await step("searches", async () => {
    deepEqual(ids(await index.search("lamp", { filters: "n > 2", explain: ["*"] })), ["3", "4"]);
    const params = { hitsPerPage: 1, facets: ["*"], sortFacetValuesBy: "", extensions: {} };
    const { results } = await client.search([{ indexName: name, query: "lamp", params }]);
    equal(results[0].nbPages, 5);
    const nothing = client.initIndex("nothing");
    equal(await refused(() => nothing.search("")), "Index nothing does not exist");
  });
  await step("facet values", async () => {
    equal((await index.searchForFacetValues("name", "lam")).facetHits.length, 5);
    const params = { facetName: "name", facetQuery: "lam" };
    const [answer] = await client.searchForFacetValues([{ indexName: name, params }]);
    equal(answer.facetHits.length, 5);
  });
  await step("browse", async () => {
    let count = 0;
    await index.browseObjects({ hitsPerPage: 2, batch: (hits) => (count += hits.length) });
    equal(count, 5);
  });
  await step("synonyms", async () => {
    const words = { objectID: "s", type: "altCorrection2", word: "lamp", corrections: ["lmp"] };
    await index.saveSynonym(words, { forwardToReplicas: true }).wait();
    deepEqual(await index.getSynonym("s"), words);
    equal((await index.searchSynonyms("", { type: "altCorrection2" })).nbHits, 1);
    const found = [];
    await index.browseSynonyms({ batch: (hits) => found.push(...hits) });
    deepEqual(found, [words]);
    await index.replaceAllSynonyms([words]).wait();
    await index.deleteSynonym("s").wait();
    equal(await refused(() => index.getSynonym("s")), "Synonym set does not exist");
    await index.clearSynonyms().wait();
    equal((await client.initIndex("nothing").searchSynonyms("")).nbHits, 0);
  });
  await step("rules", async () => {
    const conditions = [{ pattern: "x", anchoring: "is" }];
    const rule = { objectID: "r", conditions, consequence: { params: { filters: "n = 1" } } };
    await index.saveRule(rule).wait();
    deepEqual((await index.getRule("r")).consequence, rule.consequence);
    const found = [];
    await index.browseRules({ batch: (hits) => found.push(...hits) });
    equal(found.length, 1);
    await index.replaceAllRules([rule]).wait();
    await index.deleteRule("r").wait();
    equal(await refused(() => index.getRule("r")), "ObjectID does not exist");
    await index.clearRules().wait();
    equal((await client.initIndex("nothing").searchRules("")).nbHits, 0);
  });
  await step("indices", async () => {
    await client.copyIndex(name, "javascript 4 copy").wait();
    await client.copySynonyms(name, "javascript 4 copy").wait();
    await client.moveIndex("javascript 4 copy", "javascript 4 moved").wait();
    const { items } = await client.listIndices();
    ok(items.some((item) => item.name === "javascript 4 moved"));
    await client.initIndex("javascript 4 moved").clearObjects().wait();
    await client.initIndex("javascript 4 moved").delete().wait();
  });
  await step("keys", async () => {
    const { key } = await client.addApiKey(["search"], { queryParameters: "filters=n%3D1" }).wait();
    deepEqual(ids(await connect(key).initIndex(name).search("lamp")), ["1"]);
    await client.updateApiKey(key, { acl: ["search"], description: "d" }).wait();
    ok((await client.listApiKeys()).keys.some(({ value }) => value === key));
    await client.deleteApiKey(key).wait();
    await client.restoreApiKey(key).wait();
  });
  await step("secured keys", async () => {
    const limits = { filters: "n = 1", restrictIndices: [name], validUntil: 4e9 };
    const secured = client.generateSecuredApiKey(facts.searchKey, limits);
    ok(client.getSecuredApiKeyRemainingValidity(secured) > 0);
    deepEqual(ids(await connect(secured).initIndex(name).search("lamp")), ["1"]);
  });
  await step("dictionaries", async () => {
    const entry = { objectID: "d", language: "en", word: "down", state: "enabled" };
    await client.saveDictionaryEntries("stopwords", [entry]).wait();
    ok((await client.searchDictionaryEntries("stopwords", "down")).nbHits);
    await client.deleteDictionaryEntries("stopwords", ["d"]).wait();
    await client.replaceDictionaryEntries("stopwords", [entry]).wait();
    await client.clearDictionaryEntries("stopwords").wait();
    const { hits } = await client.searchDictionaryEntries("stopwords", "down");
    ok(hits.every(({ type }) => type !== "custom"));
    const changed = { disableStandardEntries: { stopwords: { fr: false } } };
    await client.setDictionarySettings(changed).wait();
    ok((await client.getDictionarySettings()).disableStandardEntries);
  });
  await step("users", async () => {
    await client.assignUserID("hanna", "local-1");
    await client.assignUserIDs(["irma"], "local-2");
    equal((await client.getUserID("hanna")).clusterName, "local-1");
    const { userIDs } = await client.listUserIDs({ page: 0, hitsPerPage: 50 });
    ok(userIDs.some(({ userID }) => userID === "irma"));
    equal((await client.searchUserIDs("hanna", { cluster: "local-1" })).nbHits, 1);
    ok("pending" in (await client.hasPendingMappings({ retrieveMappings: true })));
    ok((await client.getTopUserIDs()).topUsers);
    ok((await client.listClusters()).clusters);
    await client.removeUserID("hanna");
    await client.removeUserID("irma");
    ok(await refused(() => client.getUserID("hanna")));
  });
  await step("logs", async () => {
    ok((await client.getLogs({ length: 5, type: "query" })).logs.length);
  });
}

main().then(report);
