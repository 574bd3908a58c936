// Lists taken from files and given out as files; both go through the editor's Python half.

import { button, fill, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */

/** Buttons that import and export. @param {Frame} view @param {string} name what the list holds */
export function exchange(view, name) {
  const bring = button("Import…", () => bringIn(view, name), { title: `Take ${name} of a file into the draft` });
  const give = button("Export…", () => giveOut(view, name), { title: `The draft as a file` });
  view.link.watch("state", (state) => {
    bring.disabled = Boolean(state?.readOnly);
  });
  return [bring, give];
}

/** The name of the format that a text is in. @param {string} text */
export function guessName(text) {
  const start = text.trimStart();
  if (start.startsWith("[")) return "pasted.json";
  if (start.startsWith("{")) return /\}\s*\n\s*\{/.test(start) ? "pasted.ndjson" : "pasted.json";
  return "pasted.csv";
}

/** @param {Frame} view @param {string} name */
async function bringIn(view, name) {
  const file = h("input", { class: "input", type: "file", accept: ".csv,.json,.ndjson,.jsonl", "aria-label": "File" });
  const text = h("textarea", { rows: 6, spellcheck: "false", "aria-label": `${name}, as CSV or JSON` });
  const how = h(
    "select",
    { class: "input", "aria-label": "What is kept" },
    [
      ["take", "add to the draft; of one objectID take the file's"],
      ["keep", "add to the draft; of one objectID keep the draft's"],
      ["replace", `put in place of all ${name} of the draft`],
    ].map(([value, label]) => h("option", { value }, label)),
  );
  const answer = await view.ask({
    title: `Import ${name}`,
    body: h(
      "div",
      { class: "form" },
      h("p", { class: "hint" }, "A CSV, JSON or NDJSON file, or the same pasted. Nothing is applied yet."),
      file,
      text,
      how,
    ),
    buttons: [
      { name: "", label: "Cancel" },
      { name: "import", label: "Import", main: true },
    ],
  });
  if (answer !== "import") return;
  const chosen = file.files?.[0];
  const content = chosen ? await readText(chosen) : text.value;
  if (content === null)
    return view.error({ message: `${chosen?.name} is not text in UTF-8.`, advice: "Save it as UTF-8, then import it again." });
  const named = chosen?.name ?? guessName(content);
  const brought = await view.run("bring_in", { name: named, text: content, how: how.value });
  if (!brought) return;
  const noun = brought.read === 1 ? name.replace(/s$/, "") : name;
  view.say(`${brought.read.toLocaleString()} ${noun} read: ${sayBrought(brought)}.`);
}

/** What a file changed in the draft. @param {Record<string, number>} brought */
export function sayBrought(brought) {
  const told = ["added", "changed", "removed"].filter((how) => brought[how]);
  return told.map((how) => `${brought[how].toLocaleString()} ${how}`).join(", ") || "the draft has all of it";
}

/** A file's text, or null where it is none. @param {Blob} file */
export async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}

/** @param {Frame} view @param {string} name */
async function giveOut(view, name) {
  const suffix = await view.ask({
    title: `Export ${name}`,
    body: "The draft as it is, applied or not.",
    buttons: [".json", ".csv", ".ndjson"].map((kind, place) => ({
      name: kind,
      label: kind.slice(1).toUpperCase(),
      main: !place,
    })),
  });
  if (!suffix) return;
  const text = await view.run("give_out", { suffix });
  if (text !== undefined) download(`${view.state().index}-${name}${suffix}`, text);
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = h("a", { href: address, download: name });
  fill(link, name);
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}
