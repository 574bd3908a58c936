// Import and export of lists as files, both through the editor's Python half.

import { button, fill, h } from "../kit/dom.js";

/** @typedef {import("../kit/frame.js").Frame} Frame */

/** Buttons that import and export. @param {Frame} view @param {string} name of the objects */
export function exchange(view, name) {
  const importButton = button("Import…", () => importFile(view, name), { title: `Import the ${name} of a file into the draft` });
  const exportButton = button("Export…", () => exportFile(view, name), { title: `Save the draft as a file` });
  view.link.watch("state", (state) => {
    importButton.disabled = Boolean(state?.readOnly);
  });
  return [importButton, exportButton];
}

/** A file name for pasted text, by its format. @param {string} text */
export function guessName(text) {
  const start = text.trimStart();
  if (start.startsWith("[")) return "pasted.json";
  if (start.startsWith("{")) return /\}\s*\n\s*\{/.test(start) ? "pasted.ndjson" : "pasted.json";
  return "pasted.csv";
}

/** @param {Frame} view @param {string} name */
async function importFile(view, name) {
  const file = h("input", { class: "input", type: "file", accept: ".csv,.json,.ndjson,.jsonl", "aria-label": "File" });
  const text = h("textarea", { rows: 6, spellcheck: "false", "aria-label": `${name}, as CSV or JSON` });
  const how = h(
    "select",
    { class: "input", "aria-label": "Duplicate objectIDs" },
    [
      ["take", "add to the draft; the file's object replaces a duplicate"],
      ["keep", "add to the draft; the draft's object is kept for a duplicate"],
      ["replace", `replace all ${name} of the draft`],
    ].map(([value, label]) => h("option", { value }, label)),
  );
  const answer = await view.ask({
    title: `Import ${name}`,
    body: h(
      "div",
      { class: "form" },
      h("p", { class: "hint" }, "Choose or paste CSV, JSON or NDJSON. Only the draft changes."),
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
  const counts = await view.run("bring_in", { name: named, text: content, how: how.value });
  if (!counts) return;
  const noun = counts.read === 1 ? name.replace(/s$/, "") : name;
  view.say(`${counts.read.toLocaleString()} ${noun} read: ${describeImport(counts)}.`);
}

/** Describe the changes of an import to the draft. @param {Record<string, number>} counts */
export function describeImport(counts) {
  const parts = ["added", "changed", "removed"].filter((how) => counts[how]);
  return parts.map((how) => `${counts[how].toLocaleString()} ${how}`).join(", ") || "no changes";
}

/** The text of a file, or null if it is not UTF-8. @param {Blob} file */
export async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}

/** @param {Frame} view @param {string} name */
async function exportFile(view, name) {
  const suffix = await view.ask({
    title: `Export ${name}`,
    body: "The current draft, unsaved changes included.",
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
