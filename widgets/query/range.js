// A range of numbers: a histogram, two handles and two boxes.

import { fill, h } from "../kit/dom.js";

/** @typedef {{stats: {min: number, max: number} | null, least: number | null, most: number | null, step: number, bins: number[]}} NumericFacet */

const NAMED = [
  ["from", "From", "Lowest"],
  ["to", "To", "Highest"],
];

/** A number without the noise of binary fractions. @param {number} value */
const tidy = (value) => Number(value.toPrecision(12));

/**
 * The bounds that two handles select; a handle at its end leaves that end open.
 * @param {{min: number, max: number}} stats @param {number} step @param {number} low @param {number} high
 */
export function readHandles({ min, max }, step, low, high) {
  return {
    least: low <= min ? null : tidy(low),
    // The last step may be too short to be reached.
    most: high > max - step / 2 || tidy(high + step) > max ? null : tidy(high),
  };
}

/** Whether a bin is inside the selected range. @param {{min: number, max: number}} stats @param {number} count @param {number} place @param {number | null} least @param {number | null} most */
export function isInside({ min, max }, count, place, least, most) {
  const width = (max - min) / count;
  const [from, to] = [min + width * place, min + width * (place + 1)];
  return (least === null || to > least) && (most === null || from <= most);
}

/** @param {import("../kit/frame.js").Frame} view @param {string} name */
export function rangeBox(view, name) {
  /** @type {NumericFacet} */
  let facet = { stats: null, least: null, most: null, step: 1, bins: [] };
  const boxes = NAMED.map(([end]) =>
    h("input", {
      class: ["input", "small"],
      type: "number",
      step: "any",
      "aria-label": `${name} ${end}`,
      on: { change: () => hold(...readBoxes()) },
    }),
  );
  const handles = NAMED.map(([, , which]) =>
    h("input", {
      type: "range",
      "aria-label": `${which} ${name}`,
      on: { input: slide, change: () => hold(...readBoxes()) },
    }),
  );
  const bars = h("div", { class: "bars", "aria-hidden": "true" });
  const slider = h("div", { class: "slider" }, handles);
  const el = h(
    "div",
    { class: "range" },
    bars,
    slider,
    h(
      "div",
      { class: "row ends" },
      boxes.map((box, place) => h("label", { class: "hint" }, NAMED[place][1], box)),
    ),
  );

  /** @returns {[number | null, number | null]} */
  function readBoxes() {
    const [least, most] = boxes.map((box) => (box.value === "" ? null : Number(box.value)));
    return [least, most];
  }

  /** @param {number | null} least @param {number | null} most */
  function hold(least, most) {
    view.run("hold", { facet: name, least, most });
  }

  /** Follow a handle; the other one stays on its side. @param {Event} event */
  function slide(event) {
    const [low, high] = handles.map((handle) => Number(handle.value));
    if (!facet.stats) return;
    if (low > high) {
      const moved = event.target === handles[0] ? 0 : 1;
      handles[moved].value = handles[1 - moved].value;
    }
    const [from, to] = handles.map((handle) => Number(handle.value));
    const { least, most } = readHandles(facet.stats, facet.step, from, to);
    writeBoxes(least, most);
    drawSelection(least, most);
  }

  /** @param {number | null} least @param {number | null} most */
  function writeBoxes(least, most) {
    [least, most].forEach((bound, place) => {
      boxes[place].value = bound === null ? "" : String(bound);
    });
  }

  /** @param {number | null} least @param {number | null} most */
  function drawSelection(least, most) {
    const { stats, bins } = facet;
    if (!stats) return;
    const share = (/** @type {number} */ value) =>
      Math.min(1, Math.max(0, (value - stats.min) / (stats.max - stats.min || 1)));
    slider.style.setProperty("--svc-from", String(share(least ?? stats.min)));
    slider.style.setProperty("--svc-to", String(share(most ?? stats.max)));
    [...bars.children].forEach((bar, place) =>
      bar.classList.toggle("svc-inside", isInside(stats, bins.length, place, least, most)),
    );
  }

  function drawBars() {
    const highest = Math.max(1, ...facet.bins);
    fill(
      bars,
      facet.bins.map((count) =>
        h("div", { class: "bar", style: { height: count ? `${Math.max(4, (100 * count) / highest)}%` : "0" } }),
      ),
    );
    bars.hidden = !facet.bins.length;
  }

  return {
    el,
    /** @param {NumericFacet} next */
    show(next) {
      facet = next;
      const { stats, least, most, step } = facet;
      el.hidden = !stats && least === null && most === null;
      const isFocused = [...boxes, ...handles].some((input) => input === document.activeElement);
      slider.hidden = !stats || stats.min >= stats.max;
      drawBars();
      boxes.forEach((box, place) => {
        box.placeholder = stats ? String(tidy([stats.min, stats.max][place])) : "";
      });
      if (stats)
        handles.forEach((handle, place) => {
          [handle.min, handle.max, handle.step] = [String(stats.min), String(stats.max), String(step)];
          if (handle !== document.activeElement)
            handle.value = String([least ?? stats.min, most ?? stats.max][place]);
        });
      if (!isFocused) writeBoxes(least, most);
      drawSelection(least, most);
    },
  };
}
