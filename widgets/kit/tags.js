// A list of words, each of which can be taken away; Enter or a comma adds what was typed.

import { button, fill, h } from "./dom.js";

/** Take words out of typed text: commas and lines separate, blanks around do not count. @param {string} text */
export function splitWords(text) {
  return text
    .split(/[,\n\t]/)
    .map((word) => word.trim())
    .filter(Boolean);
}

/**
 * `change(words)` hears of every change; `problem(word)` says what is wrong with one.
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
  let own = [...words];
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
    on: { keydown: steer, blur: take, paste },
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
    own = next;
    draw();
    change([...own]);
  }

  function take() {
    const added = commas ? splitWords(input.value) : [input.value.trim()].filter(Boolean);
    input.value = "";
    if (added.length) set([...own, ...added]);
    return added.length > 0;
  }

  /** @param {ClipboardEvent} event */
  function paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!commas || splitWords(text).length < 2) return;
    event.preventDefault();
    set([...own, ...splitWords(text)]);
  }

  /** @param {KeyboardEvent} event */
  function steer(event) {
    const enters = event.key === "Enter" || (commas && event.key === ",");
    if (enters && input.value.trim()) {
      event.preventDefault();
      take();
    } else if (commas && event.key === ",") event.preventDefault();
    else if (event.key === "Backspace" && !input.value && own.length) set(own.slice(0, -1));
  }

  function draw() {
    fill(
      tags,
      own.map((word, place) =>
        h(
          "span",
          { class: ["tag", problem(word) && "wrong"], role: "listitem", title: problem(word) || null },
          h("bdi", {}, word),
          disabled
            ? null
            : button(
                `Take away ${word}`,
                () => {
                  set(own.filter((_, other) => other !== place));
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
    read: () => (take(), [...own]),
    words: () => [...own],
    /** @param {string[]} next */
    show(next) {
      own = [...next];
      draw();
    },
  });
}
