// Read and change attributes, classes, data, form values and styles of elements.

import { hasWord } from "./matcher.js";
import { Query } from "./query.js";
import { readable } from "./element_text.js";
import { isElement, textOf, touch } from "./tree.js";
import { innerHtml, outerHtml } from "./serializer.js";

const BOOLEAN = /^(?:autofocus|autoplay|async|checked|controls|defer|disabled|hidden|loop|multiple|open|readonly|required|scoped|selected)$/i;

/** Set a value on every element; a function receives the element's index and its current value.
 * @param {any} query @param {any} value @param {(element: any) => any} read
 * @param {(element: any, value: any) => void} write */
function setAll(query, value, read, write) {
  touch();
  query.toArray().filter(isElement).forEach((/** @type {any} */ element, /** @type {number} */ at) => {
    write(element, typeof value === "function" ? value.call(element, at, read(element)) : value);
  });
  return query;
}

/** @param {any} element @param {string} name */
function getAttribute(element, name) {
  const { attribs } = element;
  if (name in attribs) return BOOLEAN.test(name) ? name : attribs[name];
  if (element.name === "option" && name === "value") return textOf(element);
  const ticked = element.name === "input" && /^(?:radio|checkbox)$/.test(attribs.type ?? "");
  return ticked && name === "value" ? "on" : undefined;
}

/** @param {any} element @param {string} name @param {any} value */
function setAttribute(element, name, value) {
  if (value === null || value === undefined) delete element.attribs[name];
  else element.attribs[name] = String(value);
}

/** @type {Record<string, (element: any) => any>} */
const PROPERTIES = {
  tagName: (element) => element.name.toUpperCase(),
  nodeName: (element) => element.name.toUpperCase(),
  outerHTML: outerHtml,
  innerHTML: innerHtml,
  textContent: textOf,
  innerText: readable,
  className: (element) => element.attribs.class ?? "",
  style: (element) => readStyle(element.attribs.style),
};

/** @param {string} [style] @returns {Record<string, string>} */
function readStyle(style = "") {
  const rules = style.split(/;(?![^(]*\))/).map((rule) => rule.split(/:([^]*)/));
  return Object.fromEntries(rules.flatMap(([name, value]) => (
    name.trim() && value !== undefined ? [[name.trim(), value.trim()]] : []
  )));
}

