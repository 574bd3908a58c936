// One hit as every editor draws it: a headline, an image and its attributes, in three densities.

import { button, fill, h, setAttribute } from "./dom.js";
import { drawMarked } from "./highlight.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("../types").Model} Model */
/** @typedef {{id: string, title: string, image?: string, lines?: [string, string][], more?: number, json?: string}} Hit */

/** @type {[string, string, string][]} */
const DENSITIES = [
  ["cards", "Cards", "Headline, image and attributes of each hit"],
  ["rows", "Rows", "One row for each hit"],
  ["json", "JSON", "The record of each hit as JSON"],
];
const LONG_TEXT_CHARACTERS = 30; // of a value that takes a whole row of a card, and is no column
const MAX_COLUMNS = 4; // of the rows

/** The attributes with short values that most hits have, in the order of their lines. @param {Hit[]} hits @returns {string[]} */
export function commonColumns(hits) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const lines = hits.flatMap((hit) => hit.lines ?? []);
  for (const [name] of lines) counts.set(name, (counts.get(name) ?? 0) + 1);
  const long = new Set(lines.filter(([, text]) => text.length > LONG_TEXT_CHARACTERS).map(([name]) => name));
  const short = [...counts.keys()].filter((name) => !long.has(name));
  const names = short.length ? short : [...counts.keys()];
  const most = [...names].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0)).slice(0, MAX_COLUMNS);
  return names.filter((name) => most.includes(name));
}

/**
 * How an editor shows its hits. `toolbar` has the choice of density and attributes, and `tools`;
 * `redraw` is called after each choice.
 * @param {Frame} view @param {Model} model @param {() => void} redraw @param {Node[]} [tools]
 */
export function hitDisplay(view, model, redraw, tools = []) {
  /** @type {string[]} */
  let columns = [];
  let hasImages = false; // rows without one leave its space empty
  /** @type {string[]} */
  let known = [];
  const density = () => model.get("hit_density") ?? "cards";
  const choices = DENSITIES.map(([name, label, title]) =>
    button(label, () => keep("hit_density", name), { class: ["button", "small", "segment"], title, data: { density: name } }),
  );
  const attributes = button("Attributes…", chooseAttributes, {
    class: ["button", "small"],
    title: "Choose the attributes that hits show",
  });
  const imageBox = h("input", {
    type: "checkbox",
    on: { change: () => keep("images", imageBox.checked) },
  });
  const pictures = h(
    "label",
    { class: "row hint", hidden: true, title: "Fetch pictures from other hosts" },
    imageBox,
    "pictures",
  );
  const toolbar = h(
    "div",
    { class: "row hit-bar" },
    tools,
    h("div", { class: "segments", role: "group", "aria-label": "Density" }, choices),
    attributes,
    pictures,
  );

  /** @param {string} name @param {any} value */
  function keep(name, value) {
    model.set(name, value);
    model.save_changes();
    drawToolbar();
    redraw();
  }

  function drawToolbar() {
    for (const choice of choices)
      setAttribute(choice, "aria-pressed", choice.dataset.density === density() ? "true" : "false");
    const chosen = model.get("hit_attributes");
    fill(attributes, chosen ? `Attributes (${chosen.length})…` : "Attributes…");
    imageBox.checked = Boolean(model.get("images"));
  }

  async function chooseAttributes() {
    /** @type {string[] | null} */
    const chosen = model.get("hit_attributes") ?? null;
    const names = [...new Set([...(chosen ?? []), ...known])];
    const boxes = names.map((name) => {
      const box = h("input", { type: "checkbox", value: name });
      box.checked = chosen?.includes(name) ?? false;
      return { name, box, el: h("label", { class: "row choice" }, box, h("bdi", {}, name)) };
    });
    const find = h("input", {
      class: "input",
      type: "search",
      placeholder: "Find an attribute…",
      "aria-label": "Find an attribute",
      on: {
        input: () => {
          for (const { name, el } of boxes) el.hidden = !name.toLowerCase().includes(find.value.toLowerCase());
        },
      },
    });
    const answer = await view.ask({
      title: "Attributes of hits",
      body: h(
        "div",
        { class: "choices" },
        h("p", { class: "hint" }, "Automatic shows matched attributes first, then those that come first in the record."),
        names.length > MAX_COLUMNS * 2 ? find : null,
        h("div", { class: "choice-list", role: "group", "aria-label": "Attributes" }, boxes.map(({ el }) => el)),
      ),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "automatic", label: "Automatic" },
        { name: "show", label: "Show selected", main: true },
      ],
    });
    const selected = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    if (answer === "show") keep("hit_attributes", selected.length ? selected : null);
    if (answer === "automatic") keep("hit_attributes", null);
  }

  drawToolbar();
  let isReady = false; // watching begins with a call
  for (const name of ["hit_density", "hit_attributes", "images"])
    view.link.watch(name, () => {
      if (!isReady) return;
      drawToolbar();
      redraw();
    });
  isReady = true;
  return {
    toolbar,
    /** What an unchanged hit depends on. */
    key: () => `${density()} ${hasImages} ${columns.join("\n")} ${Boolean(model.get("images"))}`,
    density,
    /** Adjust to the hits that are drawn next. @param {Hit[]} hits @param {string[]} [names] all attributes */
    prepare(hits, names = []) {
      const allowed = Boolean(model.get("images"));
      columns = density() === "rows" ? commonColumns(hits) : [];
      hasImages = density() === "rows" && hits.some((hit) => isShown(hit.image, allowed));
      if (names.length) known = names;
      attributes.hidden = !known.length && !model.get("hit_attributes");
      pictures.hidden = !hits.some(({ image }) => image && !image.startsWith("data:"));
    },
    /**
     * The image and the text of a hit.
     * @param {Hit} hit @param {{place?: number, notes?: (Node | null)[], open?: () => void}} [options]
     * @returns {(Node | null)[]}
     */
    draw: (hit, options = {}) => [
      drawImage(hit, Boolean(model.get("images"))) ??
        (hasImages ? h("span", { class: ["picture", "no-picture"] }) : null),
      drawText(hit, { ...options, density: density(), columns }),
    ],
  };
}

