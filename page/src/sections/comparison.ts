// The comparison of configurations: what was found in sentences first, then the ratios with their intervals, marks, and remarks.

import { isClipped, ratioExtent, ratioHeight, ratiosOption, ratioText, type RatioRow } from "../charts/ratios";
import { isMixed, modelledBadge } from "../badge";
import { element } from "../element";
import { discardFigures, figureElement, type Figure, type LegendEntry } from "../figure";
import { bandwidth, counted, digits, exact, rate } from "../format";
import type { ComparedMark, ComparedPoint, Comparison, ComparisonVerdict, Group, Mark, Report } from "../model";
import type { Palette } from "../palette";
import { levelText, settingsText, subjectTitle } from "../settings";
import { tableElement, type Table } from "../table";
import { nounOf } from "../rates";
import { list } from "./choices";
import { GROUP_TITLES } from "./profiles";

const SIGNS: Record<ComparisonVerdict, string> = { faster: "▲", slower: "▼", "no difference shown": "○", "too short to tell": "?" };

export function comparisonSection(report: Report): HTMLElement | null {
  const { comparison } = report;
  if (!comparison) return null;
  const holder = element("div", { class: "pair" });
  const metrics = metricsOf(comparison, nounOf(report.points));
  const draw = (index: number) => {
    discardFigures(holder);
    holder.replaceChildren(figureElement(ratioFigure(comparison, metrics[index] as Measured, report)));
  };
  if (metrics.length > 0) draw(0);
  const chooser =
    metrics.length > 1 &&
    element(
      "form",
      { class: "controls", "aria-label": "What the ratios are of" },
      list(
        "Ratio of",
        metrics.map(({ words }) => words),
        draw,
      ),
    );
  return element(
    "section",
    { id: "comparison", "aria-labelledby": "comparison-heading" },
    element(
      "h2",
      { id: "comparison-heading" },
      `Compared with ${comparison.baseline}`,
      modelledBadge(report.configurations.some(({ modelled }) => modelled)),
    ),
    markRatios(comparison, report),
    comparison.sides.length > 2 && matrixView(comparison),
    comparison.sides.length > 2 ? foldedRatios(chooser, metrics.length > 0 && holder) : element("div", {}, chooser, metrics.length > 0 && holder),
    findings(comparison),
    notes(comparison),
  );
}

/** Several sides make a chart of many rows; the matrix says the same at a glance. */
function foldedRatios(chooser: HTMLElement | false, holder: HTMLElement | false): HTMLElement {
  return element("details", { class: "data more" }, element("summary", {}, "Ratios with their intervals"), chooser, holder);
}

/** More rows than this stand folded below a row per workload. */
const ROWS = 24;

function matrixView(comparison: Comparison): HTMLElement | null {
  if (comparison.points.length === 0) return null;
  const matrix = ratioMatrix(comparison);
  const rows = comparison.points.length / (comparison.sides.length - 1);
  if (rows <= ROWS) return matrix;
  return element(
    "div",
    {},
    workloadMatrix(comparison),
    element("details", { class: "data more" }, element("summary", {}, "Every point"), matrix),
  );
}

/** A row per workload: the range of the ratios, and how many of them are shown. */
function workloadMatrix({ points, sides, baseline }: Comparison): HTMLElement {
  const others = sides.slice(1).map(({ name }) => name);
  const subjects = [...new Set(points.map((point) => subjectTitle(point, points)))];
  return tableElement({
    caption: `Ratios to ${baseline} by workload: lowest to highest, and in how many points faster ▲ or slower ▼ is shown`,
    columns: ["Workload", "Points", ...others].map((heading) => ({ heading })),
    rows: subjects.map((subject) => {
      const own = points.filter((point) => subjectTitle(point, points) === subject);
      const cells = others.map((side) => rangeCell(own.filter((point) => point.side === side)));
      return [subject, Math.max(...others.map((side) => own.filter((point) => point.side === side).length)), ...cells];
    }),
  });
}

