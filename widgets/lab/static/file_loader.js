// The dialog that loads a file into an index: the plan, then the progress, then the result.

import { drawCode } from "../../kit/code_text.js";
import { button, field, fill, freshId, h } from "../../kit/dom.js";
import { debounce, oneAtATime } from "../../kit/timing.js";
import { textOf } from "./explorer.js";
import { FileOptions } from "./file_options.js";
import { FileProposals } from "./file_proposals.js";
import { Cancelled, KernelLink } from "./kernel.js";

/** @typedef {import("../types").Connection} Connection */
/** @typedef {import("../types").FilePlan} FilePlan */
/** @typedef {import("../types").FileResult} FileResult */
/** @typedef {import("./kernel.js").Kernels} Kernels */

/** @typedef {{index: string, id: string, if_exists: string, options: import("./file_options.js").LoadOptions, settings: Record<string, string[]>}} LoadChoices */

/** Names of files that a load can read. */
export const SUFFIXES = /\.(csv|tsv|ndjson|jsonl|json|parquet|xlsx|xlsm)$/i;
const SETTLE_MS = 400;
/** Columns of numbers in the tables of a plan. */
const NUMBERS = new Set(["missing", "refused", "row"]);
const EXISTING = [
  ["append", "append: add and overwrite"],
  ["merge", "merge: send what differs"],
  ["replace", "replace: all records"],
  ["fail", "fail: send nothing"],
];
/** What happens to attributes of existing records that the rows do not have. */
const LACKING = [
  ["", "choose…"],
  ["update", "update: keep them, change only those of the rows"],
  ["replace", "replace: delete them"],
];
/** Choices of EXISTING that replace single records. */
const REPLACES_RECORDS = new Set(["append", "merge"]);

/**
 * Open the dialog. The kernel is the active notebook's where it is connected, else one of the
 * dialog's own, which ends with it.
 * `openEditor` opens the query editor of an index, in the active notebook or in a new one.
 * @param {{app: any, kernels: Kernels | null, file: string, name: string, done: () => void,
 *   openEditor: (index: string, profile: string) => Promise<void>}} options
 */
export async function openFileLoader({ app, kernels, file, name, done, openEditor }) {
  const dialog = new FileDialog(name);
  let link = kernels?.current ?? null;
  /** @type {any} */
  let own = null;
  try {
    if (!link?.answers) {
      dialog.say("Starting a kernel…");
      ({ link, own } = await startKernel(app));
    }
    if (!dialog.el.isConnected || !link) return;
    let connection = /** @type {Connection} */ (await link.call("read_connection"));
    if (!connection.connected) {
      const profile = await dialog.chooseProfile(connection.profiles ?? []);
      if (!profile) return;
      dialog.say(`Connecting to ${profile}…`);
      connection = await link.call("connect", { profile });
    }
    const index = await dialog.run(link, connection, file);
    if (index) {
      dialog.close();
      await openEditor(index, connection.profile ?? "");
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) await dialog.fail(textOf(error));
  } finally {
    dialog.close();
    if (own) {
      link?.dispose();
      await own.shutdown().catch(() => {});
    }
    done();
  }
}

/** The path of a file for a kernel on the server's machine. @param {string} root @param {string} path */
export const fullPath = (root, path) => (root ? `${root.replace(/\/$/, "")}/${path}` : path);

/** Start a kernel of the dialog's own and load the package into it. @param {any} app */
async function startKernel(app) {
  const { serverSettings } = app.serviceManager;
  const { kernelspecs, kernels } = app.serviceManager;
  await kernelspecs.ready;
  const own = await kernels.startNew({ name: kernelspecs.specs?.default });
  // A closed tab runs no further code: the request that ends the kernel outlives the page.
  const end = () => {
    const [, token] = /\b_xsrf=([^;]*)/.exec(document.cookie) ?? [];
    const headers = {
      ...(token && { "X-XSRFToken": token }),
      ...(serverSettings.token && { Authorization: `token ${serverSettings.token}` }),
    };
    void fetch(`${serverSettings.baseUrl}api/kernels/${own.id}`, { method: "DELETE", keepalive: true, headers });
  };
  window.addEventListener("pagehide", end);
  own.disposed.connect(() => window.removeEventListener("pagehide", end));
  /** @type {() => void} */
  let settle = () => {};
  const settled = new Promise((done) => (settle = () => done(null)));
  const link = new KernelLink(own, () => link.state !== "starting" && settle());
  await settled;
  if (link.state === "unloaded") await link.load();
  if (link.state === "ready") return { link, own };
  link.dispose();
  await own.shutdown();
  throw new Error("The default kernel has no svc-notebook; open a notebook whose kernel has it.");
}

