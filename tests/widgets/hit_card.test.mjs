import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeModel } from "./fake.mjs";
import { commonColumns, drawHeadline, drawImage, hitDisplay } from "../../widgets/kit/hit_card.js";

const LAMP = { id: "1", title: "oak lamp", lines: [["brand", "Acme"], ["price", "5"]], more: 2, image: "https://x.test/a.png", json: "{}" };

/** A display over a model, and how often it asked for a new drawing. */
function open(values = {}, answer = null) {
  const model = fakeModel({ hit_density: "cards", hit_attributes: null, images: false, ...values });
  const told = { redrawn: 0, asked: null };
  const link = { watch: (name, draw) => (model.on(`change:${name}`, () => draw(model.get(name))), draw(model.get(name))) };
  const ask = async (question) => {
    told.asked = question;
    return typeof answer === "function" ? answer(question) : answer;
  };
  const display = hitDisplay({ link, ask }, model, () => (told.redrawn += 1));
  const button = (text) => display.toolbar.find((el) => el.tagName === "BUTTON" && el.textContent.startsWith(text))[0];
  return { model, told, display, button };
}

for (const [density, shown, absent] of [
  ["cards", ["dl", ".svc-id", ".svc-hit-grid"], [".svc-hit-row", ".svc-hit-json"]],
  ["rows", [".svc-hit-row", ".svc-hit-cell", ".svc-id"], ["dl", ".svc-hit-json"]],
  ["json", [".svc-hit-json", ".svc-id"], ["dl", ".svc-hit-row"]],
]) {
  test(`a hit in the density: ${density}`, () => {
    const { display } = open({ hit_density: density });
    display.prepare([LAMP]);

    const text = display.draw(LAMP, { place: 3 })[1];
    const has = (one) => text.matches(one) || Boolean(text.querySelector(one));

    assert.ok(text.textContent.startsWith("3oak lamp"));
    assert.deepEqual([...shown, ...absent].map(has), [...shown.map(() => true), ...absent.map(() => false)]);
  });
}

test("a density is kept in the model and drawn at once", () => {
  const { model, told, button } = open();

  button("Rows").click();

  assert.equal(model.get("hit_density"), "rows");
  assert.equal(button("Rows").getAttribute("aria-pressed"), "true");
  assert.equal(told.redrawn, 1);
});

test("attributes are chosen among those of the hits, and back to automatic", async () => {
  const choose = ({ body }) => {
    body.find((el) => el.tagName === "INPUT" && el.value === "price")[0].checked = true;
    return "show";
  };
  const { model, display, button } = open({}, choose);
  display.prepare([LAMP], ["brand", "price"]);

  button("Attributes").click();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(model.get("hit_attributes"), ["price"]);
  assert.equal(button("Attributes").textContent, "Attributes (1)…");
});

test("rows have columns that most hits share, without long texts", () => {
  const hits = [
    { lines: [["text", "word ".repeat(20)], ["a", "1"], ["b", "2"]] },
    { lines: [["c", "3"], ["b", "2"], ["d", "4"]] },
    { lines: [["b", "2"], ["d", "4"], ["e", "5"], ["a", "1"]] },
  ];

  assert.deepEqual(commonColumns(hits), ["a", "b", "c", "d"]);
  assert.deepEqual(commonColumns([{ lines: [["text", "word ".repeat(20)]] }]), ["text"]);
});

test("an objectID that is the headline is not repeated", () => {
  assert.equal(drawHeadline({ id: "7", title: "7" })[2], null);
  assert.equal(drawHeadline({ id: "7", title: "" })[1].textContent, "7");
});

test("an image of another host needs permission", () => {
  assert.equal(drawImage(LAMP, false), null);
  assert.equal(drawImage(LAMP, true).getAttribute("src"), LAMP.image);
  assert.ok(drawImage({ ...LAMP, image: "data:image/png;base64,AA" }, false));
});