function rangeCell(points: ComparedPoint[]) {
  const ratios = points.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]));
  if (ratios.length === 0) return "–";
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  const [faster, slower] = (["faster", "slower"] as const).map((word) => points.filter(({ verdict }) => verdict === word).length) as [number, number];
  const range = digits(low) === digits(high) ? digits(low) : `${digits(low)} to ${digits(high)}`;
  const signs = [faster && `▲ ${faster}`, slower && `▼ ${slower}`].filter(Boolean).join(" ");
  const shade = faster > slower ? "faster" : slower > faster ? "slower" : "no";
  return { content: element("span", { class: `verdict-word ${shade}` }, `${range} × ${signs}`), value: low };
}

const SHADES: Record<ComparisonVerdict, string> = { faster: "faster", slower: "slower", "no difference shown": "no", "too short to tell": "short" };

/** A row per point and a column of ratios per side. */
function ratioMatrix({ points, sides, baseline }: Comparison): HTMLElement {
  const rows = new Map<string, ComparedPoint[]>();
  for (const point of points) {
    const key = JSON.stringify([point.experiment, point.workload, point.settings, point.op, point.metric]);
    rows.set(key, [...(rows.get(key) ?? []), point]);
  }
  const others = sides.slice(1).map(({ name }) => name);
  const merged = isOnePerPoint(points) && new Set(points.filter(isThroughput).map(({ metric }) => metric)).size > 1;
  const named = (point: ComparedPoint) => (merged && isThroughput(point) ? THROUGHPUT.words : words(point.op, point.metric));
  const metrics = new Set(points.map(named));
  return tableElement({
    caption: `Ratios to ${baseline}${metrics.size === 1 ? `, ${[...metrics][0]}` : ""}: ▲ faster, ▼ slower, ○ no difference shown, ? too short to tell`,
    columns: ["Workload", "At", ...(metrics.size > 1 ? ["Figure"] : []), ...others].map((heading) => ({ heading })),
    rows: [...rows.values()].map((found) => {
      const first = found[0] as ComparedPoint;
      return [
        subjectTitle(first, points),
        settingsText(first.settings),
        ...(metrics.size > 1 ? [named(first)] : []),
        ...others.map((side) => ratioCell(found.find((point) => point.side === side))),
      ];
    }),
  });
}

function ratioCell(point: ComparedPoint | undefined) {
  if (!point || point.ratio === null) return "–";
  const bound = point.values[1].at_least ? "≥ " : point.values[0].at_least ? "≤ " : "";
  const shown = `${bound}${digits(point.ratio)} × ${point.verdict ? SIGNS[point.verdict] : ""}`;
  const shade = point.verdict ? SHADES[point.verdict] : "no";
  return { content: element("span", { class: `verdict-word ${shade}`, title: ratioText(tellingOf(point)) }, shown), value: point.ratio };
}

/** The ratio without an interval that says nothing. */
function tellingOf<T extends { ratio: number | null; low: number | null; high: number | null }>(row: T) {
  const tells = row.low !== null && row.high !== null && row.low > 0 && row.high <= SPAN_MAX * row.low;
  return { ratio: row.ratio ?? 1, low: tells ? row.low : null, high: tells ? row.high : null };
}

/** As in plimsoll.result: an interval that spans more is not shown. */
const SPAN_MAX = 4;

const FEW = 3;
/** More remarks than this stand folded. */
const REMARKS = 6;

function findings({ findings: found, points }: Comparison): HTMLElement | null {
  if (found.length === 0) return points.length > 0 ? element("p", { class: "note" }, "No findings.") : null;
  const item = (text: string) => element("li", {}, text);
  const first = element("ul", { class: "findings" }, ...found.slice(0, FEW).map(item));
  if (found.length <= FEW) return first;
  const rest = found.slice(FEW);
  return element(
    "div",
    {},
    first,
    element(
      "details",
      { class: "data more" },
      element("summary", {}, `${counted(rest.length, "more finding")}`),
      element("ul", { class: "findings" }, ...rest.map(item)),
    ),
  );
}

/** What is not alike on both sides, and what could not be compared. */
function notes({ notes: remarks }: Comparison): HTMLElement | null {
  if (remarks.length === 0) return null;
  const listed = element("ul", { class: "remarks" }, ...remarks.map((remark) => element("li", {}, remark)));
  if (remarks.length <= REMARKS) return listed;
  return element("details", { class: "data more" }, element("summary", {}, counted(remarks.length, "remark")), listed);
}

