// Decode HTML character references, and escape the characters that require it.

/** The HTML entity names, with and without semicolon; inserted when the script is loaded.
 * @type {string} */
const ENTITIES = "{}";

/** @type {Record<string, string>} */
const COMMON = { "amp;": "&", "lt;": "<", "gt;": ">", "quot;": '"', "nbsp;": "\u00a0" };
/** @type {Record<string, string> | null} */
let names = null;

const REFERENCE = /&(?:#x([0-9a-f]+);?|#([0-9]+);?|([a-z][a-z0-9]*;?))/gi;
// Numbers from 128 to 159 are Windows-1252 characters (HTML, numeric references).
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** @param {string} text @param {boolean} [attribute] whether it is an attribute's value */
export function decode(text, attribute = false) {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (whole, hex, decimal, name, at) => {
    if (name) return named(name, attribute ? text[at + whole.length] ?? "" : "") ?? whole;
    return numbered(hex ? parseInt(hex, 16) : parseInt(decimal, 10));
  });
}

/** @param {string} name @param {string} following the text after the name, in an attribute's value */
function named(name, following) {
  if (COMMON[name]) return COMMON[name];
  const known = (names ??= /** @type {Record<string, string>} */ (JSON.parse(ENTITIES)));
  if (Object.hasOwn(known, name)) {
    return name.endsWith(";") || !/[=a-z0-9]/i.test(following) ? known[name] : null;
  }
  if (following) return null;
  // A legacy name without semicolon may be followed by more letters: `&copy2020`.
  for (let end = name.length - 1; end > 1; end--) {
    const start = name.slice(0, end);
    if (Object.hasOwn(known, start)) return known[start] + name.slice(end);
  }
  return null;
}

/** @param {number} code */
function numbered(code) {
  if (code >= 0x80 && code <= 0x9f) return WINDOWS[code - 0x80];
  const nowhere = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return nowhere ? "\ufffd" : String.fromCodePoint(code);
}

/** @type {Record<string, string>} */
const WRITTEN = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;" };

/** @param {string} text */
export const escapeText = (text) => text.replace(/[&<>\u00a0]/g, (sign) => WRITTEN[sign]);

/** @param {string} text */
export const escapeAttribute = (text) => text.replace(/[&<>"\u00a0]/g, (sign) => WRITTEN[sign]);
