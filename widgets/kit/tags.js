// An editable list of words; Enter or a comma adds the typed word.

import { button, fill, h } from "./dom.js";

/** Split typed text into words at commas and line breaks; surrounding blanks are removed. @param {string} text */
export function splitWords(text) {
  return text
    .split(/[,\n\t]/)
    .map((word) => word.trim())
    .filter(Boolean);
}

/**
 * `change(words)` is called with every change; `problem(word)` describes the error of a word.
 * @param {{words: string[], label: string, placeholder?: string, suggestions?: string[], commas?: boolean,
 *   problem?: (word: string) => string, change?: (words: string[]) => void, disabled?: boolean}} options
 */
export function tagInput({
  words,
  label,
  placeholder = "add…",
  suggestions = [],
  commas = true,
  problem = () => "",
  change = () => {},
  disabled = false,
}) {
  let current = [...words];
  const tags = h("span", { class: "tags", role: "list", "aria-label": label });
  const known = suggestions.length
    ? h(
        "datalist",
        { id: `svc-known-${Math.random().toString(36).slice(2)}` },
        suggestions.map((word) => h("option", { value: word })),
      )
    : null;
  const input = h("input", {
    class: "tag-text",
    type: "text",
    placeholder,
    "aria-label": `${label}: add`,
    list: known?.id ?? null,
    disabled,
    on: { keydown: handleKey, blur: addTyped, paste },
  });
  const el = h(
    "div",
    {
      class: "tag-input",
      on: {
        click: (event) => {
          if (event.target === el) input.focus();
        },
      },
    },
    tags,
    input,
    known,
  );

  /** @param {string[]} next */
  function set(next) {
    current = next;
    draw();
    change([...current]);
  }

  function addTyped() {
    const added = commas ? splitWords(input.value) : [input.value.trim()].filter(Boolean);
    input.value = "";
    if (added.length) set([...current, ...added]);
    return added.length > 0;
  }

  /** @param {ClipboardEvent} event */
  function paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!commas || splitWords(text).length < 2) return;
    event.preventDefault();
    set([...current, ...splitWords(text)]);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    const enters = event.key === "Enter" || (commas && event.key === ",");
    if (enters && input.value.trim()) {
      event.preventDefault();
      addTyped();
    } else if (commas && event.key === ",") event.preventDefault();
    else if (event.key === "Backspace" && !input.value && current.length) set(current.slice(0, -1));
  }

  function draw() {
    fill(
      tags,
      current.map((word, place) =>
        h(
          "span",
          { class: ["tag", problem(word) && "error"], role: "listitem", title: problem(word) || null },
          h("bdi", {}, word),
          disabled
            ? null
            : button(
                `Remove ${word}`,
                () => {
                  set(current.filter((_, other) => other !== place));
                  input.focus();
                },
                { icon: "×", bare: true },
              ),
        ),
      ),
    );
  }

  draw();
  return Object.assign(el, {
    read: () => (addTyped(), [...current]),
    words: () => [...current],
    /** @param {string[]} next */
    show(next) {
      current = [...next];
      draw();
    },
  });
}
