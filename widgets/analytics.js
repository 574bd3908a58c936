// The analytics of an index: figures of a period, its days, top searches and searches without results.

import { button, field, fill, h } from "./kit/dom.js";
import { emptyState } from "./kit/empty.js";
import { frame } from "./kit/frame.js";

/** @typedef {"search" | "synonym" | "judge"} Step */
/** @typedef {{query: string, frequency: number, nbHits?: number, clickThroughRate?: number | null, averageClickPosition?: number | null, conversionRate?: number | null, withFilterCount?: number}} Row */
/** @typedef {{date: string, searchCount: number, noResultCount: number, noResultRate: number, userCount: number, trackedSearchCount: number, clickThroughRate: number | null}} Day */
/** @typedef {{total: Record<string, number | null>, days: Day[], searches: Row[], noResults: Row[]}} Figures */

const PERIODS = [
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
];
/** The most frequent queries that are judged together. */
const JUDGED_QUERIES = 10;

/** @param {number | null | undefined} share */
const percent = (share) => (share === null || share === undefined ? "–" : `${(share * 100).toFixed(1)} %`);
/** @param {number | null | undefined} number */
const whole = (number) => (number === null || number === undefined ? "–" : Number(number).toLocaleString());
/** @param {number | null | undefined} number */
const decimal = (number) => (number === null || number === undefined ? "–" : Number(number).toFixed(1));

/** @param {import("./types").Mount} mount */
function render(mount) {
  const view = frame(mount, {
    named: "analytics",
    retry: "refresh",
    tools: [button("Reload", () => view.run("refresh", {}, { long: true }), { icon: "⟳", bare: true })],
  });
  const since = h("select", { class: "input", on: { change: propose } });
  const until = h("input", { class: "input", type: "date", on: { change: propose } });
  const tags = h("input", {
    class: "input",
    placeholder: "platform:app AND shop",
    spellcheck: false,
    on: { change: propose },
  });
  const controls = h(
    "div",
    { class: "row analytics-period" },
    field("Period", since),
    field("Until", until),
    field("Analytics tags", tags),
  );
  const content = h("div", { class: "analytics-content" });
  fill(view.body, controls, content);

  /** Show the longest period, else read the figures again. */
  function nextStep() {
    const [longest, label] = PERIODS[PERIODS.length - 1];
    if (since.value === longest && !until.value && !tags.value)
      return { label: "Read the figures again", act: () => void view.run("refresh", {}, { long: true }) };
    const act = () => {
      since.value = longest;
      until.value = tags.value = "";
      propose();
    };
    return { label: `Show ${label} with all tags`, act };
  }

  function propose() {
    void view.propose({ since: since.value, until: until.value, tags: tags.value });
  }

  /** @param {{since: string, until: string, tags: string}} value */
  function drawPeriod(value) {
    const period = value?.since ?? "";
    const known = PERIODS.some(([name]) => name === period);
    const options = known ? PERIODS : [...PERIODS, [period, period ? `since ${period}` : "8 days"]];
    fill(since, options.map(([name, label]) => h("option", { value: name }, label)));
    since.value = period;
    until.value = /^\d{4}-\d\d-\d\d$/.test(value?.until ?? "") ? value.until : "";
    tags.value = value?.tags ?? "";
  }

  /** @param {Figures} figures */
  function draw(figures) {
    if (!figures?.total) {
      const text = view.state()?.error ? "Nothing could be read." : "Reading…";
      return fill(content, h("p", { class: "hint", role: "status" }, text));
    }
    if (!figures.total.searchCount) {
      const hint = "Searches count unless their analytics parameter is false; clicks need clickAnalytics and events.";
      return fill(content, emptyState({ title: "No searches in this period.", hint, action: nextStep() }));
    }
    fill(
      content,
      drawTotal(figures.total),
      h(
        "div",
        { class: "analytics-charts" },
        chart("Searches by day", figures.days, (day) => day.searchCount, {
          part: (day) => day.noResultCount,
          text: (day) => `${whole(day.searchCount)} searches, ${percent(day.noResultRate)} without results`,
          legend: ["with results", "without results"],
        }),
        chart("Click-through by day", figures.days, (day) => day.clickThroughRate ?? 0, {
          text: (day) => `${percent(day.clickThroughRate)} of ${whole(day.trackedSearchCount)} searches clicked`,
          format: percent,
        }),
      ),
      section("Top searches", figures.searches, [
        ["Searches", (row) => whole(row.frequency)],
        ["Hits", (row) => whole(row.nbHits)],
        ["Clicked", (row) => percent(row.clickThroughRate)],
        ["Position", (row) => decimal(row.averageClickPosition)],
        ["Converted", (row) => percent(row.conversionRate)],
      ]),
      section("Searches without results", figures.noResults, [
        ["Searches", (row) => whole(row.frequency)],
        ["With filters", (row) => whole(row.withFilterCount)],
      ]),
    );
  }

  /** @param {Figures["total"]} total */
  function drawTotal(total) {
    const tiles = [
      ["searches", whole(total.searchCount)],
      ["users", whole(total.userCount)],
      ["without results", percent(total.noResultRate)],
      ["clicked", percent(total.clickThroughRate)],
      ["click position", decimal(total.averageClickPosition)],
      ["converted", percent(total.conversionRate)],
    ];
    return h(
      "dl",
      { class: "analytics-tiles" },
      tiles.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))),
    );
  }

  /**
   * @param {string} title @param {Row[]} rows @param {[string, (row: Row) => string][]} columns
   */
  function section(title, rows, columns) {
    const queries = rows.map(({ query }) => query).filter(Boolean);
    const judged = queries.slice(0, JUDGED_QUERIES);
    const head = h(
      "div",
      { class: "row" },
      h("h4", {}, title),
      judged.length
        ? button(judged.length > 1 ? `Judge the first ${judged.length}` : "Judge it", () => step("judge", judged), {
            class: ["button", "small"],
            title: "Make judgments of these queries",
          })
        : null,
    );
    if (!rows.length) return h("section", {}, head, h("p", { class: "hint" }, "None in this period."));
    return h(
      "section",
      { "aria-label": title },
      head,
      h(
        "div",
        { class: "analytics-scroll", tabindex: 0, role: "group", "aria-label": `${title}, table` },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "Query"),
              columns.map(([name]) => h("th", { scope: "col", class: "number" }, name)),
              h("th", { scope: "col" }, h("span", { class: "offscreen" }, "Next steps")),
            ),
          ),
          h("tbody", {}, rows.map((row) => drawRow(row, columns))),
        ),
      ),
    );
  }

  /** @param {Row} row @param {[string, (row: Row) => string][]} columns */
  function drawRow(row, columns) {
    const { query } = row;
    const small = { class: ["button", "small"] };
    return h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto" }, query || h("span", { class: "hint" }, "(empty query)")),
      columns.map(([, read]) => h("td", { class: "number" }, read(row))),
      h(
        "td",
        { class: "analytics-steps" },
        button("Open", () => step("search", [query]), { ...small, title: `Open ${query} in the query editor` }),
        query && button("Synonym…", () => askSynonym(query), { ...small, title: `Add a synonym of ${query}` }),
        query && button("Judge", () => step("judge", [query]), { ...small, title: `Make judgments of ${query}` }),
      ),
    );
  }

  /** @param {string} query */
  async function askSynonym(query) {
    const words = h("input", { class: "input", dir: "auto", placeholder: "lamp, light" });
    const answer = await view.ask({
      title: `Synonym of ${query}`,
      body: field("Words with the same meaning", words, "Several words are separated by commas."),
      buttons: [
        { name: "", label: "Cancel" },
        { name: "add", label: "Add to the draft", main: true },
      ],
    });
    const given = words.value.split(",").map((word) => word.trim()).filter(Boolean);
    if (answer === "add" && given.length) await step("synonym", [query], given);
  }

  /** Continue in another editor; without one beside this, offer its code. @param {Step} name @param {string[]} queries @param {string[]} [words] */
  async function step(name, queries, words = []) {
    const code = await view.run("continue_with", { step: name, queries, words }, { long: true });
    if (code) await view.offerCode(code);
  }

  view.link.watch("value", drawPeriod);
  view.link.watch("figures", draw);
  view.link.watch("state", () => {
    if (!view.link) return;
    content.setAttribute("aria-busy", String(view.state()?.busy === "loading"));
  });
  void view.run("show");
  return () => view.close();
}

