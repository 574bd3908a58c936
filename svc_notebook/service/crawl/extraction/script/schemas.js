// `helpers.page`, `product` and `article`: records from a page's JSON-LD and `meta` elements.

import { readable, saidBy } from "./element_text.js";

/** @typedef {{ $: any, url: any, fileType?: string, contentLength?: number }} PageOf */

const PRODUCTS = ["Product", "ProductGroup", "IndividualProduct", "ProductModel", "SomeProducts"];
const ARTICLES = (
  "Article AdvertiserContentArticle AnalysisNewsArticle APIReference"
  + " AskPublicNewsArticle BackgroundNewsArticle BlogPosting DiscussionForumPosting"
  + " LiveBlogPosting NewsArticle OpinionNewsArticle Report ReportageNewsArticle"
  + " ReviewNewsArticle SatiricalArticle ScholarlyArticle SocialMediaPosting"
  + " TechArticle"
).split(" ");

/** A general record for any page. @param {PageOf} page @param {Record<string, any>} recordProps */
export function pageRecord({ $, url, fileType, contentLength }, recordProps = {}) {
  return present({
    ...named(url, $),
    hostname: url.hostname,
    path: url.pathname.split("/").filter(Boolean),
    depth: url.pathname.split("/").filter(Boolean).length,
    fileType,
    contentLength,
    title: readable($("head > title").get(0) ?? NOTHING) || meta($, "og:title"),
    description: meta($, "description", "og:description", "twitter:description"),
    keywords: listed(meta($, "keywords")),
    image: meta($, "og:image", "twitter:image"),
    headers: $("h1, h2").toArray().map(readable).filter(Boolean),
    content: readable($("main, [role=main], article").get(0) ?? $("body").get(0) ?? NOTHING),
    ...Object.fromEntries(Object.entries(recordProps).map(([name, prop]) => [name, propOf($, prop)])),
  });
}

/** The product that a page describes, or null. @param {PageOf} page */
export function productRecord({ $, url }) {
  const said = linkedData($, PRODUCTS);
  if (!said) return null;
  const offer = [said.offers ?? {}].flat()[0] ?? {};
  return present({
    ...named(url, $),
    name: textual(said.name),
    sku: textual(said.sku),
    description: textual(said.description),
    image: imageOf(said.image),
    price: offer.price ?? offer.highPrice ?? offer.lowPrice ?? offer.priceSpecification?.price,
    currency: offer.priceCurrency ?? offer.priceSpecification?.priceCurrency,
    category: textual(said.category),
    brand: textual(said.brand?.name ?? said.brand),
  });
}

/** The article that a page contains, or null. @param {PageOf} page */
export function articleRecord({ $, url }) {
  const data = linkedData($, ARTICLES);
  if (!data && meta($, "og:type") !== "article") return null;
  const said = data ?? {};
  const body = $("article").get(0) ?? $("main, [role=main]").get(0) ?? $("body").get(0);
  return present({
    ...named(url, $),
    headline: meta($, "og:title", "twitter:title") || readable($("head > title").get(0) ?? NOTHING)
      || readable($("h1").get(0) ?? NOTHING) || textual(said.headline),
    description: meta($, "description", "og:description", "twitter:description") || textual(said.description),
    keywords: listed(said.keywords ?? meta($, "keywords")),
    tags: $('meta[property="article:tag"]').toArray().map(saidBy).filter(Boolean),
    image: meta($, "og:image", "twitter:image") || imageOf(said.image),
    authors: [said.author ?? meta($, "author", "article:author") ?? []].flat().map(textual).filter(Boolean),
    datePublished: textual(said.datePublished) || meta($, "article:published_time"),
    dateModified: textual(said.dateModified) || meta($, "article:modified_time"),
    category: textual(said.articleSection ?? said.category) || meta($, "article:section"),
    content: textual(said.articleBody) || readable(body ?? NOTHING),
  });
}

const NOTHING = { type: "text", data: "" };

