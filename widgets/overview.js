// The overview of a service: a static page that the Python half writes, and a button that reads it again.

import { connect } from "./kit/bridge.js";
import { button, fill, h } from "./kit/dom.js";
import { notices } from "./kit/notice.js";

/** @param {import("./types").Mount} mount */
function render({ model, el }) {
  const messages = notices();
  const link = connect(model);
  const page = h("div", { class: "body" });
  const busy = h("span", { class: "hint place", role: "status" });
  const reload = button("Reload", read, { icon: "⟳", bare: true });
  const title = h("span", { class: "title" }, "Overview");
  el.append(
    h(
      "section",
      { class: "editor", "aria-label": "Overview" },
      h("header", { class: "head" }, h("div", { class: "names" }, title, busy), h("div", { class: "tools" }, reload)),
      messages.el,
      page,
    ),
  );

  async function read() {
    reload.disabled = true;
    fill(busy, "reading…");
    try {
      await link.call("refresh");
      messages.error(null);
    } catch (error) {
      messages.error(/** @type {any} */ (error));
    } finally {
      reload.disabled = false;
      fill(busy);
    }
  }

  // The Python half escapes every text of the service in the page.
  link.watch("page", (text) => page.replaceChildren(document.createRange().createContextualFragment(text ?? "")));
  return () => link.close();
}

export default { render };
