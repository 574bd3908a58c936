// Parse CSS selectors: groups of compounds, each a list of tests, joined by combinators.
//
// A group is [{combinator, tests}, ...]; a test is {kind: "tag" | "attribute" | "pseudo", ...}.

/** @typedef {{ kind: string, name: string, written?: string, operator?: string, value?: string, fold?: boolean,
 *   groups?: Compound[][], nth?: [number, number], argument?: string }} Test */
/** @typedef {{ combinator: string, tests: Test[] }} Compound */

const NAME = /(?:\\(?:[0-9a-f]{1,6}\s?|[^\n])|[\w\u0080-\uffff-])+/iy;
const SPACE = /\s*/y;
const COMBINATOR = /\s*([>+~])\s*|\s+/y;
const OPERATOR = /[~|^$*!]?=/y;
const STRING = /"((?:\\[^]|[^"\\])*)"|'((?:\\[^]|[^'\\])*)'/y;
const BARE = /[^\s\]]+/y;
const NTH = /^\s*(?:(even|odd)|([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+))\s*(?:\s+of\s+([^]+))?$/i;

/** Pseudo-classes with selectors as argument, and those with the formula of :nth-child. */
const OF_SELECTORS = new Set(["not", "is", "where", "matches", "has"]);
const OF_NTH = /^nth-(?:last-)?(?:child|of-type)$/;
/** jQuery's pseudo-classes, which count positions among the elements found so far. */
export const POSITIONS = new Set("first last eq nth gt lt even odd".split(" "));

/** @type {Map<string, Compound[][]>} */
const known = new Map();

/** Parse a selector; raises a SyntaxError with the position of the first invalid character.
 * @param {string} source @returns {Compound[][]} */
export function readSelector(source) {
  let groups = known.get(source);
  if (!groups) {
    groups = new Reader(String(source)).groups();
    known.set(source, groups);
  }
  return groups;
}

/** Clear the cache of parsed selectors, which a run may have changed. */
export function forgetSelectors() {
  known.clear();
}

class Reader {
  /** @param {string} source */
  constructor(source) {
    this.source = source;
    this.at = 0;
  }

  groups() {
    const groups = [];
    this.take(SPACE);
    do groups.push(this.group());
    while (this.skip(","));
    if (this.at < this.source.length) this.fail();
    return groups;
  }

  group() {
    /** @type {Compound[]} */
    const compounds = [];
    this.take(SPACE);
    const leading = this.peek(/[>+~]/y) ? this.combinator() : "";
    for (let combinator = leading || " "; combinator; combinator = this.combinator()) {
      if (!compounds.length && !leading) combinator = "";
      compounds.push({ combinator, tests: this.compound() });
    }
    return compounds;
  }

  combinator() {
    const found = this.take(COMBINATOR);
    if (!found) return "";
    return found[1] || (/^[^,)]/.test(this.source.slice(this.at, this.at + 1)) ? " " : "");
  }

  compound() {
    /** @type {Test[]} */
    const tests = [];
    for (let test = this.test(); test; test = this.test()) tests.push(test);
    return tests.length ? tests : this.fail();
  }

  /** @returns {Test | null} */
  test() {
    const sign = this.source[this.at];
    if (sign === "*") return this.at++, { kind: "any", name: "*" };
    if (sign === "#") return this.at++, { kind: "attribute", name: "id", operator: "=", value: this.name() };
    if (sign === ".") return this.at++, { kind: "attribute", name: "class", operator: "~=", value: this.name() };
    if (sign === "[") return this.at++, this.attribute();
    if (sign === ":") return this.at++, this.pseudo();
    return this.peek(NAME) ? { kind: "tag", ...folded(this.name()) } : null;
  }

  /** @returns {Test} */
  attribute() {
    this.take(SPACE);
    const names = folded(this.name());
    this.take(SPACE);
    const operator = this.take(OPERATOR)?.[0];
    /** @type {Test} */
    let test = { kind: "attribute", ...names, operator: "" };
    if (operator) {
      this.take(SPACE);
      const value = this.string() ?? unescape(this.take(BARE)?.[0] ?? this.fail());
      this.take(SPACE);
      const flag = this.take(/[is]/iy)?.[0].toLowerCase();
      test = { ...test, operator, value, fold: flag ? flag === "i" : FOLDED.has(names.name) };
    }
    this.take(SPACE);
    return this.skip("]") ? test : this.fail();
  }

  /** @returns {Test} */
  pseudo() {
    if (this.source[this.at] === ":") this.fail("there are no pseudo-elements in a page");
    const name = this.name().toLowerCase();
    /** @type {Test} */
    const test = { kind: "pseudo", name };
    if (this.source[this.at] !== "(") return test;
    this.at++;
    if (OF_SELECTORS.has(name)) return { ...test, groups: this.inner() };
    const argument = this.argument();
    if (!OF_NTH.test(name)) return { ...test, argument };
    return { ...test, ...(readNth(argument) ?? this.fail()) };
  }

  inner() {
    const groups = [];
    do groups.push(this.group());
    while (this.skip(","));
    this.take(SPACE);
    return this.skip(")") ? groups : this.fail();
  }

  /** The text between the parentheses, without quotes around it. */
  argument() {
    this.take(SPACE);
    const quoted = this.string();
    if (quoted !== null) {
      this.take(SPACE);
      return this.skip(")") ? quoted : this.fail();
    }
    const start = this.at;
    for (let depth = 1; depth; this.at++) {
      const sign = this.source[this.at] ?? this.fail();
      if (sign === "\\") this.at++;
      else depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    }
    return unescape(this.source.slice(start, this.at - 1).trim());
  }

  string() {
    const found = this.take(STRING);
    return found ? unescape(found[1] ?? found[2]) : null;
  }

  name() {
    return unescape(this.take(NAME)?.[0] ?? this.fail());
  }

  /** @param {RegExp} pattern */
  peek(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source);
  }

  /** @param {RegExp} pattern */
  take(pattern) {
    const found = this.peek(pattern);
    if (found) this.at = pattern.lastIndex;
    return found && (found[0] || pattern === STRING) ? found : null;
  }

  /** @param {string} sign */
  skip(sign) {
    if (this.source[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  /** @param {string} [why] @returns {never} */
  fail(why = "it makes no sense there") {
    throw new SyntaxError(`\`${this.source}\` is not a valid selector: ${why} (character ${this.at + 1})`);
  }
}

/** Attributes whose values are case-insensitive in HTML (HTML, selectors). */
const FOLDED = new Set(
  ("accept accept-charset align alink axis bgcolor charset checked clear codetype color compact"
    + " declare defer dir direction disabled enctype face frame hreflang http-equiv lang language"
    + " link media method multiple nohref noresize noshade nowrap readonly rel rev rules scope"
    + " scrolling selected shape target text type valign valuetype vlink").split(" "),
);

/** Names are lowercase in HTML, and case-sensitive in SVG. @param {string} written */
const folded = (written) => ({ name: written.toLowerCase(), written });

/** @param {string} text */
function unescape(text) {
  return text.replace(/\\(?:([0-9a-f]{1,6})\s?|([^]))/gi, (_, hex, sign) => {
    if (!hex) return sign === "\n" ? "" : sign;
    const code = parseInt(hex, 16);
    return code && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Parse `2n+1`, `odd`, `3`, and `2n of a.b`. @param {string} formula */
function readNth(formula) {
  const found = NTH.exec(formula);
  if (!found) return null;
  const [, word, step, sign, offset, fixed, of] = found;
  const groups = of ? readSelector(of) : undefined;
  /** @type {[number, number]} */
  let nth = [2, word?.toLowerCase() === "odd" ? 1 : 0];
  if (fixed) nth = [0, Number(fixed)];
  else if (!word) {
    const by = step === "" || step === "+" ? 1 : step === "-" ? -1 : Number(step);
    nth = [by, offset ? Number(sign + offset) : 0];
  }
  return { nth, groups };
}