/** @param {any} url @param {any} $ */
function named(url, $) {
  const plain = `${url.origin}${url.pathname}`;
  return { objectID: url.href.replace(/#[^]*$/, ""), url: plain, lang: $("html").attr("lang") };
}

/** @param {any} $ @param {any} prop */
function propOf($, prop) {
  const { selectors = prop, defaultValue } = typeof prop === "object" && !Array.isArray(prop) ? prop : {};
  for (const selector of [selectors ?? []].flat()) {
    const said = typeof selector === "string" ? $(selector).toArray().map(saidBy).filter(Boolean) : [];
    if (said.length) return said.length > 1 ? said : said[0];
  }
  return defaultValue;
}

/** The content of the first non-empty `meta` of some names. @param {any} $ @param {...string} names */
function meta($, ...names) {
  for (const name of names) {
    const found = $(`meta[name="${name}"], meta[property="${name}"]`).toArray().map(saidBy).find(Boolean);
    if (found) return found;
  }
  return undefined;
}

/** The first object of one of these types in the page's JSON-LD. @param {any} $ @param {string[]} types */
function linkedData($, types) {
  for (const script of $('script[type="application/ld+json"]').toArray()) {
    const found = things(parsed($(script).text())).find((thing) => (
      [thing["@type"] ?? []].flat().some((type) => types.includes(String(type).replace(/^.*[/:]/, "")))
    ));
    if (found) return found;
  }
  return null;
}

/** Parse JSON-LD, which in pages is often not quite valid JSON. @param {string} text */
function parsed(text) {
  const bare = unwrapped(text);
  for (const attempt of [() => bare, () => repaired(bare)]) {
    try {
      return JSON.parse(attempt());
    } catch {
      // The next attempt is more tolerant; after the last one the text is ignored.
    }
  }
  return null;
}

// Wrappers of scripts for XML parsers and for browsers without scripts.
const OPENING = /^(?:\ufeff|<!--|-->|<!\[CDATA\[|\/\*\s{0,9}<!\[CDATA\[\s{0,9}\*\/|\/\/(?=\s{0,9}(?:<!|-->|>))|>(?=<!))/;
const CLOSING = /(?:;|-->|<!\]\]>|\]\]>|\/\*\s{0,9}\]\]>\s{0,9}\*\/|\/\/)$/;

/** @param {string} text */
function unwrapped(text) {
  let left = text.trim();
  for (;;) {
    const bare = left.replace(OPENING, "").replace(CLOSING, "").trim();
    if (bare === left) return bare;
    left = bare;
  }
}

// A string, a comment, or a comma before a closing bracket.
const LOOSE = /"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[^]*?\*\/)*[\]}])/g;

/** Escape control characters in strings, remove comments and trailing commas. @param {string} text */
const repaired = (text) => text.replace(LOOSE, (found) => (
  found.startsWith('"') ? found.replace(/[\0-\x1f]/g, (sign) => escaped(sign)) : ""
));

/** @param {string} sign */
const escaped = (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** @param {any} data @returns {any[]} */
function things(data) {
  if (Array.isArray(data)) return data.flatMap(things);
  if (typeof data !== "object" || data === null) return [];
  return [data, ...things(data["@graph"] ?? null), ...things(data.mainEntity ?? null)];
}

/** A text, or the name of a JSON-LD object. @param {any} value @returns {string | undefined} */
function textual(value) {
  const one = [value].flat()[0];
  if (one === undefined || one === null) return undefined;
  return typeof one === "object" ? one.name ?? one["@value"] : String(one).trim();
}

/** @param {any} image @returns {string | undefined} */
function imageOf(image) {
  const one = [image].flat()[0];
  return typeof one === "object" && one ? one.url ?? one.contentUrl ?? one["@id"] : one;
}

/** @param {any} words @returns {string[]} */
const listed = (words) => [words ?? []].flat().join().split(",").map((word) => word.trim()).filter(Boolean);

/** Remove the members without a value. @param {Record<string, any>} record */
const present = (record) => Object.fromEntries(Object.entries(record).filter(([, value]) => (
  value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0)
)));