/** @param {string | undefined} image @param {boolean} allowed */
const isShown = (image, allowed) => Boolean(image) && (allowed || image?.startsWith("data:"));

/** The image of a hit; those of other hosts are fetched only if the user allows it. @param {Hit} hit @param {boolean} allowed */
export function drawImage({ image }, allowed) {
  if (!isShown(image, allowed)) return null;
  return h("img", {
    class: "picture",
    src: image,
    alt: "",
    loading: "lazy",
    referrerpolicy: "no-referrer",
    on: { error: (event) => event.target.remove() },
  });
}

/**
 * The headline of a hit, and its objectID if that is not the headline.
 * @param {Hit} hit @param {number} [place]
 */
export function drawHeadline({ id, title }, place) {
  return [
    place === undefined ? null : h("span", { class: "place" }, String(place)),
    h("b", { class: "headline", dir: "auto" }, drawMarked(title || id)),
    title && title !== id ? h("code", { class: "id" }, id) : null,
  ];
}

/**
 * @param {Hit} hit
 * @param {{place?: number, notes?: (Node | null)[], open?: () => void, density: string, columns: string[]}} options
 */
function drawText(hit, { place, notes = [], open, density, columns }) {
  const [mark, headline, id] = drawHeadline(hit, place);
  const on = open && { click: open };
  if (density === "rows")
    return h(
      "div",
      { class: ["hit-text", "hit-row"], style: { "--svc-columns": String(columns.length) }, on },
      mark,
      headline,
      id ?? h("span", { class: "no-id" }),
      columns.map((name) => drawCell(name, hit.lines?.find(([other]) => other === name)?.[1] ?? "")),
      notes.length ? h("div", { class: "row hit-notes" }, notes) : null,
    );
  return h(
    "div",
    { class: "hit-text", on },
    h("div", { class: "hit-head" }, mark, headline, id),
    density === "json" && hit.json
      ? h("pre", { class: "hit-json", dir: "auto" }, hit.json)
      : h("dl", { class: "hit-grid" }, (hit.lines ?? []).map(drawLine)),
    hit.more && density !== "json"
      ? h("span", { class: "hint" }, `${hit.more} more ${hit.more === 1 ? "attribute" : "attributes"}`)
      : null,
    notes.length ? h("div", { class: "row hit-notes" }, notes) : null,
  );
}

/** @param {[string, string]} line */
function drawLine([name, text]) {
  return h(
    "div",
    { class: ["line", text.length > LONG_TEXT_CHARACTERS && "long"] },
    h("dt", { title: name }, name),
    h("dd", { dir: "auto" }, drawMarked(text)),
  );
}

/** @param {string} name @param {string} text */
function drawCell(name, text) {
  return h(
    "span",
    { class: "hit-cell" },
    text ? h("span", { class: "hit-cell-name" }, name) : null,
    text ? h("bdi", {}, drawMarked(text)) : null,
  );
}