/**
 * Bars of a figure by day, with weekends shaded.
 * @param {string} title @param {Day[]} days @param {(day: Day) => number} read
 * @param {{part?: (day: Day) => number, text: (day: Day) => string, legend?: string[], format?: (value: number) => string}} options
 */
function chart(title, days, read, { part, text, legend = [], format = whole }) {
  const highest = Math.max(...days.map(read), 0);
  const share = (/** @type {number} */ value) => `${highest ? (value / highest) * 100 : 0}%`;
  const bars = days.map((day) => {
    const weekday = new Date(`${day.date}T00:00:00Z`).getUTCDay();
    return h(
      "div",
      { class: ["analytics-day", (weekday === 0 || weekday === 6) && "weekend"], title: `${day.date}: ${text(day)}` },
      h(
        "div",
        { class: "analytics-bar", style: { height: share(read(day)) } },
        part ? h("div", { style: { height: `${read(day) ? (part(day) / read(day)) * 100 : 0}%` } }) : null,
      ),
    );
  });
  const [first, last] = [days[0]?.date ?? "", days[days.length - 1]?.date ?? ""];
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, title),
      legend.map((name, at) => h("span", { class: ["analytics-key", at > 0 && "unanswered"] }, name)),
    ),
    h("div", { class: "analytics-top" }, format(highest)),
    h("div", { class: "analytics-bars", role: "img", "aria-label": `${title}, ${first} to ${last}, at most ${format(highest)}` }, bars),
    h("div", { class: "row analytics-axis" }, h("span", {}, first), h("span", {}, last)),
  );
}

export default { render };
