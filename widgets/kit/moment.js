// A time in Unix seconds, shown in the browser's time zone, which is named.

import { h } from "./dom.js";

/** The browser's time zone. */
export function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** Seconds as the text of a date control, in the browser's zone. @param {number | null | undefined} seconds */
export function toLocal(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const date = new Date(seconds * 1000);
  const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** The text of a date control as seconds, or null. @param {string} text */
export function fromLocal(text) {
  const time = text ? new Date(text).getTime() : NaN;
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

/** @param {{seconds: number | null | undefined, label: string, change: (seconds: number | null) => void, disabled?: boolean}} options */
export function momentInput({ seconds, label, change, disabled = false }) {
  const input = h("input", {
    class: "input",
    type: "datetime-local",
    "aria-label": `${label}, ${zone()}`,
    disabled,
    value: toLocal(seconds),
    on: { change: () => change(fromLocal(input.value)) },
  });
  return h("span", { class: "moment" }, input, h("span", { class: "hint" }, zone()));
}
