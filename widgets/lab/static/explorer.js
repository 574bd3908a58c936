// The explorer in the left sidebar: the connection, the indices and the crawlers of the active notebook.

import { button, fill, follow, freshId, h, setAttribute } from "../../kit/dom.js";
import { debounce, oneAtATime } from "../../kit/timing.js";
import { rowsInSight } from "../../kit/virtual.js";
import { Cancelled } from "./kernel.js";
import { rowsOf } from "./rows.js";

/** @typedef {import("../types").Row} Row */
/** @typedef {import("../types").Connection} Connection */
/** @typedef {import("./kernel.js").Kernels} Kernels */
/** @typedef {import("./kernel.js").KernelLink} KernelLink */

const ROW_HEIGHT = 24;
const POLL_MS = 2000; // while tasks are pending
const SETTLE_MS = 200; // after a cell has run
/** @type {Record<string, string>} */
const EXPLAINED = {
  starting: "Starting the kernel…",
  other: "This notebook's kernel is not a Python kernel.",
  missing: "The package svc-notebook is not installed in this kernel's environment.",
  unloaded: "The package is not loaded in this kernel.",
  dead: "The kernel has ended. Restart it to continue.",
};

/** The explorer's element and what it shows; `act` hears of keys and buttons on a row. */
export class Explorer {
  /**
   * @param {Kernels} kernels
   * @param {{menu: (place: {x: number, y: number}, row: HTMLElement) => void,
   *   changed: () => void, wants: () => boolean,
   *   askTrust: (place: import("../types").Untrusted) => Promise<boolean>, showOverview: () => void,
   *   openNotebook: () => Promise<void>, showFiles: () => void, newCrawler: () => void}} host
   */
  constructor(kernels, host) {
    this.kernels = kernels;
    this.host = host;
    this.visible = false;
    this.loadsPackage = false; // into the kernel of the notebook that "Connect" has opened
    /** @type {Connection | null} */
    this.connection = null;
    this.rights = "";
    this.error = "";
    /** What is shown is of this link and connection. */
    this.shownOf = "";
    /** @type {import("./rows.js").Known} */
    this.known = emptyKnown();
    /** @type {Row[]} */
    this.rows = [];
    this.active = "";
    /** @type {any} */
    this.timer = null;
    this.place = h("div", { class: "explorer-place" });
    this.message = h("div", { class: "explorer-message", role: "status" });
    this.filter = h("input", {
      class: "explorer-filter",
      type: "search",
      placeholder: "Filter indices and crawlers",
      "aria-label": "Filter indices and crawlers",
      on: {
        input: () => {
          this.known.filter = this.filter.value;
          this.draw();
        },
        keydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "ArrowDown") this.tree.focus();
        },
      },
    });
    this.overview = button("Overview of the service", () => this.host.showOverview(), {
      icon: "▤",
      bare: true,
      class: ["explorer-button"],
    });
    this.inner = h("div", { class: "explorer-rows", role: "presentation" });
    this.tree = h(
      "div",
      {
        class: "explorer-tree",
        role: "tree",
        tabindex: 0,
        "aria-label": "Indices and crawlers",
        on: {
          scroll: () => this.paint(),
          keydown: (/** @type {KeyboardEvent} */ event) => this.steer(event),
          focus: () => this.choose(this.active || (this.rows[0]?.key ?? "")),
        },
      },
      this.inner,
    );
    this.el = h(
      "div",
      { class: "explorer" },
      h(
        "div",
        { class: "explorer-head" },
        this.place,
        this.overview,
        button("Refresh", () => void this.refresh(), { icon: "↻", bare: true, class: ["explorer-button"] }),
      ),
      this.message,
      this.filter,
      this.tree,
    );
    this.id = freshId("explorer");
    this.refresh = oneAtATime(() => this.read());
    this.refreshSoon = debounce(() => void this.refresh(), SETTLE_MS);
    kernels.on((what) => {
      if (what === "executed" && !this.host.wants()) return;
      if (what === "executed") return this.refreshSoon();
      this.draw();
      if (what === "kernel" || !this.kernels.current?.busy) void this.refresh();
    });
    this.draw();
  }

  /** Called when the panel is shown, hidden or resized. @param {boolean} visible */
  show(visible) {
    const began = visible && !this.visible;
    this.visible = visible;
    if (began) void this.refresh();
    this.paint();
  }

  /** The connection and the pending tasks as one line; empty without a connection. */
  get summary() {
    if (this.kernels.current?.state !== "ready" || !this.connection?.connected) return "";
    const pending = this.known.indices.reduce((sum, entry) => sum + entry.pending, 0);
    const tasks = pending ? ` · ${pending} pending` : "";
    return `Search: ${this.connection.profile ?? this.connection.application}${tasks}`;
  }

  /** The row that actions are about. */
  get current() {
    return this.rows.find((row) => row.key === this.active) ?? null;
  }

  /** Read everything that is shown; what is closed is read when it is opened. */
  async read() {
    clearTimeout(this.timer);
    const link = this.kernels.current;
    if (!link?.answers) return this.draw();
    try {
      const indices = link.call("read_indices"); // at once: both questions are one wait
      indices.catch(() => {}); // told below, unless there is no connection
      const connection = /** @type {Connection} */ (await link.call("read_connection"));
      if (link !== this.kernels.current) return;
      const of = `${link.kernel.id} ${connection.id ?? ""}`;
      if (of !== this.shownOf) this.forget(of);
      this.connection = connection;
      this.error = "";
      if (connection.connected) await this.readContents(link, await indices);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.error = textOf(error);
    }
    this.draw();
  }

  /** @param {KernelLink} link @param {import("../types").IndexEntry[]} indices */
  async readContents(link, indices) {
    if (this.visible && !this.rights) void this.readRights(link);
    if (link !== this.kernels.current) return;
    this.known.indices = indices;
    this.known.read = true;
    const { most } = this.known;
    for (const { name, pending } of indices)
      if (pending) most.set(name, Math.max(pending, most.get(name) ?? 0));
      else most.delete(name);
    if (most.size) this.timer = setTimeout(() => void this.refresh(), POLL_MS);
    this.draw();
    if (!this.visible) return;
    const open = [...this.known.contents.keys()].filter((name) => this.known.open.has(`index:${name}`));
    await Promise.all(open.map((name) => this.readIndex(link, name)));
    if (this.known.open.has("crawlers")) await this.readCrawlers(link);
  }

  /** @param {KernelLink} link */
  async readRights(link) {
    this.rights = "…";
    try {
      const found = await link.call("read_rights");
      const restrictions = found.restrictions && Object.keys(found.restrictions).length;
      this.rights = found.rights?.join(", ") ?? (restrictions ? "a secured key" : "");
    } catch (error) {
      if (error instanceof Cancelled) this.rights = "";
      else this.rights = `unknown: ${textOf(error)}`;
    }
    this.draw();
  }

  /** @param {KernelLink} link @param {string} index */
  async readIndex(link, index) {
    try {
      const content = await link.call("read_index", { index });
      this.known.contents.set(index, content);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.known.contents.set(index, textOf(error));
    }
    this.draw();
  }

  /** @param {KernelLink} link */
  async readCrawlers(link) {
    try {
      this.known.crawlers = await link.call("read_crawlers");
    } catch (error) {
      if (!(error instanceof Cancelled)) this.known.crawlers = textOf(error);
    }
    this.draw();
  }

  /** Forget what belongs to another kernel or connection. @param {string} of */
  forget(of) {
    this.shownOf = of;
    this.connection = null;
    this.rights = "";
    this.known = { ...emptyKnown(), filter: this.filter.value };
  }

  /** Connect, and ask first whether the address of a project's file may receive the key. @param {string} profile */
  async connect(profile) {
    this.say(`Connecting to ${profile}…`);
    try {
      const connection = await this.kernels.current?.call("connect", { profile });
      if (connection?.untrusted && (await this.host.askTrust(connection.untrusted)))
        await this.kernels.current?.call("connect", { profile, trust: connection.untrusted.folder });
      this.say("");
      await this.refresh();
    } catch (error) {
      this.error = textOf(error);
      this.draw();
    }
  }

  /** Open a notebook whose kernel has the package; the choice of a connection follows. */
  async connectInNotebook() {
    this.loadsPackage = true;
    this.say("Opening a notebook…");
    await this.host.openNotebook();
  }

  draw() {
    const link = this.kernels.current;
    const ready = link?.state === "ready";
    if (!ready) this.forget("");
    const connected = Boolean(ready && this.connection?.connected);
    this.drawPlace(connected);
    this.drawMessage(link);
    this.tree.hidden = this.filter.hidden = !connected;
    this.rows = connected ? rowsOf(this.known) : [];
    if (!this.rows.some((row) => row.key === this.active)) this.active = "";
    this.paint();
    this.host.changed();
  }

  /** @param {boolean} connected */
  drawPlace(connected) {
    this.overview.hidden = !connected;
    if (!connected || !this.connection) return fill(this.place, h("strong", {}, "Search service"));
    const { profile, application, address } = this.connection;
    const rights = this.rights ? h("span", { class: "explorer-dim", title: this.rights }, `rights: ${this.rights}`) : null;
    fill(
      this.place,
      h("strong", {}, profile ? `${profile} · ${application}` : `${application}`),
      h("span", { class: "explorer-dim", title: address }, address),
      rights,
    );
  }

  /** @param {KernelLink | null} link */
  drawMessage(link) {
    /** @param {string} label @param {() => void} act */
    const offer = (label, act) => button(label, act, { class: ["explorer-button", "main"] });
    if (!link)
      return fill(
        this.message,
        "Open a notebook to see the service that it is connected to.",
        offer("Connect in a new notebook", () => void this.connectInNotebook()),
      );
    if (link.state === "unloaded" && this.loadsPackage) {
      this.loadsPackage = false;
      void link.load();
    }
    if (link.busy && !link.answers)
      return fill(this.message, "The kernel is busy. The list is read again when the cell has run.");
    if (link.state !== "ready") {
      const load = link.state === "unloaded" ? offer("Load the extension here", () => void link.load()) : null;
      return fill(this.message, EXPLAINED[link.state], load);
    }
    if (this.error) return fill(this.message, h("span", { class: "explorer-error" }, this.error), offer("Try again", () => void this.refresh()));
    if (this.connection && !this.connection.connected)
      return fill(
        this.message,
        "This kernel is not connected to a service.",
        (this.connection.profiles ?? []).map((name) => offer(`Connect to ${name}`, () => void this.connect(name))),
      );
    if (!this.connection) return fill(this.message, "Reading…");
    if (link.busy) return fill(this.message, "The kernel is busy.");
    this.drawNone(offer);
  }

  /** Say what an empty list lacks, with its next step. @param {(label: string, act: () => void) => Node} offer */
  drawNone(offer) {
    const { read, indices, filter } = this.known;
    if (!read) return fill(this.message, null);
    if (!indices.length)
      return fill(this.message, "There is no index yet.", offer("Choose a file to load", () => this.host.showFiles()));
    const matches = !filter.trim() || rowsOf(this.known).length > 0;
    fill(this.message, matches ? null : ["No index or crawler matches the filter.", offer("Clear the filter", () => this.clearFilter())]);
  }

  clearFilter() {
    this.filter.value = this.known.filter = "";
    this.draw();
    this.filter.focus();
  }

  /** @param {string} text */
  say(text) {
    fill(this.message, text);
  }

  /** Draw the rows that are in sight. */
  paint() {
    const height = this.tree.clientHeight || 400;
    const { first, last } = rowsInSight(this.tree.scrollTop, height, ROW_HEIGHT, this.rows.length);
    this.inner.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    follow(
      this.inner,
      this.rows.slice(first, last),
      (row) => row.key,
      (row, old, place) => this.drawRow(row, old ?? makeRow(this), first + place),
    );
    const shown = this.active ? this.rowElement(this.active) : null;
    setAttribute(this.tree, "aria-activedescendant", shown?.id);
  }

  /** @param {Row} row @param {HTMLElement} el @param {number} place */
  drawRow(row, el, place) {
    el.className = `svc-row-${row.kind} svc-explorer-row`;
    el.id = `${this.id}-${row.key}`;
    el.style.transform = `translateY(${place * ROW_HEIGHT}px)`;
    el.style.paddingInlineStart = `${row.level * 12 - 6}px`;
    el.draggable = Boolean(row.name);
    el.title = row.hint ?? row.label;
    setAttribute(el, "data-kind", row.kind);
    setAttribute(el, "aria-level", row.level);
    setAttribute(el, "aria-selected", row.key === this.active ? "true" : "false");
    setAttribute(el, "aria-expanded", row.open === undefined ? null : String(row.open));
    const [mark, label, detail, more] = /** @type {HTMLElement[]} */ ([...el.children]);
    mark.textContent = row.open === undefined ? "" : row.open ? "▾" : "▸";
    label.textContent = row.label;
    detail.textContent = row.detail ?? "";
    more.hidden = !["index", "crawler"].includes(row.kind);
    setAttribute(more, "aria-label", `Actions of ${row.label}`);
    el.style.setProperty("--svc-progress", row.progress === undefined ? "0" : String(row.progress));
    el.classList.toggle("svc-pending", row.progress !== undefined);
    return el;
  }

  /** @param {string} key @returns {HTMLElement | null} */
  rowElement(key) {
    const rows = /** @type {HTMLElement[]} */ ([...this.inner.children]);
    return rows.find((el) => el.dataset.key === key) ?? null;
  }

  /** Make a row the one that keys and actions are about. @param {string} key */
  choose(key) {
    this.active = key;
    const place = this.rows.findIndex((row) => row.key === key);
    const [top, bottom] = [place * ROW_HEIGHT, (place + 1) * ROW_HEIGHT];
    const { scrollTop, clientHeight } = this.tree;
    if (place >= 0 && top < scrollTop) this.tree.scrollTop = top;
    else if (place >= 0 && bottom > scrollTop + clientHeight) this.tree.scrollTop = bottom - clientHeight;
    this.paint();
    this.host.changed();
  }

  /** Do what a click on a row does. @param {Row} row */
  activate(row) {
    if (row.kind === "action") this.host.newCrawler();
    else this.toggle(row);
  }

  /** Open or close a row. @param {Row} row @param {boolean} [open] */
  toggle(row, open = !row.open) {
    if (row.open === undefined || row.open === open) return;
    if (open) this.known.open.add(row.key);
    else this.known.open.delete(row.key);
    this.draw();
    const link = this.kernels.current;
    if (!open || !link?.answers) return;
    if (row.kind === "index") void this.readIndex(link, row.label);
    if (row.key === "crawlers") void this.readCrawlers(link);
  }

  /** @param {KeyboardEvent} event */
  steer(event) {
    const at = this.rows.findIndex((row) => row.key === this.active);
    const row = this.rows[at];
    const page = Math.max(1, Math.floor(this.tree.clientHeight / ROW_HEIGHT) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.rows.length - 1 };
    if (event.key in steps) this.goTo(steps[event.key]);
    else if (!row) return;
    else if (event.key === "ArrowRight") row.open === false ? this.toggle(row, true) : row.open && this.goTo(at + 1);
    else if (event.key === "ArrowLeft") row.open ? this.toggle(row, false) : this.goTo(parentOf(this.rows, at));
    else if (event.key === "Enter" || event.key === " ") this.activate(row);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.openMenu(row.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} place */
  goTo(place) {
    const row = this.rows[Math.max(0, Math.min(place, this.rows.length - 1))];
    if (row) this.choose(row.key);
  }

  /** @param {string} key */
  openMenu(key) {
    this.choose(key);
    const el = this.rowElement(key);
    if (!el) return;
    const { left, bottom } = el.getBoundingClientRect();
    this.host.menu({ x: left + 24, y: bottom }, el);
  }
}

