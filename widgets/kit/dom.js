// Creation and update of elements. Text is set as text, never parsed as markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {{on?: Record<string, (event: any) => void>, [name: string]: any}} Props */

/**
 * Make an element: `class`, `on: {event: listener}`, `style: {name: value}`, `data: {name: value}`;
 * every other name is an attribute, omitted if it is null or false.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(el, name, value);
  el.append(...nodes(children));
  return el;
}

/** @param {HTMLElement} el @param {string} name @param {any} value */
function setProp(el, name, value) {
  if (name === "on" && value)
    for (const [event, listener] of Object.entries(value)) el.addEventListener(event, listener);
  else if (name === "style") for (const [key, text] of Object.entries(value)) el.style.setProperty(key, text);
  else if (name === "data") Object.assign(el.dataset, value);
  else if (name === "class") el.className = classes(value);
  else if (name === "value") /** @type {HTMLInputElement} */ (el).value = value;
  else setAttribute(el, name, value);
}

/** Set or remove an attribute. @param {Element} el @param {string} name @param {any} value */
export function setAttribute(el, name, value) {
  if (value === null || value === undefined || value === false) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? (name.startsWith("aria-") ? "true" : "") : String(value));
}

/** Prefix class names, given as text or as a list with falsy items. @param {any} names */
export function classes(names) {
  const list = [names].flat().filter(Boolean).join(" ").split(" ");
  return list
    .filter(Boolean)
    .map((name) => `svc-${name}`)
    .join(" ");
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children
    .flat()
    .flatMap((child) =>
      child === null || child === undefined || child === false
        ? []
        : [child instanceof Node ? child : String(child)],
    );
}

/** Replace the children of an element. @param {Element} el @param {...(Child | Child[])} children */
export function fill(el, ...children) {
  el.replaceChildren(...nodes(children));
}

/**
 * Update the children of an element to a list of items, and reuse elements by key, so that nothing
 * flickers or loses the focus. `draw(item, el)` changes and returns the previous element of the
 * item, or makes a new one.
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T, index: number) => string} keyOf
 * @param {(item: T, el: HTMLElement | null, index: number) => HTMLElement} draw
 */
export function follow(parent, items, keyOf, draw) {
  const before = new Map(
    [...parent.children].map((el) => [/** @type {HTMLElement} */ (el).dataset.key ?? "", el]),
  );
  const after = items.map((item, index) => {
    const key = keyOf(item, index);
    const el = draw(item, /** @type {HTMLElement | null} */ (before.get(key) ?? null), index);
    el.dataset.key = key;
    return el;
  });
  const stay = new Set(after);
  for (const el of [...parent.children]) if (!stay.has(/** @type {HTMLElement} */ (el))) el.remove();
  after.forEach((el, place) => {
    if (parent.children[place] !== el) parent.insertBefore(el, parent.children[place] ?? null);
  });
}

/**
 * A button with a label. An icon is drawn before the label; `bare` shows the icon alone.
 * @param {string} label @param {(event: Event) => void} act @param {Props & {icon?: string, bare?: boolean}} [props]
 */
export function button(label, act, { icon = "", bare = false, ...props } = {}) {
  return h(
    "button",
    {
      type: "button",
      class: ["button", bare && "bare"],
      title: bare ? label : null,
      "aria-label": bare ? label : null,
      ...props,
      on: { click: act },
    },
    icon && h("span", { class: "icon", "aria-hidden": true }, icon),
    !bare && h("span", {}, label),
  );
}

/** The focused element of the document or shadow tree that an element is in. @param {HTMLElement} el */
export function focusedIn(el) {
  const tree = /** @type {Document | ShadowRoot | undefined} */ (el.getRootNode?.());
  return /** @type {HTMLElement | null} */ (tree?.activeElement ?? document.activeElement);
}

let count = 0;

/** A unique element id. @param {string} name */
export function freshId(name) {
  count += 1;
  return `svc-${name}-${count}-${Math.random().toString(36).slice(2, 8)}`;
}

/** A labelled control. @param {string} label @param {HTMLElement} control @param {string} [hint] */
export function field(label, control, hint = "") {
  control.id ||= freshId("field");
  const note = hint ? h("span", { class: "hint", id: freshId("hint") }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

/** Copy text, also on pages without access to the clipboard API. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "offscreen", value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
