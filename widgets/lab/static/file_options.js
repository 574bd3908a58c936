// The options of a file's load in its dialog: how the file is read, and which columns are sent.

import { field, fill, freshId, h } from "../../kit/dom.js";

/** The values of the fields that are set, by the name of the option. @typedef {Record<string, any>} LoadOptions */

const DELIMITED = /\.(csv|tsv)$/i;
const JSON_FILE = /\.json$/i;
const WORKBOOK = /\.(xlsx|xlsm)$/i;
const SEPARATORS = [
  [",", "comma"],
  [";", "semicolon"],
  ["\t", "tab"],
  ["|", "|"],
  ["^", "^"],
  ["~", "~"],
  [":", "colon"],
  [" ", "blanks"],
];
const ENCODINGS = [
  "utf-8", "utf-16", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "iso8859_2", "cp932", "gb18030", "big5",
  "cp949",
];
const HEADERS = [
  ["none", "no header"],
  ["1", "1 row"],
  ["2", "2 rows"],
  ["3", "3 rows"],
];
const AUTOMATIC = "automatic";
const MAX_SHOWN_COLUMNS = 6;

/** The fold with the fields that a kind of file has. */
export class FileOptions {
  /** @param {string} name of the file @param {{settled: () => void, typing: () => void}} on */
  constructor(name, on) {
    const text = (/** @type {any} */ props) =>
      h("input", { class: "file-input", placeholder: AUTOMATIC, spellcheck: "false", autocomplete: "off", on: { input: on.typing }, ...props });
    const choice = (/** @type {string[][]} */ values) =>
      h(
        "select",
        { class: "file-input", on: { change: on.settled } },
        h("option", { value: "" }, AUTOMATIC),
        values.map(([value, label]) => h("option", { value }, label)),
      );
    const encodings = h("datalist", { id: freshId("encodings") }, ENCODINGS.map((value) => h("option", { value })));
    this.separator = choice(SEPARATORS);
    this.header = choice(HEADERS);
    this.encoding = text({ list: encodings.id });
    this.skip = text({ type: "number", min: 0, step: 1 });
    this.comment = text({ maxlength: 1 });
    this.sheet = text({ placeholder: "first visible" });
    this.path = text({ placeholder: "none" });
    this.strict = h("input", { type: "checkbox", on: { change: on.settled } });
    this.columns = h("select", { class: ["file-input", "file-columns"], multiple: true, on: { change: on.settled } });
    /** @type {string} */
    this.read = "";
    const header = field("Header", this.header);
    const skip = field("Lines to skip", this.skip);
    /** @type {HTMLElement[]} */
    let own = [];
    if (DELIMITED.test(name))
      own = [
        field("Separator", this.separator), field("Encoding", this.encoding), header, skip,
        field("Comment character", this.comment, "Lines that begin with it are skipped."),
        this.strictField(),
      ];
    else if (WORKBOOK.test(name)) own = [field("Sheet", this.sheet), header, skip];
    else if (JSON_FILE.test(name)) own = [field("Path of the list", this.path, "For example data.items")];
    if (WORKBOOK.test(name)) fill(this.header, [...this.header.children].filter((each) => !["2", "3"].includes(/** @type {HTMLOptionElement} */ (each).value)));
    this.el = h(
      "details",
      { class: "file-options" },
      h("summary", {}, "Options"),
      h("div", { class: "file-fields" }, own, field("Columns to send", this.columns, "All, unless some are selected.")),
      encodings,
    );
  }

  strictField() {
    this.strict.id = freshId("strict");
    return h(
      "div",
      { class: "file-check" },
      this.strict,
      h("label", { for: this.strict.id }, "Reject rows that differ from the header"),
    );
  }

  /** The options that are set. @returns {LoadOptions} */
  get values() {
    const reading = this.reading();
    // The columns of a file depend on how it is read.
    if (this.read !== JSON.stringify(reading)) for (const option of this.columns.options) option.selected = false;
    const columns = [...this.columns.selectedOptions].map(({ value }) => value);
    return columns.length ? { ...reading, columns } : reading;
  }

  /** How the file is read. @returns {LoadOptions} */
  reading() {
    /** @type {LoadOptions} */
    const found = {};
    const { separator, encoding, comment, sheet, path } = this;
    for (const [name, { value }] of Object.entries({ separator, encoding, comment, sheet, path }))
      if (value) found[name] = name === "separator" || name === "comment" ? value : value.trim();
    if (this.skip.value) found.skip = Number(this.skip.value);
    if (this.header.value === "none") found.header = false;
    else if (this.header.value) found.header_rows = Number(this.header.value);
    if (this.strict.checked) found.strict = true;
    return found;
  }

  /** Offer the columns of a plan that was made with these options. @param {string[]} names @param {LoadOptions} planned */
  offer(names, planned) {
    if (planned.columns) return;
    const { columns: _, ...reading } = planned;
    this.read = JSON.stringify(reading);
    fill(this.columns, names.map((name) => h("option", { value: name }, name)));
    this.columns.size = Math.min(Math.max(names.length, 2), MAX_SHOWN_COLUMNS);
  }
}
