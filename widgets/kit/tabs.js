// Tabbed panels.

import { fill, freshId, h, setAttribute } from "./dom.js";

/**
 * Each panel is drawn when it is first opened; `opened` is called each time.
 * @param {{label: string, panels: {name: string, title: string, draw: () => Node}[], opened?: (name: string) => void}} options
 */
export function tabs({ label, panels, opened = () => {} }) {
  const id = freshId("tabs");
  const heads = panels.map(({ name, title }) =>
    h(
      "button",
      {
        type: "button",
        class: "tab",
        role: "tab",
        id: `${id}-${name}`,
        "aria-controls": `${id}-body`,
        on: { click: () => open(name) },
      },
      title,
    ),
  );
  const body = h("div", { class: "tab-body", role: "tabpanel", id: `${id}-body`, tabindex: -1 });
  const bar = h(
    "div",
    { class: "tab-bar", role: "tablist", "aria-label": label, on: { keydown: handleKey } },
    heads,
  );
  /** @type {Map<string, Node>} */
  const drawn = new Map();
  let at = 0;

  /** @param {string} name */
  function open(name) {
    at = panels.findIndex((panel) => panel.name === name);
    heads.forEach((head, place) => {
      setAttribute(head, "aria-selected", place === at ? "true" : "false");
      head.tabIndex = place === at ? 0 : -1;
    });
    if (!drawn.has(name)) drawn.set(name, panels[at].draw());
    fill(body, drawn.get(name) ?? null);
    body.setAttribute("aria-labelledby", heads[at].id);
    showHead(heads[at]);
    opened(name);
  }

  /** Scroll a bar that is wider than the editor to a tab. @param {HTMLElement} head */
  function showHead(head) {
    if (!(bar.scrollWidth > bar.clientWidth)) return;
    const [around, own] = [bar.getBoundingClientRect(), head.getBoundingClientRect()];
    bar.scrollLeft += Math.max(0, own.right - around.right) - Math.max(0, around.left - own.left);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    open(panels[(at + step + panels.length) % panels.length].name);
    heads[at].focus();
  }

  /** Show a number beside a title; 0 shows none. @param {string} name @param {number} number */
  function mark(name, number) {
    const place = panels.findIndex((panel) => panel.name === name);
    fill(heads[place], panels[place].title, number ? h("span", { class: "count-badge" }, number.toLocaleString()) : null);
    setAttribute(heads[place], "aria-label", number ? `${panels[place].title}, ${number} changed` : null);
  }

  open(panels[0].name);
  return { el: h("div", { class: "tabs" }, bar, body), open, mark, current: () => panels[at].name };
}
