// URL and URLSearchParams as in browsers (WHATWG, URL).

/** @type {Record<string, string>} */
const PORTS = { "http:": "80", "https:": "443", "ftp:": "21", "ws:": "80", "wss:": "443", "file:": "" };

const IN_FRAGMENT = /[^!#-;=?-_a-~]/gu;
const IN_QUERY = /[^!$-&(-;=?-~]/gu;
const IN_PATH = /[^!$-;=@-_a-z|~]/gu;
const IN_USER = /[^!$-.0-9A-Z_a-z~]/gu;
const FORBIDDEN_HOST = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;

/** @param {string} text @param {RegExp} signs those that must be encoded */
const encode = (text, signs) => text.replace(signs, (sign) => {
  const hex = (/** @type {number} */ byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  if (sign.length === 1 && sign < "\x80") return hex(sign.charCodeAt(0));
  return encodeURIComponent(sign.isWellFormed() ? sign : "\ufffd");
});

/** @param {string} text */
function fail(text) {
  return new TypeError(`Invalid URL: ${text}`);
}

/** The parts of a URL; `path` is a list if the scheme has hosts, otherwise one text.
 * @typedef {{ scheme: string, username: string, password: string, host: string | null,
 *   port: string, path: string[] | string, query: string | null, fragment: string | null }} Parts */

/** @param {string} text @param {Parts | null} base @returns {Parts} */
function parse(text, base) {
  const input = text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const [, before, fragment] = /** @type {RegExpExecArray} */ (/^([^#]*)(?:#([^]*))?$/.exec(input));
  const [, rest, query] = /** @type {RegExpExecArray} */ (/^([^?]*)(?:\?([^]*))?$/.exec(before));
  const [, named, tail] = /** @type {RegExpExecArray} */ (/^(?:([a-z][a-z0-9+.-]*):)?([^]*)$/i.exec(rest));
  const scheme = named ? `${named.toLowerCase()}:` : base?.scheme;
  if (!scheme) throw fail(text);
  const special = scheme in PORTS;
  const left = special ? tail.replace(/\\/g, "/") : tail;
  const ends = {
    query: query === undefined ? null : encode(query, IN_QUERY),
    fragment: fragment === undefined ? null : encode(fragment, IN_FRAGMENT),
  };
  const relative = !named || (special && scheme !== "file:" && base?.scheme === scheme && !left.startsWith("//"));
  if (relative) return { ...resolve(left, base, text, query !== undefined, fragment !== undefined), ...kept(ends, left, base) };
  const bare = { scheme, username: "", password: "", port: "", host: null };
  if (special && scheme !== "file:") return { ...authority(scheme, left.replace(/^\/*/, ""), text), ...ends };
  if (left.startsWith("//")) return { ...authority(scheme, left.slice(2), text), ...ends };
  if (left.startsWith("/") || special) return { ...bare, host: special ? "" : null, path: segments([], left), ...ends };
  return { ...bare, path: encode(left, /[^ -~]/gu), ...ends };
}

/** A reference without a path keeps the query of its base.
 * @param {{ query: string | null, fragment: string | null }} ends @param {string} left
 * @param {Parts | null} base */
const kept = (ends, left, base) => (left === "" && ends.query === null ? { ...ends, query: base?.query ?? null } : ends);

/** @param {string} left @param {Parts | null} base @param {string} text
 * @param {boolean} queried @param {boolean} marked @returns {Parts} */
function resolve(left, base, text, queried, marked) {
  if (!base) throw fail(text);
  if (typeof base.path === "string") {
    if (left === "" && marked && !queried) return base;
    throw fail(text);
  }
  if (left.startsWith("//")) return authority(base.scheme, left.slice(2).replace(base.scheme in PORTS && base.scheme !== "file:" ? /^\/+/ : "", ""), text);
  if (left.startsWith("/")) return { ...base, path: segments([], left) };
  if (left === "") return base;
  return { ...base, path: segments(base.path.slice(0, -1), `/${left}`) };
}

/** @param {string[]} before @param {string} path @returns {string[]} */
function segments(before, path) {
  const made = [...before];
  const parts = path === "" ? [""] : path.replace(/^\//, "").split("/");
  parts.forEach((part, at) => {
    const last = at === parts.length - 1;
    const dots = part.replace(/%2e/gi, ".");
    if (dots === "..") made.pop();
    else if (dots !== ".") made.push(encode(part, IN_PATH));
    if (last && (dots === "." || dots === "..")) made.push("");
  });
  return made;
}

/** @param {string} scheme @param {string} rest @param {string} text @returns {Parts} */
function authority(scheme, rest, text) {
  const slash = rest.indexOf("/");
  const [login, path] = slash < 0 ? [rest, ""] : [rest.slice(0, slash), rest.slice(slash)];
  const at = login.lastIndexOf("@");
  const [, username = "", password = ""] = /^([^:]*):?([^]*)$/.exec(at < 0 ? "" : login.slice(0, at)) ?? [];
  const place = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(login.slice(at + 1));
  const host = place && hostOf(place[1], scheme in PORTS);
  if (!place || host === null || (host === "" && scheme in PORTS && scheme !== "file:")) throw fail(text);
  if (place[2] && Number(place[2]) > 65535) throw fail(text);
  const port = place[2] ? String(Number(place[2])) : "";
  const users = { username: encode(username, IN_USER), password: encode(password, IN_USER) };
  const made = path === "" && !(scheme in PORTS) ? [] : segments([], path);
  return { scheme, ...users, host, port: port === PORTS[scheme] ? "" : port, path: made, query: null, fragment: null };
}

/** @param {string} written @param {boolean} special @returns {string | null} null: it is none */
function hostOf(written, special) {
  if (written.startsWith("[")) return /^\[[0-9a-f:.]+\]$/i.test(written) ? written.toLowerCase() : null;
  if (!special) return FORBIDDEN_HOST.test(written) ? null : written;
  let host = "";
  try {
    host = decodeURIComponent(written).normalize("NFKC").toLowerCase().replace(/[\u3002\uff0e\uff61]/g, ".").replaceAll("\u00ad", "");
  } catch {
    return null;
  }
  if (FORBIDDEN_HOST.test(host)) return null;
  const ascii = host.split(".").map((label) => (/[^\0-\x7f]/.test(label) ? `xn--${punycode(label)}` : label)).join(".");
  return /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/.test(ascii) ? numberedHost(ascii) : ascii;
}

/** Parse `127.1`, `0x7f000001` and similar forms as four numbers. @param {string} host */
function numberedHost(host) {
  const parts = host.replace(/\.$/, "").split(".").map((part) => {
    if (/^0x[0-9a-f]*$/.test(part)) return parseInt(part.slice(2) || "0", 16);
    if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
    return /^[0-9]+$/.test(part) && !/^0[0-9]/.test(part) ? Number(part) : NaN;
  });
  const last = parts.pop() ?? NaN;
  const fits = parts.length < 4 && parts.every((part) => part < 256) && last < 256 ** (4 - parts.length);
  if (!fits) return null;
  const number = parts.reduce((sum, part, at) => sum + part * 256 ** (3 - at), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

/** Encode a host label with letters of other scripts (RFC 3492). @param {string} label */
function punycode(label) {
  const signs = [...label].map((sign) => /** @type {number} */ (sign.codePointAt(0)));
  const plain = signs.filter((code) => code < 128);
  let made = String.fromCodePoint(...plain) + (plain.length ? "-" : "");
  let [code, delta, bias, done] = [128, 0, 72, plain.length];
  while (done < signs.length) {
    const next = Math.min(...signs.filter((sign) => sign >= code));
    delta += (next - code) * (done + 1);
    code = next;
    for (const sign of signs) {
      if (sign < code) delta++;
      if (sign !== code) continue;
      made += variable(delta, bias);
      bias = adapted(delta, done + 1, done === plain.length);
      delta = 0;
      done++;
    }
    delta++;
    code++;
  }
  return made;
}

/** @param {number} delta @param {number} bias */
function variable(delta, bias) {
  const digit = (/** @type {number} */ value) => String.fromCharCode(value + (value < 26 ? 97 : 22));
  let made = "";
  for (let k = 36; ; k += 36) {
    const least = Math.min(Math.max(k - bias, 1), 26);
    if (delta < least) return made + digit(delta);
    made += digit(least + ((delta - least) % (36 - least)));
    delta = Math.floor((delta - least) / (36 - least));
  }
}

/** @param {number} delta @param {number} count @param {boolean} first */
function adapted(delta, count, first) {
  let left = Math.floor(delta / (first ? 700 : 2));
  left += Math.floor(left / count);
  let k = 0;
  for (; left > 455; k += 36) left = Math.floor(left / 35);
  return k + Math.floor((36 * left) / (left + 38));
}

export class Url {
  #parts;
  #params;

  /** @param {any} address @param {any} [base] */
  constructor(address, base) {
    this.#parts = parse(String(address), base === undefined ? null : parse(String(base), null));
    this.#params = new SearchParams(this.#parts.query ?? "");
    this.#params.changed = (/** @type {string} */ query) => { this.#parts = { ...this.#parts, query: query || null }; };
  }

  /** @param {any} address @param {any} [base] */
  static canParse(address, base) { return Url.parse(address, base) !== null; }
  /** @param {any} address @param {any} [base] */
  static parse(address, base) { try { return new Url(address, base); } catch { return null; } }

  get protocol() { return this.#parts.scheme; }
  get username() { return this.#parts.username; }
  get password() { return this.#parts.password; }
  get hostname() { return this.#parts.host ?? ""; }
  get port() { return this.#parts.port; }
  get host() { return this.hostname + (this.port && `:${this.port}`); }
  get search() { return this.#parts.query ? `?${this.#parts.query}` : ""; }
  get hash() { return this.#parts.fragment ? `#${this.#parts.fragment}` : ""; }
  get searchParams() { return this.#params; }
  get pathname() {
    const { path } = this.#parts;
    return typeof path === "string" ? path : path.map((part) => `/${part}`).join("");
  }
  get origin() {
    return this.protocol in PORTS && this.protocol !== "file:" ? `${this.protocol}//${this.host}` : "null";
  }
  get href() {
    const { scheme, username, password, host, query, fragment } = this.#parts;
    const login = username || password ? `${username}${password && `:${password}`}@` : "";
    const place = host === null ? "" : `//${login}${this.host}`;
    return scheme + place + this.pathname + (query === null ? "" : `?${query}`) + (fragment === null ? "" : `#${fragment}`);
  }

  set href(address) { this.#set(parse(String(address), null)); }
  set protocol(name) { this.#try(`${String(name).replace(/:[^]*$/, "")}:${this.href.slice(this.protocol.length)}`); }
  set hostname(name) { this.#try(this.#with({ host: String(name).replace(/[/?#][^]*$/, "") })); }
  set port(number) { this.#try(this.#with({ port: /^[0-9]*/.exec(String(number))?.[0] ?? "" })); }
  set host(place) {
    const [, name, port = this.port] = /^([^/?#:]*)(?::([0-9]*))?/.exec(String(place)) ?? [];
    this.#try(this.#with({ host: name, port }));
  }
  set username(name) { this.#set({ ...this.#parts, username: encode(String(name), IN_USER) }); }
  set password(word) { this.#set({ ...this.#parts, password: encode(String(word), IN_USER) }); }
  set pathname(path) {
    if (typeof this.#parts.path === "string") return;
    this.#set({ ...this.#parts, path: segments([], `/${encode(String(path).replace(/^[/\\]/, ""), /[?#]/gu)}`) });
  }
  set search(query) {
    const said = String(query).replace(/^\?/, "");
    this.#set({ ...this.#parts, query: said ? encode(said, IN_QUERY) : null });
  }
  set hash(fragment) {
    const said = String(fragment).replace(/^#/, "");
    this.#parts = { ...this.#parts, fragment: said ? encode(said, IN_FRAGMENT) : null };
  }

  /** @param {Partial<Parts>} changes @returns {string} */
  #with(changes) {
    const { scheme, username, password, host, port } = { ...this.#parts, ...changes };
    const login = username || password ? `${username}${password && `:${password}`}@` : "";
    return `${scheme}//${login}${host}${port && `:${port}`}${this.pathname}${this.search}${this.hash}`;
  }

  /** @param {string} address */
  #try(address) {
    try { this.#set(parse(address, null)); } catch { /* A part that is none changes nothing. */ }
  }

  /** @param {Parts} parts */
  #set(parts) {
    this.#parts = parts;
    this.#params.read(parts.query ?? "");
  }

  toString() { return this.href; }
  toJSON() { return this.href; }
}

export class SearchParams {
  /** @type {[string, string][]} */
  #pairs = [];

  /** @param {any} [from] */
  constructor(from = "") {
    /** @type {(query: string) => void} */
    this.changed = () => {};
    Object.defineProperty(this, "changed", { enumerable: false });
    if (typeof from === "string") this.read(from.replace(/^\?/, ""));
    else {
      const pairs = typeof from[Symbol.iterator] === "function" ? [...from] : Object.entries(from);
      this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
    }
  }

  /** @param {string} query */
  read(query) {
    this.#pairs = query.split("&").filter(Boolean).map((pair) => {
      const [, name, value = ""] = /** @type {RegExpExecArray} */ (/^([^=]*)=?([^]*)$/.exec(pair));
      return [unplus(name), unplus(value)];
    });
  }

  get size() { return this.#pairs.length; }
  /** @param {any} name */
  get(name) { return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null; }
  /** @param {any} name */
  getAll(name) { return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value); }
  /** @param {any} name @param {any} [value] */
  has(name, value) {
    return this.#pairs.some(([key, said]) => key === String(name) && (value === undefined || said === String(value)));
  }
  /** @param {any} name @param {any} value */
  append(name, value) { this.#change([...this.#pairs, [String(name), String(value)]]); }
  /** @param {any} name @param {any} [value] */
  delete(name, value) {
    this.#change(this.#pairs.filter(([key, said]) => key !== String(name) || (value !== undefined && said !== String(value))));
  }
  /** @param {any} name @param {any} value */
  set(name, value) {
    const first = this.#pairs.findIndex(([key]) => key === String(name));
    if (first < 0) return this.append(name, value);
    const others = this.#pairs.filter(([key], at) => key !== String(name) || at === first);
    return this.#change(others.map(([key, said]) => (key === String(name) ? [key, String(value)] : [key, said])));
  }
  sort() { this.#change([...this.#pairs].sort(([one], [two]) => (one < two ? -1 : one > two ? 1 : 0))); }
  /** @param {(value: string, name: string, params: SearchParams) => void} visit */
  forEach(visit) { for (const [name, value] of this.#pairs) visit(value, name, this); }
  entries() { return this.#pairs.map(([name, value]) => [name, value]).values(); }
  keys() { return this.#pairs.map(([name]) => name).values(); }
  values() { return this.#pairs.map(([, value]) => value).values(); }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map(([name, value]) => `${plus(name)}=${plus(value)}`).join("&"); }

  /** @param {[string, string][]} pairs */
  #change(pairs) {
    this.#pairs = pairs;
    this.changed(this.toString());
  }
}

/** @param {string} text */
const plus = (text) => encode(text, /[^*\-.0-9A-Z_a-z ]/gu).replace(/ /g, "+");

/** @param {string} text */
function unplus(text) {
  const spaced = text.replace(/\+/g, " ");
  return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try { return decodeURIComponent(bytes); } catch { return bytes; }
  });
}