class FileDialog {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.abort = new AbortController();
    this.body = h("div", { class: "file-body" });
    this.note = h("div", { class: "file-note", role: "status" });
    this.buttons = h("div", { class: "file-buttons" });
    const heading = h("h2", { id: freshId("load") }, `Load ${name} into an index`);
    this.el = h("dialog", { class: "file-dialog", "aria-labelledby": heading.id }, heading, this.body, this.note, this.buttons);
    this.closed = new Promise((done) => this.el.addEventListener("close", () => done(null)));
    this.el.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(this.el);
    this.el.showModal();
    this.offer([this.cancelButton("Cancel")]);
  }

  close() {
    this.abort.abort();
    this.el.close();
    this.el.remove();
  }

  /** @param {string} text */
  say(text) {
    fill(this.note, text);
  }

  /** @param {HTMLButtonElement[]} buttons */
  offer(buttons) {
    fill(this.buttons, buttons);
  }

  /** @param {string} label */
  cancelButton(label) {
    return action(label, () => this.el.close());
  }

  /** Tell of a failure and wait until it is read. @param {string} text */
  async fail(text) {
    fill(this.note, h("span", { class: "explorer-error" }, text));
    this.offer([this.cancelButton("Close")]);
    await this.closed;
  }

  /** @param {string[]} profiles @returns {Promise<string | null>} */
  async chooseProfile(profiles) {
    const choice = h("select", { class: "file-input" }, profiles.map((name) => h("option", { value: name }, name)));
    fill(this.body, field("Connect to", choice, "The kernel is not connected to a service."));
    this.say("");
    const chosen = new Promise((done) => {
      this.offer([action("Connect", () => done(choice.value), true), this.cancelButton("Cancel")]);
    });
    choice.focus();
    return /** @type {Promise<string | null>} */ (Promise.race([chosen, this.closed]));
  }

  /**
   * Show the plan until it is confirmed, then load; return the index whose editor is to be opened.
   * @param {KernelLink} link @param {Connection} connection @param {string} file
   * @returns {Promise<string>}
   */
  async run(link, connection, file) {
    const options = await this.plan(link, connection, file);
    if (!options) return "";
    const result = await this.load(link, file, options);
    return result && (await this.show(result, options.index)) ? options.index : "";
  }

  /**
   * @param {KernelLink} link @param {Connection} connection @param {string} path
   * @returns {Promise<LoadChoices | null>}
   */
  async plan(link, connection, path) {
    const stem = this.name.replace(SUFFIXES, "");
    const index = h("input", { class: "file-input", value: stem, spellcheck: "false" });
    const id = h("select", { class: "file-input" }, h("option", { value: "" }, "automatic"));
    const exists = h("select", { class: "file-input" }, EXISTING.map(([value, label]) => h("option", { value }, label)));
    const lacking = h("select", { class: "file-input" }, LACKING.map(([value, label]) => h("option", { value }, label)));
    const lackingField = h("div", { hidden: true }, field("Attributes that the rows lack", lacking));
    const shown = h("div", { class: "file-plan" });
    const options = new FileOptions(this.name, {
      settled: () => void read(),
      typing: () => {
        load.disabled = true;
        readSoon();
      },
    });
    const proposals = new FileProposals(() => void read());
    const place = `${connection.profile ? `${connection.profile} · ` : ""}${connection.application} at ${connection.address}`;
    fill(
      this.body,
      h("p", { class: "file-place" }, `Service: ${place}`),
      h("div", { class: "file-fields" }, field("Index", index), field("objectID", id), field("If the index exists", exists)),
      lackingField,
      options.el,
      proposals.el,
      shown,
    );
    const load = action("Load", () => confirm(), true);
    load.disabled = true;
    this.offer([load, this.cancelButton("Cancel")]);
    index.focus();
    index.select();
    /** @type {(confirmed: any) => void} */
    let settle = () => {};
    const confirmed = new Promise((done) => (settle = done));
    /** @type {Omit<LoadChoices, "if_exists" | "settings">} */
    let planned = { index: "", id: "", options: {} };
    // What is loaded is what the plan shows.
    const confirm = () => {
      const given = lackingField.hidden ? {} : lacking.value === "update" ? { action: "update" } : { replace_records: true };
      settle({ ...planned, options: { ...planned.options, ...given }, if_exists: exists.value, settings: proposals.settings });
    };
    /** @type {FilePlan | null} */
    let plan = null;
    // A load that deletes attributes starts only after a choice.
    const offerLoad = () => {
      const asks = !!plan?.deletedAttributes.length && REPLACES_RECORDS.has(exists.value);
      lackingField.hidden = !asks;
      // A merge compares whole records.
      if (asks && lacking.value === "update") exists.value = "append";
      load.disabled = !plan?.sendable || (asks && !lacking.value);
    };
    lacking.addEventListener("change", offerLoad);
    exists.addEventListener("change", offerLoad);
    const read = oneAtATime(async () => {
      plan = null;
      offerLoad();
      if (!index.value.trim()) return this.say("Name the index.");
      this.say("Reading the file…");
      try {
        const args = { index: index.value, id: id.value, options: options.values };
        const accepted = proposals.accepted;
        plan = /** @type {FilePlan} */ (await link.call("plan_file", { path, ...args, accepted }, { signal: this.abort.signal }));
        planned = { ...args, options: plan.options };
        proposals.show(plan.proposals);
        fill(shown, planNodes(plan, args.index));
        const names = plan.columns.map(({ column }) => column);
        options.offer(names, args.options);
        if (!args.options.columns) offerIds(id, names);
        fill(load, h("span", {}, `Load ${count(plan.sendable, "row")}`));
        offerLoad();
        this.say("Nothing has been sent yet.");
      } catch (error) {
        if (error instanceof Cancelled) return;
        fill(shown);
        fill(this.note, h("span", { class: "explorer-error" }, textOf(error)));
      }
    });
    const readSoon = debounce(() => void read(), SETTLE_MS);
    index.addEventListener("input", () => {
      load.disabled = true;
      readSoon();
    });
    id.addEventListener("change", () => void read());
    void read();
    const answer = await Promise.race([confirmed, this.closed]);
    readSoon.cancel();
    return answer;
  }

  /**
   * @param {KernelLink} link @param {string} path @param {LoadChoices} options
   * @returns {Promise<FileResult | null>}
   */
  async load(link, path, options) {
    const stop = new AbortController();
    const bar = h("progress", { class: "file-progress", "aria-label": "Rows sent" });
    const cancel = action("Stop the load", () => {
      cancel.disabled = true;
      stop.abort();
    });
    fill(this.body, bar);
    this.say("Sending…");
    this.offer([cancel]);
    cancel.focus();
    // Escape stops the load and leaves the dialog open for what was sent.
    this.el.addEventListener("cancel", (event) => {
      if (stop.signal.aborted || bar.isConnected) event.preventDefault();
      if (bar.isConnected) stop.abort();
    });
    const onProgress = (/** @type {import("../../types").Progress} */ { done, total, text }) => {
      bar.max = total;
      bar.value = done;
      this.say(text || `${done.toLocaleString("en")} of ${count(total, "row")} sent`);
    };
    try {
      return await link.call("load_file", { path, ...options }, { signal: stop.signal, onProgress });
    } finally {
      bar.remove();
    }
  }

  /** @param {FileResult} result @param {string} index */
  async show(result, index) {
    const seconds = result.seconds.toFixed(1);
    const told = result.stopped ?? `${count(result.published, "row")} published in ${index} in ${seconds} s.`;
    const unchanged = result.unchanged ? h("p", {}, `${count(result.unchanged, "row")} unchanged.`) : null;
    const settings = result.settings?.length ? h("p", {}, `Set: ${result.settings.join(", ")}.`) : null;
    fill(this.body, h("p", { class: "file-told" }, told), settings, unchanged, rejectedNodes(result));
    this.say("");
    const close = this.cancelButton("Close");
    const opened = new Promise((done) => {
      const open = action("Open in the query editor", () => done(true), true);
      this.offer(result.published + (result.unchanged ?? 0) ? [open, close] : [close]);
    });
    /** @type {HTMLElement} */ (this.buttons.firstElementChild).focus();
    return Promise.race([opened, this.closed]);
  }
}