interface Measured {
  metric: string;
  op: string;
  words: string;
  /** Whether the ratios of a point are of this. */
  holds: (point: ComparedPoint) => boolean;
}

const METRIC_WORDS: Record<string, string> = { iops: "IOPS", bytes_per_s: "bandwidth", p999: "p99.9 latency" };
const RATES = ["iops", "bytes_per_s", "achieved"];

const words = (op: string, metric: string) => `${op === "all" ? "" : `${op} `}${METRIC_WORDS[metric] ?? `${metric} latency`}`;

function metricsOf({ points }: Comparison, noun: string): Measured[] {
  const found = new Map<string, Measured>();
  for (const { op, metric } of points) {
    const holds = (point: ComparedPoint) => point.op === op && point.metric === metric;
    found.set(`${op} ${metric}`, { op, metric, words: op === "all" && metric === "iops" ? noun : words(op, metric), holds });
  }
  const rates = [...found.values()].filter(isThroughput);
  const rest = [...found.values()].filter((each) => !isThroughput(each));
  return rates.length > 1 && isOnePerPoint(points) ? [THROUGHPUT, ...rest] : [...rates, ...rest];
}

const isThroughput = ({ op, metric }: { op: string; metric: string }) => op === "all" && (metric === "iops" || metric === "bytes_per_s");

/** Requests of some loads, bytes of those whose requests are large: their ratios stand in one chart. */
const THROUGHPUT: Measured = { op: "all", metric: "iops", words: "throughput", holds: isThroughput };

/** Whether nobody asked for both of the same point. */
function isOnePerPoint(points: ComparedPoint[]): boolean {
  const keys = points
    .filter(isThroughput)
    .map(({ experiment, workload, settings, level, side }) => JSON.stringify([experiment, workload, settings, level, side]));
  return new Set(keys).size === keys.length;
}

const RATIO_NOTE = "Bars: 95 % interval of the ratio. The verdict allows for the number of comparisons made.";

const NOT_CARRIED_NOTE = "the offered rate was not achieved, so these latencies say how long the load lasted.";

/** What the signs of the rows mean. */
function remark(rows: RatioRow[]): string {
  const extent = ratioExtent(rows);
  const parts = [RATIO_NOTE];
  if (rows.some(({ saturated }) => saturated)) parts.push(`${NOT_CARRIED}: ${NOT_CARRIED_NOTE}`);
  if (rows.some((each) => isClipped(each, extent))) parts.push("Arrows: they go beyond the axis, which the other rows set.");
  return parts.join(" ");
}

function ratioFigure(comparison: Comparison, { metric, words: name, holds }: Measured, report: Report): Figure {
  const chosen = comparison.points.filter((point) => holds(point) && point.ratio !== null);
  const rows = inOrder(chosen).map((point) => row(point, chosen, comparison, report));
  const better = RATES.includes(metric) ? "more is better" : "less is better";
  return {
    title: `${name.charAt(0).toUpperCase()}${name.slice(1)} over ${comparison.baseline} · ${better}`,
    label: `Ratio of ${name} to that of ${comparison.baseline} for every point, with 95 % intervals.`,
    note: remark(rows),
    height: ratioHeight(rows),
    wide: true,
    option: (palette, width) =>
      ratiosOption(
        { rows, baseline: comparison.baseline, measure: `${name} (${better})`, several: comparison.sides.length > 2 },
        palette,
        width,
      ),
    legend: (palette) => legend(rows, palette),
    table: () => table(rows, name, comparison),
    modelled: rows.some(({ side }) => report.configurations.some(({ label, modelled }) => modelled && label === side)),
  };
}

const GROUPS = Object.keys(GROUP_TITLES);
const groupOf = ({ group }: ComparedPoint) => (group in GROUP_TITLES ? group : "other") as Group["name"];
const subjectOf = ({ workload, experiment }: ComparedPoint) => `${workload} ${experiment}`;
const isAlone = ({ settings, level }: ComparedPoint) => level === null && Object.keys(settings).length === 0;

