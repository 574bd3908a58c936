// Calls the vendor's JavaScript client as lines of JSON ask for it, and answers each with a line.
//
//   {"client": "full", "key": "...", "method": "getObject", "argument": {...}, "others": {}}
//   {"result": ...} or {"error": {"name": "ApiError", "message": "...", "status": 404}}

import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, address, appId] = process.argv.slice(2);
// Where other applications are, by their ids: a client that makes a second one hands on its hosts.
const others = {};
const require = createRequire(join(folder, "installed.js"));
const { algoliasearch } = require("algoliasearch");
const { insightsClient } = require("@algolia/client-insights");
const { createHttpRequester } = require("@algolia/requester-node-http");
const lite = join(folder, "node_modules/algoliasearch/dist/lite/builds/browser.js");
const { liteClient } = await import(pathToFileURL(lite).href);

// Only the names of headers and of the URL's own parameters differ from what its users send.
const rename = (name) => name.replace(/^x-algolia-/i, "x-service-");
const wire = createHttpRequester();
const requester = {
  send({ url, headers, ...rest }) {
    const origin = others[headers["x-algolia-application-id"]] ?? address;
    const named = Object.entries(headers).map(([name, value]) => [rename(name), value]);
    const target = url.replace(address, origin).replace(/([?&])x-algolia-/g, "$1x-service-");
    return wire.send({ url: target, headers: Object.fromEntries(named), ...rest });
  },
};

const { hostname, port } = new URL(address);
const hosts = [{ url: hostname, port, protocol: "http", accept: "readWrite" }];
const inUrl = { authMode: "WithinQueryParameters", requestIdChannel: "queryParameters" };
const clients = {
  full: (key) => algoliasearch(appId, key, { hosts, requester }),
  packed: (key) => algoliasearch(appId, key, { hosts, requester, compression: "gzip" }),
  browser: (key) => algoliasearch(appId, key, { hosts, requester, ...inUrl }),
  lite: (key) => liteClient(appId, key, { hosts, requester }),
  events: (key) => insightsClient(appId, key, "us", { hosts, requester }),
  beacon: (key) => insightsClient(appId, key, "us", { hosts, requester, ...inUrl }),
};

async function answer({ client, key, method, argument, others: told }) {
  Object.assign(others, told);
  const made = clients[client](key);
  if (!method.startsWith("browse")) return made[method](argument ?? undefined);
  const pages = [];
  await made[method]({ ...argument, aggregator: (page) => pages.push(page) });
  return pages;
}

for await (const line of createInterface({ input: process.stdin })) {
  const told = await answer(JSON.parse(line)).then(
    (result) => ({ result: result ?? null }),
    ({ name, message, status }) => ({ error: { name, message, status } }),
  );
  if (!process.stdout.write(`${JSON.stringify(told)}\n`)) await once(process.stdout, "drain");
}