/** @returns {import("./rows.js").Known} */
function emptyKnown() {
  return { read: false, indices: [], contents: new Map(), most: new Map(), crawlers: null, open: new Set(), filter: "" };
}

/** @param {Explorer} explorer */
function makeRow(explorer) {
  const find = () => explorer.rows.find((row) => row.key === el.dataset.key);
  const el = h(
    "div",
    {
      role: "treeitem",
      on: {
        click: () => {
          const row = find();
          if (!row) return;
          explorer.choose(row.key);
          explorer.activate(row);
        },
        contextmenu: () => explorer.choose(el.dataset.key ?? ""),
        dragstart: (/** @type {DragEvent} */ event) => {
          event.dataTransfer?.setData("text/plain", find()?.name ?? "");
          if (event.dataTransfer) event.dataTransfer.effectAllowed = "copy";
        },
      },
    },
    h("span", { class: "row-mark", "aria-hidden": true }),
    h("span", { class: "row-label" }),
    h("span", { class: "row-detail" }),
    button(
      "Actions",
      (event) => {
        event.stopPropagation();
        explorer.openMenu(el.dataset.key ?? "");
      },
      { icon: "⋯", bare: true, class: ["row-more"], tabindex: -1 },
    ),
  );
  return el;
}

/** @param {Row[]} rows @param {number} at */
function parentOf(rows, at) {
  for (let place = at - 1; place >= 0; place -= 1) if (rows[place].level < rows[at].level) return place;
  return at;
}

/** @param {unknown} error */
export function textOf(error) {
  const { message, advice } = /** @type {{message: string, advice?: string}} */ (error);
  return advice ? `${message}. ${advice}` : message;
}
