// Parse HTML to trees: whole pages as serialized by Python's parser, and fragments from extractors.
//
// A page is balanced, so that its tags give exactly the tree of Python's parser. HTML from an
// extractor may omit the end tags that are optional in HTML.

import { decode } from "./entities.js";
import { Element, Leaf, append, makeRoot } from "./tree.js";

export const VOID = new Set(
  ("area base basefont bgsound br col embed frame hr img input keygen link meta param source track"
    + " wbr").split(" "),
);
/** Elements whose text is not escaped. */
export const RAW = new Set("script style xmp iframe noembed noframes plaintext".split(" "));
const RCDATA = new Set(["title", "textarea"]);

const NAME = /[a-z][^\s/>]*/iy;
const ATTRIBUTE = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;
const TAG_END = /[\s/]*>?/y;
const SCRIPT_MARKS = /<!--|-->|<\/?script(?=[\s/>])/gi;

/** The open elements that a start tag closes, and the elements at which that stops. */
const BLOCKS = "address article aside blockquote center details dialog dir div dl fieldset"
  + " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search"
  + " section summary table ul";
/** @type {Map<string, { ends: string[], within: string[] }>} */
const IMPLIED = new Map();
for (const name of BLOCKS.split(" ")) {
  IMPLIED.set(name, { ends: ["p"], within: ["button", "table", "td", "th", "caption", "template"] });
}
for (const [names, ends, within] of [
  ["li", "li p", "ul ol menu table template"],
  ["dt dd", "dt dd p", "dl table template"],
  ["option", "option", "select datalist"],
  ["optgroup", "option optgroup", "select"],
  ["td th", "td th p", "table template tr"],
  ["tr", "tr td th p caption colgroup", "table template"],
  ["thead tbody tfoot", "thead tbody tfoot tr td th p caption colgroup", "table template"],
]) {
  for (const name of names.split(" ")) {
    IMPLIED.set(name, { ends: ends.split(" "), within: within.split(" ") });
  }
}
/** Required parents of table parts, which HTML inserts if they are missing. */
/** @type {Record<string, [string[], string]>} */
const WRAPPED = { tr: [["table"], "tbody"], td: [["table", "tbody", "thead", "tfoot"], "tr"] };
WRAPPED.th = WRAPPED.td;

/** Parse a page that is balanced. @param {string} html */
export const parsePage = (html) => new Parser(html, true).parse();

/** Parse hand-written HTML. @param {string} html */
export const parsePiece = (html) => new Parser(html, false).parse();

class Parser {
  /** @param {string} html @param {boolean} balanced */
  constructor(html, balanced) {
    this.html = html;
    this.balanced = balanced;
    this.at = 0;
    this.root = makeRoot();
    /** @type {any} */
    this.open = this.root;
  }

  parse() {
    while (this.at < this.html.length) {
      const tag = this.html.indexOf("<", this.at);
      this.text(tag < 0 ? this.html.length : tag);
      if (tag >= 0) this.markup();
    }
    return this.root;
  }

  /** @param {number} end */
  text(end) {
    if (end > this.at) this.add(decode(this.html.slice(this.at, end)));
    this.at = end;
  }

  /** @param {string} data */
  add(data) {
    const last = this.open.lastChild;
    if (last?.type === "text") last.data += data;
    else if (data) append(this.open, new Leaf("text", data));
  }

  markup() {
    const next = this.html[this.at + 1] ?? "";
    if (/[a-z]/i.test(next)) this.start();
    else if (next === "/" && /[a-z]/i.test(this.html[this.at + 2] ?? "")) this.end();
    else if (next === "!" || next === "?" || next === "/") this.declaration();
    else {
      this.add("<");
      this.at++;
    }
  }

  start() {
    this.at++;
    const name = this.name();
    const attribs = this.attributes();
    const selfClosed = this.html[this.at - 2] === "/";
    if (!this.balanced) this.imply(name);
    const element = new Element(name, attribs);
    append(this.open, element);
    if (VOID.has(name) && !this.filled(name)) return;
    if (RAW.has(name) || (!this.balanced && RCDATA.has(name))) this.raw(element);
    else if (!selfClosed || !this.foreign(name)) this.open = element;
  }

  name() {
    NAME.lastIndex = this.at;
    const name = /** @type {RegExpExecArray} */ (NAME.exec(this.html))[0];
    this.at += name.length;
    return this.balanced ? name : name.toLowerCase();
  }

