// What an editor has to say: errors that stay until they are settled, and short news.

import { button, fill, h } from "./dom.js";

/** A banner for errors and a line for news; both are read out. */
export function notices() {
  const banner = h("div", { class: "banner", role: "alert", hidden: true });
  const news = h("div", { class: "news", role: "status", "aria-live": "polite" });
  /** @type {any} */
  let timer = null;
  let closed = "";
  return {
    el: h("div", { class: "notices" }, banner, news),
    /** @param {{message: string, advice?: string} | null} told @param {{label: string, act: () => void}} [remedy] */
    error(told, remedy) {
      if (!told) closed = "";
      banner.hidden = !told || told.message === closed;
      if (!told) return fill(banner);
      fill(
        banner,
        h(
          "div",
          { class: "banner-text" },
          h("strong", {}, told.message),
          told.advice ? h("span", {}, ` ${told.advice}`) : null,
        ),
        remedy ? button(remedy.label, remedy.act) : null,
        button(
          "Close",
          () => {
            banner.hidden = true;
            closed = told.message;
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
