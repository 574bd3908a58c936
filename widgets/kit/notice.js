// The messages of an editor: errors, which stay until resolved, and short notices.

import { drawCode } from "./code_text.js";
import { button, fill, h } from "./dom.js";

/** A banner for errors and a line for notices, for screen readers too. */
export function notices() {
  const banner = h("div", { class: "banner", role: "alert", hidden: true });
  const news = h("div", { class: "news", role: "status", "aria-live": "polite" });
  /** @type {any} */
  let timer = null;
  let closed = "";
  return {
    el: h("div", { class: "notices" }, banner, news),
    /** @param {{message: string, advice?: string} | null} explanation @param {{label: string, act: () => void}} [action] */
    error(explanation, action) {
      if (!explanation) closed = "";
      banner.hidden = !explanation || explanation.message === closed;
      if (!explanation) return fill(banner);
      fill(
        banner,
        h(
          "div",
          { class: "banner-text" },
          h("strong", {}, drawCode(explanation.message)),
          explanation.advice ? h("span", {}, " ", drawCode(explanation.advice)) : null,
        ),
        action ? button(action.label, action.act) : null,
        button(
          "Close",
          () => {
            banner.hidden = true;
            closed = explanation.message;
          },
          { icon: "×", bare: true },
        ),
      );
    },
    /** @param {string} text @param {number} [seconds] */
    say(text, seconds = 4) {
      clearTimeout(timer);
      fill(news, text);
      if (text && seconds) timer = setTimeout(() => fill(news), seconds * 1000);
    },
  };
}
