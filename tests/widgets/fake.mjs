// A model as notebook front ends have it, and as much of a page as the components touch.

/** A model whose Python half is a function from a message to answers. */
export function fakeModel(values = {}, answer = () => {}) {
  const listeners = new Map();
  const model = {
    sent: [],
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    save_changes() {},
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    off(event, listener) {
      listeners.set(event, (listeners.get(event) ?? []).filter((other) => other !== listener));
    },
    send(message) {
      model.sent.push(message);
      answer(message, model);
    },
    /** What the Python half sends. */
    tell: (message) => (listeners.get("msg:custom") ?? []).forEach((listener) => listener(message)),
    change(name, value) {
      values[name] = value;
      (listeners.get(`change:${name}`) ?? []).forEach((listener) => listener());
    },
    heard: () => [...listeners.values()].flat().length,
  };
  return model;
}

class FakeNode {
  parent = null;
  childNodes = [];

  get textContent() {
    return this.childNodes.map((child) => child.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(text);
  }
  get children() {
    return this.childNodes.filter((child) => child instanceof FakeElement);
  }
  append(...nodes) {
    for (const node of nodes) this.insertBefore(typeof node === "string" ? new FakeText(node) : node, null);
  }
  replaceChildren(...nodes) {
    for (const child of [...this.childNodes]) child.remove();
    this.append(...nodes);
  }
  insertBefore(node, before) {
    node.remove();
    const place = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(place, 0, node);
    node.parent = this;
  }
  remove() {
    const place = this.parent?.childNodes.indexOf(this) ?? -1;
    if (place >= 0) this.parent.childNodes.splice(place, 1);
    this.parent = null;
  }
  contains(other) {
    for (let at = other; at; at = at.parent) if (at === this) return true;
    return false;
  }
}

class FakeText extends FakeNode {
  constructor(text) {
    super();
    this.text = text;
  }
  get textContent() {
    return this.text;
  }
}

/** Whether an element fits one selector: a tag, classes and one attribute; others fit nothing. */
function fits(el, selector) {
  const parts = selector.match(/^([a-z]*)((?:\.[\w-]+)*)(?:\[(\w+)\])?(?::not\((?:.*)\))?$/);
  if (!selector || !parts) return false;
  const [, tag, names, attribute] = parts;
  return (
    (!tag || el.tagName === tag.toUpperCase()) &&
    names.split(".").every((name) => !name || el.classList.contains(name)) &&
    (!attribute || attribute in el.attributes)
  );
}

class FakeElement extends FakeNode {
  constructor(tag) {
    super();
    this.tagName = tag.toUpperCase();
    this.attributes = {};
    this.dataset = {};
    this.listeners = {};
    this.style = { setProperty: (name, value) => (this.style[name] = value) };
    this.value = "";
    this.className = "";
    this.scrollTop = 0;
  }
  get classList() {
    const names = () => this.className.split(" ").filter(Boolean);
    return {
      add: (name) => (this.className = [...new Set([...names(), name])].join(" ")),
      toggle: (name, on) => (this.className = [...names().filter((n) => n !== name), ...(on ? [name] : [])].join(" ")),
      contains: (name) => names().includes(name),
    };
  }
  get id() {
    return this.attributes.id ?? "";
  }
  set id(id) {
    this.attributes.id = id;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
  addEventListener(name, listener) {
    (this.listeners[name] ??= []).push(listener);
  }
  /** Let an event happen here. */
  fire(name, facts = {}) {
    const event = { target: this, currentTarget: this, key: "", preventDefault() {}, stopPropagation() {}, ...facts };
    for (const listener of this.listeners[name] ?? []) listener(event);
  }
  /** Every element inside that a test finds by a function. */
  find(test) {
    return this.children.flatMap((child) => [...(test(child) ? [child] : []), ...child.find(test)]);
  }
  matches(selector) {
    return selector.split(",").some((one) => fits(this, one.trim()));
  }
  querySelectorAll(selector) {
    return this.find((el) => el.matches(selector));
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  click() {
    this.fire("click");
  }
  focus() {
    globalThis.document.activeElement = this;
  }
}

globalThis.Node = FakeNode;
globalThis.document = {
  activeElement: null,
  createElement: (tag) => new FakeElement(tag),
  createTextNode: (text) => new FakeText(text),
};

globalThis.IntersectionObserver ??= class {
  observe() {}
  disconnect() {}
};
globalThis.HTMLTextAreaElement ??= class {
  get value() {
    return this.typed ?? "";
  }
  set value(text) {
    this.typed = text;
  }
};
