// The texts of the extractors, and the records that Cheerio gives for them, as JSON.
// Usage: node records.mjs FOLDER, with Cheerio in FOLDER/node_modules.

import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { extractors } from "./extractors.mjs";
import * as pages from "./pages.mjs";

const { load } = createRequire(join(resolve(process.argv[2]), "package.json"))("cheerio");
const [url, selectors] = [process.argv[3], JSON.parse(process.argv[4])];

const cases = Object.entries(extractors).flatMap(([page, all]) =>
  all.map((extract, number) => {
    const html = pages[page];
    const given = { $: load(html), url: new URL(url), contentLength: Buffer.byteLength(html), fileType: "html" };
    return { page, number, source: String(extract), records: extract(given) };
  }),
);

// The places of the matched elements among all, without the two elements that are read differently.
const matches = Object.entries(pages).flatMap(([page, html]) => {
  const plain = html.replace(/<(noscript|template)>.*?<\/\1>/gs, "");
  const $ = load(plain);
  const all = $("*");
  return selectors.map((selector) => ({ page, html: plain, selector, places: $(selector).map((i, e) => all.index(e)).get() }));
});

console.log(JSON.stringify({ pages, cases, matches }));
