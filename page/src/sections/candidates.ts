// The page of a choice: the answer, cost against carried load, a line per candidate, the figures, and why the others fell out.

import { costOption, linesOption, placed, type Costs } from "../charts/costs";
import { element } from "../element";
import { figureElement, type Figure, type LegendEntry } from "../figure";
import { counted, exact, rate } from "../format";
import type { ChoicePage, ChoiceRow, FallenOut } from "../model";
import { configurationColour, type Palette } from "../palette";
import { tableElement, type Rich, type Table } from "../table";
import { head } from "./masthead";
import { printed } from "./overview";

export function choicePage(page: ChoicePage): HTMLElement[] {
  const simulated = page.rows.length;
  return [
    head(
      page.title,
      [counted(page.considered, "candidate"), `${simulated} simulated`],
      element("p", { class: "badge modelled" }, "modelled: no hardware was measured"),
    ),
    element(
      "main",
      { id: "main" },
      answerSection(page),
      ...pictures(page),
      simulated > 0 && element("section", { id: "candidates", "aria-labelledby": "candidates-heading" }, heading("candidates", "Simulated candidates"), tableElement(candidateTable(page))),
      page.fallen.length > 0 && element("section", { id: "fallen", "aria-labelledby": "fallen-heading" }, heading("fallen", "Why the others fell out"), ...page.fallen.map(fallenOut)),
    ),
    element("footer", {}, element("p", {}, "Made by Plimsoll. This file is complete: it works offline and sends nothing anywhere.")),
  ];
}

const heading = (id: string, text: string) => element("h2", { id: `${id}-heading` }, text);

function answerSection(page: ChoicePage): HTMLElement {
  return element(
    "section",
    { class: "verdict", id: "answer", "aria-labelledby": "answer-heading" },
    element("h2", { id: "answer-heading" }, "Answer"),
    element("p", { class: "lead" }, page.sentence),
    element("dl", { class: "known" }, ...page.facts.flatMap(({ label, words }) => [element("dt", {}, label), element("dd", {}, words)])),
  );
}

/** What the horizontal axis counts, in the page's currency or in drives. */
export function costs({ cost, currency, demanded_per_s: demanded }: ChoicePage): Costs {
  return cost === "price"
    ? { axis: `price, ${currency}`, cost: (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 }), demanded }
    : { axis: "drives (no prices are known)", cost: (value) => value.toLocaleString("en-US"), demanded };
}

function pictures(page: ChoicePage): (HTMLElement | false)[] {
  const rows = placed(page.rows);
  if (rows.length === 0) return [];
  const asked = costs(page);
  const legend = (palette: Palette): LegendEntry[] =>
    rows.map(({ name }, index) => ({ name, colour: configurationColour(palette, index), mark: "line", hides: name }));
  const cost: Figure = {
    title: "Cost against carried load",
    label: `What ${counted(rows.length, "candidate")} carry over what they cost, with the front of those that none beats in both.`,
    note: explained(rows),
    height: 380,
    wide: true,
    option: (palette, _, hidden) => costOption(rows, asked, palette, hidden),
    legend: (palette) => [...legend(palette), { name: "front", colour: palette.muted, mark: "line" }, { name: "demanded", colour: palette.limit, mark: "dashed" }],
    table: () => candidateTable(page),
    modelled: true,
  };
  const lines: Figure = {
    title: "Load line of each candidate",
    label: `The worst latency over its limit of ${counted(rows.length, "candidate")} by the rate that is asked.`,
    note: "Healthy arrays. Filled points hold all objectives; above the dashed line one fails.",
    height: 380,
    wide: true,
    option: (palette, _, hidden) => linesOption(rows, page.demanded_per_s, palette, hidden),
    legend,
    table: () => lineTable(rows),
    modelled: true,
  };
  const drawn = rows.some(({ line }) => line.some(({ over_limit }) => over_limit !== null));
  return [
    element("section", { id: "cost", "aria-labelledby": "cost-heading" }, heading("cost", "Cost and load"), element("div", { class: "pair" }, figureElement(cost), drawn && figureElement(lines))),
  ];
}

/** What the marks of the picture mean, as far as it has any of them. */
function explained(rows: ChoiceRow[]): string {
  const bars = rows.some(({ low_per_s, high_per_s }) => low_per_s !== null && high_per_s !== null);
  const said = [
    bars && "Bars: between what the load lies in 90 % of draws of what nobody has looked up.",
    rows.some(({ at_least }) => at_least) && "Triangles: at least so much.",
    "Steps: the most that a cost buys.",
  ];
  return said.filter(Boolean).join(" ");
}

function lineTable(rows: ChoiceRow[]): Table {
  return {
    caption: "Load lines",
    columns: ["Candidate", "Asked, requests/s", "Worst latency ÷ limit", "Objectives"].map((heading) => ({ heading })),
    rows: rows.flatMap(({ name, line }) => line.map(({ rate_per_s, over_limit, holds }) => [name, rate_per_s, over_limit, holds ? "hold" : "fail"])),
  };
}

const HEADINGS = ["Array", "Carries it", "Mark, requests/s", "Between", "Mostly", "Healthy", "Degraded", "Rebuilding", "Rebuild", "Loss per year"];

function candidateTable(page: ChoicePage): Table {
  const { cost, currency } = page;
  return {
    caption: "Candidates that were simulated, the best first",
    columns: [...HEADINGS, "Drives", cost === "price" ? `Price, ${currency}` : "Price", "Limited by"].map((heading) => ({ heading })),
    rows: page.rows.map((row) => [
      row.name,
      row.carries ? "yes" : "no",
      marked(row),
      row.low_per_s === null || row.high_per_s === null ? "–" : `${rate(row.low_per_s)} – ${rate(row.high_per_s)}`,
      row.mostly || "–",
      row.healthy,
      row.degraded,
      row.rebuilding,
      row.rebuild,
      row.loss,
      row.drives,
      row.price,
      row.limited_by,
    ]),
  };
}

function marked({ mark_per_s, at_least }: ChoiceRow): Rich {
  if (mark_per_s === null) return { content: "–", value: null };
  const shown = `${at_least ? "≥ " : ""}${rate(mark_per_s)}`;
  return { content: element("data", { value: String(mark_per_s), title: exact(mark_per_s, "requests/s") }, shown), value: mark_per_s };
}

/** More rows than this are not printed, only how many they are. */
const PRINTED_MAX = 60;

function fallenOut({ how, candidates }: FallenOut): HTMLElement {
  const isPrinted = candidates.length <= PRINTED_MAX;
  const details = element(
    "details",
    { class: isPrinted ? "data more part" : "data more" },
    element("summary", {}, `${counted(candidates.length, "candidate")} ${how}`),
    tableElement({
      caption: `Fell out ${how}`,
      columns: [{ heading: "Array" }, { heading: "Why" }],
      rows: candidates.map(({ name, reason }) => [name, reason]),
    }),
  );
  return isPrinted ? printed(details) : details;
}