/** @param {string} text */
const camel = (text) => text.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
/** @param {string} text */
const dashed = (text) => text.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Parse a `data-*` value as JSON where it is valid JSON. @param {string} text */
function readData(text) {
  const plain = /^(?:null|true|false|-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?)$/.test(text);
  if (!plain && !/^(?:\{[^]*\}|\[[^]*\])$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @type {WeakMap<any, Record<string, any>>} */
const kept = new WeakMap();

/** @param {any} element @returns {Record<string, any>} */
function dataOf(element) {
  const data = kept.get(element) ?? {};
  for (const [name, value] of Object.entries(element.attribs)) {
    const key = name.startsWith("data-") ? camel(name.slice(5)) : "";
    if (key && !Object.hasOwn(data, key)) data[key] = readData(String(value));
  }
  kept.set(element, data);
  return data;
}

/** @param {any} text @returns {string[]} */
const wordsOf = (text) => String(text ?? "").split(/\s+/).filter(Boolean);

/** Change classes with a function of the current and the passed classes.
 * @param {any} query @param {any} names @param {(present: string[], given: string[]) => string[]} change */
function changeClasses(query, names, change) {
  const read = (/** @type {any} */ element) => element.attribs.class ?? "";
  return setAll(query, names, read, (element, given) => {
    const words = change(wordsOf(read(element)), wordsOf(given));
    if (words.length) element.attribs.class = [...new Set(words)].join(" ");
    else delete element.attribs.class;
  });
}

/** @param {any} $ @param {any} element */
function valueOf($, element) {
  if (element.name === "textarea") return textOf(element);
  if (element.name !== "select") return getAttribute(element, "value");
  const chosen = $(element).find("option:selected").toArray().map((/** @type {any} */ option) => getAttribute(option, "value"));
  return element.attribs.multiple === undefined ? chosen[0] : chosen;
}

/** @param {any} $ @param {any} element @param {any} value */
function setValue($, element, value) {
  if (element.name === "textarea") $(element).text(value);
  else if (element.name === "select") {
    const wanted = new Set([value].flat().map(String));
    for (const option of $(element).find("option")) {
      setAttribute(option, "selected", wanted.has(String(getAttribute(option, "value"))) ? "" : null);
    }
  } else setAttribute(element, "value", value);
}

Object.assign(Query.prototype, {
  /** @this {any} @param {any} [name] @param {any} [value] */
  attr(name, value) {
    if (typeof name === "object" && name) {
      for (const key of Object.keys(name)) this.attr(key, name[key]);
      return this;
    }
    if (value !== undefined) {
      const read = (/** @type {any} */ element) => element.attribs[name];
      return setAll(this, value, read, (element, given) => setAttribute(element, name, given));
    }
    if (!isElement(this[0])) return undefined;
    return name === undefined ? this[0].attribs : getAttribute(this[0], name);
  },
  /** @this {any} @param {any} names */
  removeAttr(names) {
    return setAll(this, names, () => "", (element, given) => {
      for (const name of wordsOf(given)) delete element.attribs[name];
    });
  },
  /** @this {any} @param {any} name @param {any} [value] */
  prop(name, value) {
    if (value !== undefined) {
      return setAll(this, value, (element) => element[name], (element, given) => {
        if (BOOLEAN.test(name)) setAttribute(element, name, given ? "" : null);
        else setAttribute(element, name === "className" ? "class" : name, given);
      });
    }
    const element = this[0];
    if (!isElement(element)) return element?.[name];
    if (Object.hasOwn(PROPERTIES, name)) return PROPERTIES[name](element);
    if (BOOLEAN.test(name)) return name in element.attribs;
    return /** @type {any} */ (element)[name] ?? getAttribute(element, name);
  },
  /** @this {any} @param {string} name */
  removeProp(name) { return this.removeAttr(name); },
  /** @this {any} @param {any} [name] @param {any} [value] */
  data(name, value) {
    if (value !== undefined || (typeof name === "object" && name)) {
      const given = typeof name === "object" ? name : { [name]: value };
      this.each((/** @type {any} */ _, /** @type {any} */ element) => Object.assign(dataOf(element), given));
      return this;
    }
    if (!isElement(this[0])) return undefined;
    const data = dataOf(this[0]);
    return name === undefined ? data : data[camel(name)] ?? data[name];
  },
  /** @this {any} @param {any} [value] */
  val(value) {
    if (value === undefined) return isElement(this[0]) ? valueOf(this.$, this[0]) : undefined;
    const read = (/** @type {any} */ element) => valueOf(this.$, element);
    return setAll(this, value, read, (element, given) => setValue(this.$, element, given));
  },
  /** @this {any} @param {string} name */
  hasClass(name) {
    return this.toArray().some((/** @type {any} */ node) => isElement(node) && name !== ""
      && hasWord(node.attribs.class ?? "", name));
  },
  /** @this {any} @param {any} names */
  addClass(names) { return changeClasses(this, names, (present, given) => [...present, ...given]); },
  /** @this {any} @param {any} [names] */
  removeClass(names) {
    if (names === undefined) return this.attr("class", "");
    return changeClasses(this, names, (present, given) => present.filter((word) => !given.includes(word)));
  },
  /** @this {any} @param {any} names @param {boolean} [on] */
  toggleClass(names, on) {
    return changeClasses(this, names, (present, given) => [
      ...present.filter((word) => on === true || !given.includes(word)),
      ...given.filter((word) => on !== false && (on === true || !present.includes(word))),
    ]);
  },
  /** @this {any} @param {any} [name] @param {any} [value] */
  css(name, value) {
    if (value !== undefined || (typeof name === "object" && name && !Array.isArray(name))) {
      const given = typeof name === "object" ? name : { [name]: value };
      return setAll(this, null, () => null, (element) => {
        const style = { ...readStyle(element.attribs.style), ...given };
        const rules = Object.entries(style).filter(([, said]) => said !== "");
        setAttribute(element, "style", rules.map(([key, said]) => `${dashed(key)}: ${said};`).join(" "));
      });
    }
    if (!isElement(this[0])) return undefined;
    const style = readStyle(this[0].attribs.style);
    if (Array.isArray(name)) return Object.fromEntries(name.flatMap((key) => (key in style ? [[key, style[key]]] : [])));
    return name === undefined ? style : style[name] ?? style[dashed(name)];
  },
  /** @this {any} */
  serializeArray() {
    const fields = this.toArray().flatMap((/** @type {any} */ node) => (
      node.name === "form" ? this.$(node).find("input, select, textarea, keygen").toArray() : [node]
    ));
    const usable = this.$(fields).filter(
      "[name]:not(:disabled):not([type=submit], [type=button], [type=image], [type=reset], [type=file])",
    ).filter(":not(input[type=checkbox], input[type=radio]), :checked");
    return usable.toArray().flatMap((/** @type {any} */ field) => (
      [valueOf(this.$, field) ?? ""].flat().map((value) => ({ name: field.attribs.name, value: String(value).replace(/\r?\n/g, "\r\n") }))
    ));
  },
  /** @this {any} */
  serialize() {
    const written = (/** @type {string} */ text) => encodeURIComponent(text).replace(/%20/g, "+");
    return this.serializeArray().map((/** @type {any} */ field) => `${written(field.name)}=${written(field.value)}`).join("&");
  },
});