/** By group, with points measured once first; then workloads and experiments as they were measured, the levels of each rising. */
function inOrder(points: ComparedPoint[]): ComparedPoint[] {
  const subjects = [...new Set(points.map(subjectOf))];
  const place = (point: ComparedPoint) => [
    GROUPS.indexOf(groupOf(point)),
    isAlone(point) ? 0 : 1,
    subjects.indexOf(subjectOf(point)),
    point.level ?? 0,
  ];
  return [...points].sort((a, b) => {
    const [left, right] = [place(a), place(b)];
    const differing = left.findIndex((value, index) => value !== right[index]);
    return differing < 0 ? 0 : (left[differing] as number) - (right[differing] as number);
  });
}

/** Behind the place of latencies whose load was not carried. */
const NOT_CARRIED = "‡";

function row(point: ComparedPoint, all: ComparedPoint[], comparison: Comparison, report: Report): RatioRow {
  const alone = isAlone(point);
  const title = subjectTitle(point, all);
  const where = alone
    ? title
    : Object.keys(point.settings).length > 0
      ? settingsText(point.settings)
      : levelText(null, point.level ?? 0);
  const sided = comparison.sides.length > 2 ? `${where}, ${point.side}` : where;
  return {
    heading: alone ? GROUP_TITLES[groupOf(point)] : title,
    workload: title,
    label: point.rate_not_achieved ? `${sided} ${NOT_CARRIED}` : sided,
    side: point.side,
    configuration: report.configurations.findIndex(({ label }) => label === point.side),
    ...tellingOf(point),
    verdict: point.verdict ?? "no difference shown",
    p_adjusted: point.p_adjusted,
    saturated: point.rate_not_achieved ?? false,
  };
}

function legend(rows: RatioRow[], palette: Palette): LegendEntry[] {
  const verdicts = (Object.keys(SIGNS) as ComparisonVerdict[]).filter((verdict) => rows.some((each) => each.verdict === verdict));
  return verdicts.map((verdict) => ({ name: verdict, colour: palette.verdict[verdict], mark: "sign", sign: SIGNS[verdict] }));
}

function table(rows: RatioRow[], name: string, { baseline }: Comparison): Table {
  return {
    caption: `Ratio of ${name} to that of ${baseline}`,
    columns: ["Workload", "At", "Configuration", "Ratio", "Low", "High", "Verdict", "p, adjusted"].map((heading) => ({ heading })),
    rows: rows.map(({ workload, label, side, ratio, low, high, verdict, p_adjusted }) => [
      workload,
      label,
      side,
      ratio,
      low,
      high,
      verdict,
      p_adjusted,
    ]),
  };
}

function markRatios({ marks, baseline }: Comparison, report: Report): HTMLElement | null {
  if (marks.length === 0) return null;
  const objectives = new Set(marks.map(({ objective }) => objective));
  const shared = objectives.size === 1 ? [...objectives][0] : undefined;
  return tableElement({
    caption: `Marks over those of ${baseline}${shared === undefined ? "" : `: ${shared}`}`,
    columns: ["Workload", ...(shared === undefined ? ["Objective"] : []), "Configuration", `Mark of ${baseline}`, "Mark", "Ratio [95 %]", "Verdict", ""].map(
      (heading) => ({ heading }),
    ),
    rows: marks.map(({ objective, side, ratio, low, high, verdict, values, note, noun }, index) => [
      subjectTitle(marks[index] as ComparedMark, marks),
      ...(shared === undefined ? [objective] : []),
      isMixed(report) && report.configurations.some(({ label, modelled }) => modelled && label === side) ? `${side} (modelled)` : side,
      markCell(values[0], noun),
      markCell(values[1], noun),
      ratio === null ? "–" : { content: element("data", { value: String(ratio) }, ratioText(tellingOf({ ratio, low, high }))), value: ratio },
      verdict === null
        ? "–"
        : { content: element("span", { class: `verdict-word ${verdict.split(" ")[0]}` }, `${SIGNS[verdict]} ${verdict}`), value: verdict },
      note,
    ]),
  });
}

/** In what people speak of these loads in: MB/s where requests are large. */
function markCell(mark: Mark | null, noun: string) {
  if (!mark) return "no level held";
  const large = noun === "MB/s";
  const value = large ? mark.bytes_per_s : mark.iops;
  const shown = large ? bandwidth(value) : `${rate(value)} ${noun}`;
  return { content: element("data", { value: String(value), title: exact(value, large ? "B/s" : noun) }, shown), value };
}