/** Offer the columns of a file as the id, and keep the one that is chosen. @param {HTMLSelectElement} id @param {string[]} names */
function offerIds(id, names) {
  const chosen = id.value;
  const kept = chosen && !names.includes(chosen) ? [chosen, ...names] : names;
  fill(id, h("option", { value: "" }, "automatic"), kept.map((name) => h("option", { value: name }, name)));
  id.value = chosen;
}

/** @param {string} label @param {() => void} act @param {boolean} [main] */
function action(label, act, main = false) {
  return button(label, act, { class: ["explorer-button", main && "main"] });
}

/** @param {number} number @param {string} noun */
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** @param {FilePlan} plan @param {string} index */
function planNodes(plan, index) {
  const exists = plan.records === null ? `${index} does not exist yet.` : `${index} exists, with ${count(plan.records, "record")}.`;
  return [
    h("p", {}, `${count(plan.rows, "row")}, objectID: `, drawCode(plan.ids), `. ${exists}`),
    table("Columns", plan.columns.map(nameTypes)),
    plan.notes.length ? h("ul", {}, plan.notes.map((note) => h("li", {}, drawCode(note)))) : null,
    rejectedNodes(plan),
    plan.sample.length ? sampleNodes(plan) : null,
  ];
}

/** The first records; with accepted proposals, before and after them. @param {FilePlan} plan */
function sampleNodes({ sample, before }) {
  const texts = before ? [["Before the proposals", before], ["After", sample]] : [["", sample]];
  return h(
    "details",
    { open: Boolean(before) },
    h("summary", {}, "First records"),
    texts.flatMap(([label, records]) => [label && h("p", {}, String(label)), h("pre", {}, /** @type {string[]} */ (records).join("\n"))]),
  );
}