  attributes() {
    /** @type {Record<string, string>} */
    const attribs = Object.create(null);
    for (;;) {
      ATTRIBUTE.lastIndex = this.at;
      const found = ATTRIBUTE.exec(this.html);
      if (!found) break;
      this.at = ATTRIBUTE.lastIndex;
      const name = this.balanced ? found[1] : found[1].toLowerCase();
      if (!(name in attribs)) attribs[name] = decode(found[2] ?? found[3] ?? found[4] ?? "", true);
    }
    TAG_END.lastIndex = this.at;
    TAG_END.test(this.html);
    this.at = TAG_END.lastIndex;
    return attribs;
  }

  /** Whether `<name/>` closes itself, as in SVG and MathML.
   * @param {string} name */
  foreign(name) {
    if (name === "svg" || name === "math") return true;
    for (let at = this.open; at; at = at.parent) {
      if (at.name === "svg" || at.name === "math") return true;
    }
    return false;
  }

  /** Whether a void element of HTML is an ordinary element, as in SVG and MathML.
   * @param {string} name */
  filled(name) {
    return this.balanced && this.foreign(name) && this.html.includes(`</${name}>`, this.at);
  }

  /** Read a text up to the end tag of its element. @param {Element} element */
  raw(element) {
    const { name } = element;
    const end = name === "script" ? this.scriptEnd() : this.rawEnd(name);
    const text = this.html.slice(this.at, end);
    if (text) append(element, new Leaf("text", RCDATA.has(name) ? decode(text) : text));
    const closed = this.html.indexOf(">", end);
    this.at = closed < 0 || end === this.html.length ? this.html.length : closed + 1;
  }

  /** @param {string} name */
  rawEnd(name) {
    if (name === "plaintext") {
      const last = this.html.lastIndexOf("</plaintext>");
      return this.balanced && last >= this.at ? last : this.html.length;
    }
    const mark = new RegExp(`</${name}(?=[\\s/>])`, "gi");
    mark.lastIndex = this.at;
    return mark.exec(this.html)?.index ?? this.html.length;
  }

  /** A script with a comment that contains `<script` ends after the comment (HTML, script data). */
  scriptEnd() {
    let hidden = 0;
    SCRIPT_MARKS.lastIndex = this.at;
    for (let mark = SCRIPT_MARKS.exec(this.html); mark; mark = SCRIPT_MARKS.exec(this.html)) {
      const said = mark[0].toLowerCase();
      if (said === "<!--") {
        hidden ||= 1;
        SCRIPT_MARKS.lastIndex -= 2;
      } else if (said === "-->") hidden = 0;
      else if (said === "<script") hidden = hidden && 2;
      else if (hidden === 2) hidden = 1;
      else return mark.index;
    }
    // A script that hides its end tag extends to the end of the page, where the parser added one.
    const last = this.html.lastIndexOf("</script>");
    return this.balanced && last >= this.at ? last : this.html.length;
  }

  end() {
    this.at += 2;
    const name = this.name();
    this.attributes();
    for (let at = this.open; at !== this.root; at = at.parent) {
      if (at.name !== name) continue;
      this.open = at.parent;
      return;
    }
  }

  declaration() {
    const { html, at } = this;
    if (html.startsWith("<!--", at)) {
      const found = /^(?:-?>|[^]*?(?:--!?>|$))/.exec(html.slice(at + 4));
      const said = found ? found[0] : "";
      append(this.open, new Leaf("comment", said.replace(/(?:^-?|--!?)>$/, "")));
      this.at = at + 4 + said.length;
      return;
    }
    const close = html.indexOf(">", at);
    const said = html.slice(at + 1, close < 0 ? html.length : close);
    const directive = /^(?:!doctype\b|\?)/i.test(said);
    append(this.open, new Leaf(directive ? "directive" : "comment", said));
    this.at = close < 0 ? html.length : close + 1;
  }

  /** Close the elements that `name` closes, and open its required parents. @param {string} name */
  imply(name) {
    const implied = IMPLIED.get(name);
    for (let at = this.open; implied && at !== this.root; at = at.parent) {
      if (implied.ends.includes(at.name)) this.open = at.parent;
      else if (implied.within.includes(at.name)) break;
    }
    const [parents, missing] = WRAPPED[name] ?? [[], ""];
    if (!parents.includes(this.open.name)) return;
    this.imply(missing);
    const element = new Element(missing, Object.create(null));
    append(this.open, element);
    this.open = element;
  }
}
