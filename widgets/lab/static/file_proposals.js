// What the plan of a load proposes: options of columns and index settings, each with a check box.

import { drawCode } from "../../kit/code_text.js";
import { button, fill, freshId, h } from "../../kit/dom.js";

/** @typedef {import("../types").FileProposal} FileProposal */

export class FileProposals {
  /** @param {() => void} changed called when an option was accepted or left out */
  constructor(changed) {
    this.changed = changed;
    /** @type {FileProposal[]} */
    this.proposals = [];
    /** The keys of the accepted ones. @type {Set<string>} */
    this.keys = new Set();
    this.list = h("ul", { class: "file-proposals" });
    this.all = button("Take all", () => this.takeAll(), { class: ["explorer-button"] });
    this.el = h(
      "section",
      { "aria-label": "Proposals", hidden: true },
      h("div", { class: "file-proposals-head" }, h("strong", {}, "Proposals"), this.all),
      this.list,
    );
  }

  /** The keys of the accepted options of columns. */
  get accepted() {
    return this.proposals.filter((proposal) => !proposal.setting && this.keys.has(proposal.key)).map(({ key }) => key);
  }

  /** The accepted settings. @returns {Record<string, string[]>} */
  get settings() {
    return Object.fromEntries(this.proposals.filter(({ setting, key }) => setting && this.keys.has(key)).map(({ setting, value }) => [setting, value]));
  }

  /** Show the proposals of a plan; an accepted one that is proposed again stays so. @param {FileProposal[]} proposals */
  show(proposals) {
    const focused = /** @type {HTMLInputElement | null} */ (document.activeElement)?.value;
    this.proposals = proposals;
    this.el.hidden = !proposals.length;
    fill(this.list, proposals.map((proposal) => this.draw(proposal)));
    for (const box of this.list.querySelectorAll("input")) if (focused && box.value === focused) box.focus();
    this.mark();
  }

  /** @param {FileProposal} proposal */
  draw({ key, option, evidence, setting }) {
    const id = freshId("proposal");
    const box = h("input", { id, type: "checkbox", value: key, checked: this.keys.has(key) });
    box.addEventListener("change", () => {
      if (box.checked) this.keys.add(key);
      else this.keys.delete(key);
      this.mark();
      if (!setting) this.changed();
    });
    return h("li", {}, box, h("label", { for: id }, h("code", {}, option), " ", h("span", { class: "file-evidence" }, drawCode(evidence))));
  }

  takeAll() {
    const before = this.accepted.length;
    for (const { key } of this.proposals) this.keys.add(key);
    for (const box of this.list.querySelectorAll("input")) box.checked = true;
    this.mark();
    if (this.accepted.length !== before) this.changed();
  }

  mark() {
    this.all.disabled = this.proposals.every(({ key }) => this.keys.has(key));
  }
}
