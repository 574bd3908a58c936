// The JavaScript client, release 5: analytics, query suggestions and A/B tests, by value.

const { deepEqual, equal, ok } = require("node:assert/strict");
const { facts, fromPackages, numbered, refused, report, step } = require("./steps.cjs");
const { algoliasearch } = fromPackages("algoliasearch");

const { hostname, port } = new URL(facts.url);
const hosts = [{ url: hostname, port, protocol: "http", accept: "readWrite" }];
const options = { hosts, region: "us", options: { hosts } };
const client = algoliasearch(facts.appId, facts.adminKey, { hosts });
const analytics = client.initAnalytics(options);
const suggestions = client.initQuerySuggestions(options);
const abtesting = client.initAbtesting(options);
const index = "javascript 5 analytics";
const variant = `${index} variant`;
const users = Array.from({ length: 40 }, (_, number) => `user-${number}`);

async function search(query, userToken, more = {}) {
  const params = { query, userToken, clickAnalytics: true, ...more };
  return client.searchSingleIndex({ indexName: index, searchParams: params });
}

async function main() {
  await step("analytics", async () => {
    await client.replaceAllObjects({ indexName: index, objects: numbered(5) });
    const indexSettings = { attributesForFaceting: ["name"] };
    const { taskID } = await client.setSettings({ indexName: index, indexSettings });
    await client.waitForTask({ indexName: index, taskID });
    const filters = 'name:"lamp 1"';
    const answer = await search("lamp 1", "anna", { filters, analyticsTags: ["country:FR"] });
    await search("toaster", "ben");
    const event = {
      eventName: "x",
      index,
      userToken: "anna",
      objectIDs: ["1"],
      queryID: answer.queryID,
    };
    const bought = {
      ...event,
      eventType: "conversion",
      eventSubtype: "purchase",
      currency: "EUR",
      value: 12.5,
      objectData: [{ price: 12.5, quantity: 1, queryID: answer.queryID }],
    };
    const events = [{ ...event, eventType: "click", positions: [1] }, bought];
    const insights = client.initInsights(options);
    await insights.pushEvents({ events });
    const read = { index };
    const all = { index, clickAnalytics: true, revenueAnalytics: true };
    const { searches } = await analytics.getTopSearches(all);
    const top = Object.fromEntries(searches.map((row) => [row.search, row]));
    deepEqual(Object.keys(top).sort(), ["lamp 1", "toaster"]);
    const { count, nbHits, clickThroughRate, averageClickPosition, currencies } = top["lamp 1"];
    deepEqual([count, nbHits, clickThroughRate, averageClickPosition], [1, 1, 1, 1]);
    deepEqual(currencies, { EUR: { currency: "EUR", revenue: 12.5 } });
    equal((await analytics.getSearchesCount(read)).count, 2);
    equal((await analytics.getSearchesCount(read)).dates.length, 8);
    equal((await analytics.getUsersCount(read)).count, 2);
    equal((await analytics.getNoResultsRate(read)).rate, 0.5);
    equal((await analytics.getNoClickRate(read)).noClickCount, 1);
    equal((await analytics.getClickThroughRate(read)).rate, 0.5);
    equal((await analytics.getAverageClickPosition(read)).average, 1);
    equal((await analytics.getClickPositions(read)).positions[0].clickCount, 1);
    equal((await analytics.getConversionRate(read)).conversionCount, 1);
    equal((await analytics.getAddToCartRate(read)).rate, 0);
    equal((await analytics.getPurchaseRate(read)).purchaseCount, 1);
    equal((await analytics.getRevenue(read)).currencies.EUR.revenue, 12.5);
    const unanswered = await analytics.getSearchesNoResults(read);
    deepEqual(unanswered.searches, [{ search: "toaster", count: 1, withFilterCount: 0 }]);
    deepEqual((await analytics.getSearchesNoClicks(read)).searches, []);
    const [hit] = (await analytics.getTopHits({ ...all, search: "lamp 1" })).hits;
    deepEqual([hit.hit, hit.trackedHitCount, hit.purchaseCount], ["1", 1, 1]);
    deepEqual((await analytics.getTopCountries(read)).countries, [{ country: "FR", count: 1 }]);
    const attributes = (await analytics.getTopFilterAttributes(read)).attributes;
    deepEqual(attributes, [{ attribute: "name", count: 1 }]);
    const values = await analytics.getTopFilterForAttribute({ ...read, attribute: "name" });
    const used = { attribute: "name", operator: ":", value: "lamp 1", count: 1 };
    deepEqual(values.values, [used]);
    deepEqual((await analytics.getTopFiltersNoResults(read)).values, []);
    ok((await analytics.getStatus(read)).updatedAt.endsWith("Z"));
  });
  await step("query suggestions", async () => {
    const indexName = `${index} suggestions`;
    const source = { indexName: index, minHits: 1, facets: [{ attribute: "name", amount: 1 }] };
    const config = { sourceIndices: [source], languages: ["en"], exclude: ["toaster"] };
    equal((await suggestions.createConfig({ indexName, ...config })).status, 200);
    for (;;) {
      const status = await suggestions.getConfigStatus({ indexName });
      if (status.lastSuccessfulBuiltAt && !status.isRunning) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    equal((await suggestions.getLogFile({ indexName })).message, "1 suggestions were built");
    const stored = await suggestions.getConfig({ indexName });
    deepEqual([stored.exclude, stored.sourceIndices[0].minLetters], [["toaster"], 4]);
    const names = (await suggestions.getAllConfigs()).map((row) => row.indexName);
    ok(names.includes(indexName));
    const query = { indexName, searchParams: { query: "lam" } };
    let answer;
    do {
      answer = await client.searchSingleIndex(query).catch(() => ({ hits: [] }));
    } while (!answer.hits.length);
    deepEqual([answer.hits[0].query, answer.hits[0].popularity], ["lamp 1", 1]);
    const { sourceIndices } = config;
    const updated = await suggestions.updateConfig({ indexName, configuration: { sourceIndices } });
    equal(updated.status, 200);
    equal((await suggestions.deleteConfig({ indexName })).status, 200);
    const missing = await refused(() => suggestions.getConfig({ indexName }));
    equal(missing, `Query suggestions of the index ${indexName} do not exist`);
  });
  await step("A/B tests", async () => {
    await client.replaceAllObjects({ indexName: variant, objects: numbered(3) });
    const variants = [
      { index, trafficPercentage: 60, description: "now" },
      { index: variant, trafficPercentage: 40 },
    ];
    const endAt = new Date(Date.now() + 86_400_000).toISOString();
    const minimumDetectableEffect = { size: 0.5, metric: "clickThroughRate" };
    const estimated = { configuration: { minimumDetectableEffect }, variants };
    const estimate = await abtesting.estimateABTest(estimated);
    // 50 % and 75 %, with two searches of the variant for three of the control.
    deepEqual(estimate, { durationDays: 1830, sampleSizes: [73, 49] });
    const added = await abtesting.addABTests({ name: "fewer", variants, endAt });
    equal(added.index, index);
    await client.waitForTask({ indexName: index, taskID: added.taskID });
    const sizes = { 1: 5, 2: 3 };
    const counts = { 1: 0, 2: 0 };
    for (const user of users) {
      const answer = await search("lamp", user);
      equal(answer.abTestID, added.abTestID);
      equal(answer.nbHits, sizes[answer.abTestVariantID]);
      counts[answer.abTestVariantID] += 1;
    }
    ok(counts[1] > 5 && counts[2] > 5);
    const test = await abtesting.getABTest({ id: added.abTestID });
    deepEqual([test.name, test.status, test.endAt], ["fewer", "active", endAt]);
    const figures = test.variants.map((row) => [row.index, row.trackedSearchCount, row.userCount]);
    deepEqual(figures, [
      [index, counts[1], counts[1]],
      [variant, counts[2], counts[2]],
    ]);
    deepEqual(test.variants[0].clickThroughRate, 0);
    const listed = await abtesting.listABTests({ indexPrefix: index, limit: 5 });
    deepEqual([listed.count, listed.abtests[0].abTestID], [1, added.abTestID]);
    const again = await refused(() => abtesting.addABTests({ name: "x", variants, endAt }));
    ok(again.startsWith(`the A/B test ${added.abTestID} (fewer) runs on `), again);
    equal((await abtesting.stopABTest({ id: added.abTestID })).abTestID, added.abTestID);
    equal((await abtesting.getABTest({ id: added.abTestID })).status, "stopped");
    equal((await abtesting.deleteABTest({ id: added.abTestID })).index, index);
    const gone = await refused(() => abtesting.getABTest({ id: added.abTestID }));
    equal(gone, `The A/B test ${added.abTestID} does not exist`);
  });
  report();
}

main();
