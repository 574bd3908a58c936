// The `helpers` argument of an extractor, bound to its page.

import { docsearch } from "./docsearch.js";
import { codeSnippets, markdown } from "./markdown.js";
import { articleRecord, pageRecord, productRecord } from "./schemas.js";
import { splitContentIntoRecords, splitTextIntoRecords } from "./text_splitter.js";

/** @param {import("./schemas.js").PageOf} page */
export const makeHelpers = (page) => ({
  docsearch: (/** @type {any} */ options = {}) => docsearch(page, options),
  page: (/** @type {any} */ options = {}) => pageRecord({ ...page, ...given(options) }, options.recordProps),
  product: (/** @type {any} */ options = {}) => productRecord({ ...page, ...given(options) }),
  article: (/** @type {any} */ options = {}) => articleRecord({ ...page, ...given(options) }),
  splitContentIntoRecords: (/** @type {any} */ options = {}) => (
    splitContentIntoRecords({ $elements: page.$("body"), ...options })
  ),
  splitTextIntoRecords: (/** @type {any} */ options = {}) => splitTextIntoRecords(options),
  codeSnippets: (/** @type {any} */ options = {}) => codeSnippets(page.$, options),
  markdown: (/** @type {any} */ what = "body") => markdown(page.$, what, page.url),
});

/** Options may contain the page's `$` and `url`, as in existing configurations. @param {any} options */
const given = ({ $, url }) => ({ ...($ ? { $ } : {}), ...(url ? { url } : {}) });