/** What a user calls the types of columns; the first that matches. @type {[RegExp, string][]} */
const TYPES = [
  [/\[\]$|^list|array/i, "list"],
  [/^struct|^map|^object|^json/i, "object"],
  [/^bool/i, "yes or no"],
  [/int/i, "whole number"],
  [/^double|^float|^decimal|^real|^num/i, "number"],
  [/^timestamp|^datetime/i, "date and time"],
  [/^date/i, "date"],
  [/^time/i, "time"],
  [/^varchar|^str|^text|^enum|^uuid/i, "text"],
];
/** @param {string} type */
const nameType = (type) => TYPES.find(([form]) => form.test(type))?.[1] ?? type;
/** @param {Record<string, string>} row */
const nameTypes = (row) => ({ ...row, type: nameType(row.type), "sent as": nameType(row["sent as"]) });

/** @param {{rejectedRows: number, rejected: Record<string, string>[]}} found */
function rejectedNodes({ rejectedRows, rejected }) {
  if (!rejectedRows) return h("p", {}, "No row was rejected.");
  const more = rejectedRows > rejected.length ? `, of which ${rejected.length} are shown` : "";
  return h("div", {}, h("p", {}, `${count(rejectedRows, "row")} cannot be sent${more}:`), table("Rejected rows", rejected));
}

/** @param {string} label @param {Record<string, string>[]} rows */
function table(label, rows) {
  const names = Object.keys(rows[0] ?? {});
  /** @param {string} name */
  const kind = (name) => (NUMBERS.has(name) ? "number" : null);
  const hint = h("p", { class: "file-hint", hidden: true });
  const region = h(
    "div",
    { class: "file-table", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      { "aria-label": label },
      h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: kind(name) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, names.map((name) => h("td", { class: kind(name) }, row[name]))))),
    ),
  );
  // Whether rows or columns are out of sight is known once the table is laid out.
  new ResizeObserver(() => {
    const isLong = region.scrollHeight > region.clientHeight;
    const isWide = region.scrollWidth > region.clientWidth;
    hint.hidden = !isLong && !isWide;
    fill(hint, `${count(rows.length, "row")}; scroll for ${isLong && isWide ? "more rows and columns" : isLong ? "more rows" : "more columns"}.`);
  }).observe(region);
  return h("div", {}, region, hint);
}
