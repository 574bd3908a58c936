// The JavaScript client, release 3: every request as its users send it, to another host.

const { deepEqual, equal, ok } = require("node:assert/strict");
const { facts, fromPackages, ids, numbered, refused, report, step } = require("./steps.cjs");
const algoliasearch = fromPackages("algoliasearch-3");

console.warn = () => {}; // what is deprecated
console.log = () => {};
const name = "javascript 3/ü";
const options = { hosts: [new URL(facts.url).host], protocol: "http:" };
const connect = (key) => algoliasearch(facts.appId, key, options);
const client = connect(facts.adminKey);
const index = client.initIndex(name);
const settle = async (accepted) => index.waitTask((await accepted).taskID);

async function main() {
  await step("records", async () => {
    await settle(index.addObject({ name: "lamp", n: 1 }, "1"));
    await settle(index.saveObject({ objectID: "2", name: "lamp", n: 2 }));
    await settle(index.partialUpdateObject({ objectID: "2", n: 3 }, false));
    deepEqual(await index.getObject("2", ["n"]), { objectID: "2", n: 3 });
    await settle(index.deleteObject("2"));
    equal(await refused(() => index.getObject("2")), "ObjectID does not exist");
  });
  await step("batches", async () => {
    await settle(index.addObjects(numbered(5)));
    await settle(index.saveObjects([{ objectID: 9, name: "lamp 9", _tags: ["x"] }]));
    await settle(index.partialUpdateObjects([{ objectID: "8", n: 8 }]));
    await settle(index.partialUpdateObjects([{ objectID: "7", n: 8 }], false));
    await settle(index.deleteObjects(["8"]));
    await settle(index.deleteBy({ tagFilters: "x" }));
    const body = { objectID: "6", n: 6 };
    const { taskID } = await client.batch([
      { action: "addObject", indexName: name, body },
      { action: "deleteObject", indexName: name, body },
    ]);
    await index.waitTask(taskID[name]);
    await index.deleteByQuery("nothing like this");
    deepEqual(ids(await index.browse()).sort(), ["0", "1", "2", "3", "4"]);
  });
  await step("reads", async () => {
    const { results } = await index.getObjects(["2"], ["n", "name"]);
    deepEqual(results, [{ objectID: "2", n: 2, name: "lamp 2" }]);
    equal((await index.findObject(({ n }) => n === 3)).position, 3);
  });
  await step("settings", async () => {
    await settle(index.setSettings({ attributesToIndex: ["name"], attributesForFaceting: [] }));
    const settings = await index.getSettings();
    await settle(index.setSettings({ ...settings, version: 2, attributesToIndex: null }));
    deepEqual((await index.getSettings({ advanced: 1 })).searchableAttributes, ["name"]);
    const faceted = { attributesForFaceting: ["searchable(name)"] };
    await settle(index.setSettings(faceted, { forwardToReplicas: true }));
    ok(await index.exists());
    equal(await client.initIndex("nothing").exists(), false);
  });
  await step("searches", async () => {
    const found = await index.search("lamp", { filters: "n > 2", facets: "*", explain: ["*"] });
    deepEqual(ids(found), ["3", "4"]);
    await index.search({ query: "lamp", sortFacetValuesBy: "", attributesToRetrieve: "n,name" });
    const params = { hitsPerPage: 1, facetFilters: [["name:lamp 1", "name:lamp 2"]] };
    const { results } = await client.search([{ indexName: name, query: "lamp", params }]);
    equal(results[0].nbPages, 2);
    const nothing = client.initIndex("nothing");
    equal(await refused(() => nothing.search("")), "Index nothing does not exist");
  });
  await step("facet values", async () => {
    const { facetHits } = await index.searchForFacetValues({ facetName: "name", facetQuery: "l" });
    equal(facetHits.length, 5);
  });
  await step("browse", async () => {
    const { cursor } = await index.browse("", { hitsPerPage: 2 });
    deepEqual(ids(await index.browseFrom(cursor)).length, 2);
  });
  await step("synonyms", async () => {
    const words = { objectID: "s", type: "oneWaySynonym", input: "light", synonyms: ["lamp"] };
    await settle(index.saveSynonym(words, { forwardToReplicas: true }));
    await settle(index.batchSynonyms([words], { replaceExistingSynonyms: true }));
    deepEqual(await index.getSynonym("s"), words);
    equal((await index.searchSynonyms({ query: "light", type: "oneWaySynonym" })).nbHits, 1);
    deepEqual(await index.exportSynonyms(), [words]);
    await settle(index.deleteSynonym("s"));
    equal(await refused(() => index.getSynonym("s")), "Synonym set does not exist");
    await settle(index.clearSynonyms());
    equal((await client.initIndex("nothing").searchSynonyms({ query: "" })).nbHits, 0);
  });
  await step("rules", async () => {
    const condition = { pattern: "x", anchoring: "is" };
    const rule = { objectID: "r", condition, consequence: { params: { filters: "n = 1" } } };
    await settle(index.saveRule(rule));
    await settle(index.batchRules([rule], { clearExistingRules: true }));
    deepEqual((await index.getRule("r")).consequence, rule.consequence);
    equal((await index.exportRules()).length, 1);
    await settle(index.deleteRule("r"));
    equal(await refused(() => index.getRule("r")), "ObjectID does not exist");
    await settle(index.clearRules());
    equal((await client.initIndex("nothing").searchRules({ query: "" })).nbHits, 0);
  });
  await step("indices", async () => {
    await settle(client.copyIndex(name, "javascript 3 copy", ["settings"]));
    await settle(client.moveIndex("javascript 3 copy", "javascript 3 moved"));
    const { items } = await client.listIndexes();
    ok(items.some((item) => item.name === "javascript 3 moved"));
    await settle(client.initIndex("javascript 3 moved").clearIndex());
    await client.deleteIndex("javascript 3 moved");
  });
  await step("keys", async () => {
    const given = { indexes: [name], queryParameters: { filters: "n = 1" }, referers: [] };
    const { key } = await client.addApiKey(["search"], given);
    deepEqual(ids(await connect(key).initIndex(name).search("lamp")), ["1"]);
    await client.updateApiKey(key, ["search"], { description: "d", validity: 1000 });
    equal((await client.getApiKey(key)).description, "d");
    ok((await client.listApiKeys()).keys.some(({ value }) => value === key));
    await client.deleteApiKey(key);
    await client.restoreApiKey(key);
    ok((await index.addApiKey(["search"])).key);
  });
  await step("secured keys", async () => {
    const secured = (filters) => client.generateSecuredApiKey(facts.searchKey, { filters });
    deepEqual(ids(await connect(secured("n = 1")).initIndex(name).search("lamp")), ["1"]);
    const long = secured(numbered(120).map(({ n }) => `n = ${n + 4}`).join(" OR "));
    ok(long.length > 500); // the client sends it in the body then
    deepEqual(ids(await connect(long).initIndex(name).search("lamp")), ["4"]);
    const { results } = await connect(long).search([{ indexName: name, query: "lamp" }]);
    deepEqual(ids(results[0]), ["4"]);
  });
  await step("users", async () => {
    await client.assignUserID({ userID: "frida", cluster: "local-1" });
    await client.assignUserIDs({ userIDs: ["greta"], cluster: "local-2" });
    equal((await client.getUserID({ userID: "frida" })).clusterName, "local-1");
    const { userIDs } = await client.listUserIDs({ page: 0, hitsPerPage: 50 });
    ok(userIDs.some(({ userID }) => userID === "greta"));
    equal((await client.searchUserIDs({ query: "frida", cluster: "local-1" })).nbHits, 1);
    ok((await client.getTopUserID()).topUsers);
    ok((await client.listClusters()).clusters);
    await client.removeUserID({ userID: "frida" });
    await client.removeUserID({ userID: "greta" });
    ok(await refused(() => client.getUserID({ userID: "frida" })));
  });
  await step("logs", async () => {
    ok((await client.getLogs({ length: 5, type: "query" })).logs.length);
  });
}

main().then(() => {
  report();
  client.destroy();
});
