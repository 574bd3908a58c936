// The JavaScript client, release 5: every group of requests as its users send it, to another host.

const { deepEqual, equal, ok } = require("node:assert/strict");
const { facts, fromPackages, ids, numbered, refused, report, step } = require("./steps.cjs");
const { algoliasearch } = fromPackages("algoliasearch");
const { insightsClient } = fromPackages("@algolia/client-insights");

const indexName = "javascript 5/ü";
const { hostname, port } = new URL(facts.url);
const hosts = [{ url: hostname, port, protocol: "http", accept: "readWrite" }];
const connect = (key) => algoliasearch(facts.appId, key, { hosts });
const client = connect(facts.adminKey);
const settle = async (accepted, name = indexName) =>
  client.waitForTask({ indexName: name, taskID: (await accepted).taskID });

async function main() {
  await step("records", async () => {
    const body = { name: "lamp", n: 1 };
    await settle(client.addOrUpdateObject({ indexName, objectID: "1", body }));
    const attributesToUpdate = { n: 2 };
    await settle(client.partialUpdateObject({ indexName, objectID: "1", attributesToUpdate }));
    const attributesToRetrieve = ["n"];
    const read = { indexName, objectID: "1", attributesToRetrieve };
    deepEqual(await client.getObject(read), { objectID: "1", n: 2 });
    await settle(client.deleteObject({ indexName, objectID: "1" }));
    equal(await refused(() => client.getObject(read)), "ObjectID does not exist");
  });
  await step("batches", async () => {
    await client.replaceAllObjects({ indexName, objects: numbered(5) });
    const waitForTasks = true;
    await client.saveObjects({ indexName, objects: [{ _tags: ["x"] }], waitForTasks });
    const objects = [{ objectID: "8", n: 8 }];
    await client.partialUpdateObjects({ indexName, objects, createIfNotExists: true, waitForTasks });
    await client.deleteObjects({ indexName, objectIDs: ["8"], waitForTasks });
    await settle(client.deleteBy({ indexName, deleteByParams: { tagFilters: "x" } }));
    const body = { objectID: "6" };
    const { taskID } = await client.multipleBatch({
      requests: [
        { action: "addObject", indexName, body },
        { action: "deleteObject", indexName, body },
      ],
    });
    await client.waitForTask({ indexName, taskID: taskID[indexName] });
    const found = [];
    await client.browseObjects({ indexName, aggregator: (page) => found.push(...ids(page)) });
    deepEqual(found.sort(), ["0", "1", "2", "3", "4"]);
  });
  await step("reads", async () => {
    const requests = [{ indexName, objectID: "2", attributesToRetrieve: ["n"] }];
    deepEqual((await client.getObjects({ requests })).results, [{ objectID: "2", n: 2 }]);
  });
  await step("settings", async () => {
    const indexSettings = {
      searchableAttributes: ["name"],
      attributesForFaceting: ["searchable(name)"],
      sortFacetValuesBy: "",
    };
    await settle(client.setSettings({ indexName, indexSettings, forwardToReplicas: true }));
    const settings = await client.getSettings({ indexName });
    deepEqual(settings.searchableAttributes, ["name"]);
    await settle(client.setSettings({ indexName, indexSettings: { ...settings, version: 2 } }));
    equal(await client.indexExists({ indexName: "nothing" }), false);
  });
  await step("searches", async () => {
    const searchParams = { query: "lamp", filters: "n > 2", explain: ["*"], extensions: {} };
    deepEqual(ids(await client.searchSingleIndex({ indexName, searchParams })), ["3", "4"]);
    const request = { indexName, query: "lamp", hitsPerPage: 1, sortFacetValuesBy: "" };
    const former = { indexName, params: { query: "lamp", hitsPerPage: 1 } };
    const { results } = await client.search({ requests: [request] });
    equal(results[0].nbPages, 5);
    equal((await client.search([former])).results[0].nbPages, 5);
    const nothing = () => client.searchSingleIndex({ indexName: "nothing" });
    equal(await refused(nothing), "Index nothing does not exist");
  });
  await step("facet values", async () => {
    const searchForFacetValuesRequest = { facetQuery: "lam" };
    const asked = { indexName, facetName: "name", searchForFacetValuesRequest };
    equal((await client.searchForFacetValues(asked)).facetHits.length, 5);
  });
  await step("browse", async () => {
    ok((await client.browse({ indexName, browseParams: { hitsPerPage: 2 } })).cursor);
  });
  await step("synonyms", async () => {
    const words = { objectID: "s", type: "oneWaySynonym", input: "light", synonyms: ["lamp"] };
    await settle(client.saveSynonym({ indexName, objectID: "s", synonymHit: words }));
    const given = { indexName, synonymHit: [words], replaceExistingSynonyms: true };
    await settle(client.saveSynonyms(given));
    deepEqual(await client.getSynonym({ indexName, objectID: "s" }), words);
    const searchSynonymsParams = { type: "oneWaySynonym" };
    equal((await client.searchSynonyms({ indexName, searchSynonymsParams })).nbHits, 1);
    await settle(client.deleteSynonym({ indexName, objectID: "s" }));
    const gone = () => client.getSynonym({ indexName, objectID: "s" });
    equal(await refused(gone), "Synonym set does not exist");
    await settle(client.clearSynonyms({ indexName }));
    equal((await client.searchSynonyms({ indexName: "nothing" })).nbHits, 0);
  });
  await step("rules", async () => {
    const conditions = [{ pattern: "x", anchoring: "is" }];
    const rule = { objectID: "r", conditions, consequence: { params: { filters: "n = 1" } } };
    await settle(client.saveRule({ indexName, objectID: "r", rule }));
    await settle(client.saveRules({ indexName, rules: [rule], clearExistingRules: true }));
    deepEqual((await client.getRule({ indexName, objectID: "r" })).conditions, conditions);
    equal((await client.searchRules({ indexName, searchRulesParams: { query: "x" } })).nbHits, 1);
    await settle(client.deleteRule({ indexName, objectID: "r" }));
    const gone = () => client.getRule({ indexName, objectID: "r" });
    equal(await refused(gone), "ObjectID does not exist");
    await settle(client.clearRules({ indexName }));
    equal((await client.searchRules({ indexName: "nothing" })).nbHits, 0);
  });
  await step("indices", async () => {
    const [copy, moved] = ["javascript 5 copy", "javascript 5 moved"];
    const operate = (from, operation, destination) =>
      client.operationIndex({ indexName: from, operationIndexParams: { operation, destination } });
    await settle(operate(indexName, "copy", copy));
    await settle(operate(copy, "move", moved), copy);
    const { items } = await client.listIndices();
    ok(items.some((item) => item.name === moved));
    await settle(client.clearObjects({ indexName: moved }), moved);
    await settle(client.deleteIndex({ indexName: moved }), moved);
  });
  await step("keys", async () => {
    const { key } = await client.addApiKey({ acl: ["search"] });
    await client.waitForApiKey({ key, operation: "add" });
    await client.updateApiKey({ key, apiKey: { acl: ["search"], description: "d" } });
    ok((await client.listApiKeys()).keys.some(({ value }) => value === key));
    await client.deleteApiKey({ key });
    await client.waitForApiKey({ key, operation: "delete" });
    await client.restoreApiKey({ key });
  });
  await step("secured keys", async () => {
    const restrictions = { filters: "n = 1", restrictIndices: [indexName] };
    const made = { parentApiKey: facts.searchKey, restrictions };
    const secured = connect(client.generateSecuredApiKey(made));
    const searchParams = { query: "lamp" };
    deepEqual(ids(await secured.searchSingleIndex({ indexName, searchParams })), ["1"]);
  });
  await step("dictionaries", async () => {
    const dictionaryName = "stopwords";
    const body = { objectID: "d", language: "en", word: "down", state: "enabled" };
    const send = async (batchDictionaryEntriesParams) =>
      client.waitForAppTask(
        await client.batchDictionaryEntries({ dictionaryName, batchDictionaryEntriesParams }),
      );
    await send({ requests: [{ action: "addEntry", body }] });
    const searchDictionaryEntriesParams = { query: "down" };
    const asked = { dictionaryName, searchDictionaryEntriesParams };
    ok((await client.searchDictionaryEntries(asked)).nbHits);
    await send({ clearExistingDictionaryEntries: true, requests: [] });
    ok(await client.getDictionaryLanguages());
    ok((await client.getDictionarySettings()).disableStandardEntries);
  });
  await step("users", async () => {
    const assignUserIdParams = { cluster: "local-1" };
    await client.assignUserId({ xAlgoliaUserID: "jana", assignUserIdParams });
    equal((await client.getUserId({ userID: "jana" })).clusterName, "local-1");
    ok((await client.listUserIds({ page: 0, hitsPerPage: 50 })).userIDs.length);
    ok("pending" in (await client.hasPendingMappings({ getClusters: true })));
    ok((await client.getTopUserIds()).topUsers);
    ok((await client.listClusters()).topUsers);
    await client.removeUserId({ userID: "jana" });
    ok(await refused(() => client.getUserId({ userID: "jana" })));
  });
  await step("logs", async () => {
    ok((await client.getLogs({ length: 5, type: "query" })).logs.length);
  });
  await step("events", async () => {
    const insights = insightsClient(facts.appId, facts.adminKey, "us", { hosts });
    const shown = { eventType: "view", eventName: "seen", userToken: "me", objectIDs: ["1"] };
    const used = { eventType: "instantsearch", eventName: "widgets", index: indexName };
    const events = [{ ...shown, index: indexName }, used];
    equal((await insights.pushEvents({ events })).status, 200);
  });
}

main().then(report);
