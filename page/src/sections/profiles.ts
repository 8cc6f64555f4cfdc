// The bar charts of each access group, with one choice of what all of them show.

import { barsHeight, barsOption, bars, configurationKey, isStacked, type BarSpec, type Measure } from "../charts/bars";
import { element } from "../element";
import { discardFigures, figureElement, type Figure, type LegendEntry } from "../figure";
import { duration, exact, megabytes, rate } from "../format";
import type { Group, Op, Report, Slice } from "../model";
import { configurationColour, type Palette } from "../palette";
import { settingsText } from "../settings";
import type { Table } from "../table";
import { check, list, segments } from "./choices";

/** What the bars of drivers are called, whose operations have no access pattern. */
const OPERATIONS = "By operation";

export const GROUP_TITLES: Record<Group["name"], string> = {
  sequential: "Sequential access",
  random: "Random access",
  combined: "Combined access",
  other: "Other access",
};

interface Choice {
  measure: Measure;
  name: string;
  title: string;
  scale: number;
  heading: string;
  format: (value: number) => string;
  unit: string;
}

const latencyChoice = (measure: Measure, name: string, title: string): Choice => ({
  measure,
  name,
  title,
  scale: 1e-3,
  heading: "µs",
  format: duration,
  unit: "ns",
});
const RATES: Choice[] = [
  { measure: "iops", name: "IOPS", title: "IOPS", scale: 1, heading: "IOPS", format: (value) => rate(value), unit: "IOPS" },
  { measure: "bytes_per_s", name: "MB/s", title: "Throughput, MB/s", scale: 1e-6, heading: "MB/s", format: megabytes, unit: "B/s" },
];
const LATENCIES: Choice[] = [
  latencyChoice("mean_ns", "mean", "Mean latency"),
  latencyChoice("p50_ns", "p50", "Median latency"),
  latencyChoice("p99_ns", "p99", "99th percentile latency"),
  latencyChoice("p999_ns", "p99.9", "99.9th percentile latency"),
  latencyChoice("max_ns", "max", "Slowest I/O"),
];

interface Chosen {
  /** Which of the settings that experiments gave the points. */
  slice: number;
  rate: number;
  latency: number;
  logarithmic: boolean;
}

/** The groups that any slice has, in the order of the titles. */
export function groupNames({ slices, groups }: Report): Group["name"][] {
  const found = new Set([...groups, ...slices.flatMap((slice) => slice.groups)].map(({ name }) => name));
  return (Object.keys(GROUP_TITLES) as Group["name"][]).filter((name) => found.has(name));
}

const areDriven = ({ points }: Report) => points.every(({ definition }) => "driver" in definition);

/** Of a group in the list of contents. */
export const groupTitle = (name: Group["name"], report: Report) => (areDriven(report) ? OPERATIONS : GROUP_TITLES[name].replace(" access", ""));

/** Null where no point has a bar: then all belong to lines, rounds or nothing at all. */
export function profileSection(report: Report): HTMLElement | null {
  if (report.groups.length === 0 && (report.experiments.length > 0 || Object.keys(report.drivers).length > 0)) return null;
  const slices: Slice[] = report.slices.length > 0 ? report.slices : [{ settings: {}, layer: 0, groups: report.groups }];
  const first = slices.findIndex(({ groups }) => JSON.stringify(groups) === JSON.stringify(report.groups));
  const chosen: Chosen = { slice: Math.max(first, 0), rate: 0, latency: 0, logarithmic: false };
  const holders = groupNames(report).map((name) => {
    const holder = element("div", { class: "pair" });
    return { name, holder, whole: element("div", { class: "group", id: name }, !areDriven(report) && element("h3", {}, GROUP_TITLES[name]), holder) };
  });
  const draw = () => {
    for (const { name, holder, whole } of holders) {
      discardFigures(holder);
      const group = slices[chosen.slice]?.groups.find((each) => each.name === name);
      whole.hidden = !group;
      holder.replaceChildren(...(group ? figures(group, report, chosen).map(figureElement) : []));
    }
  };
  draw();
  return element(
    "section",
    { id: "profiles", "aria-labelledby": "profiles-heading" },
    element("h2", { id: "profiles-heading" }, areDriven(report) ? OPERATIONS : "By access pattern"),
    controls(slices, chosen, draw),
    ...holders.map(({ whole }) => whole),
  );
}

const names = (choices: Choice[]) => choices.map(({ name }) => name);

function controls(slices: Slice[], chosen: Chosen, draw: () => void): HTMLElement {
  const settings = slices.map(
    (slice) => `${settingsText(slice.settings) || "as the workload says"}${slice.layer > 0 ? ` (${slice.layer + 1})` : ""}`,
  );
  return element(
    "form",
    { class: "controls", "aria-label": "What the bar charts show" },
    slices.length > 1 &&
      list(
        "Points at",
        settings,
        (index) => {
          chosen.slice = index;
          draw();
        },
        chosen.slice,
      ),
    segments("rate", "Rate", names(RATES), (index) => {
      chosen.rate = index;
      draw();
    }),
    segments("latency", "Latency", names(LATENCIES), (index) => {
      chosen.latency = index;
      draw();
    }),
    check("logarithmic latency", (on) => {
      chosen.logarithmic = on;
      draw();
    }),
  );
}

function figures(group: Group, report: Report, chosen: Chosen): Figure[] {
  const rateChoice = RATES[chosen.rate] as Choice;
  const latency = LATENCIES[chosen.latency] as Choice;
  return [figure(group, report, rateChoice, false), figure(group, report, latency, chosen.logarithmic)];
}

function figure(group: Group, report: Report, choice: Choice, logarithmic: boolean): Figure {
  const configurations = report.configurations.map(({ label }) => label);
  const exactly = (value: number) => exact(value, choice.unit);
  const published = publishedBars(group, report, choice.measure);
  const spec: BarSpec = { group, configurations, measure: choice.measure, logarithmic, format: choice.format, exact: exactly, published };
  const repeated = bars(spec).some(({ spread }) => spread.n > 1);
  const better = isStacked(choice.measure) ? "more is better" : "less is better";
  return {
    title: `${choice.title} · ${better}`,
    label: `${choice.title} of the ${group.name} profiles as bars; the numbers follow as a table.`,
    ...note(spec, repeated),
    height: barsHeight(spec),
    option: (palette, _, hidden) => barsOption(shownOf(spec, hidden), palette),
    legend: (palette) => legend(spec, report, palette),
    table: () => table(spec, choice, report),
    modelled: report.configurations.some(({ modelled }, index) => modelled && group.profiles.some(({ cells }) => cells[index])),
  };
}

/** Published figures of the shown measure, at the bars that they are about. */
function publishedBars(group: Group, report: Report, measure: Measure): BarSpec["published"] {
  const metric = measure.replace(/_ns$/, "");
  const figures = report.published.flatMap(({ rows }) => rows).filter((row) => row.metric === metric && row.op === "all");
  return group.profiles.flatMap(({ cells }, profile) =>
    cells.flatMap((cell, configuration) =>
      figures.flatMap(({ value, label, points }) =>
        value !== null && cell?.points.some((point) => points.includes(point)) ? [{ profile, configuration, value, label }] : [],
      ),
    ),
  );
}

/** What error bars there are mean. */
function note(spec: BarSpec, repeated: boolean): { note: string } | null {
  const bounded = bars(spec).some(({ end }) => end?.interval);
  const sentences = [
    repeated && "Bars: mean of the repeats. Error bars: lowest and highest repeat.",
    bounded && `Error bars${repeated ? " of single measurements" : ""}: 95 % interval.`,
    spec.published.length > 0 && "Diamonds: published by others, not measured here.",
  ].filter(Boolean);
  return sentences.length > 0 ? { note: sentences.join(" ") } : null;
}

/** The same bars without those that the legend switched off, each at its place. */
function shownOf(spec: BarSpec, hidden: ReadonlySet<string>): BarSpec {
  return hidden.size > 0 ? { ...spec, hidden } : spec;
}

function legend(spec: BarSpec, report: Report, palette: Palette): LegendEntry[] {
  const ops = [...new Set(bars(spec).map(({ op }) => op))];
  if (spec.configurations.length === 1) return ops.map((op: Op) => ({ name: op, colour: palette.op[op], mark: "solid", hides: op }));
  const configurations = report.configurations.map(({ label, modelled }, index): LegendEntry => ({
    name: modelled ? `${label} (modelled)` : label,
    colour: configurationColour(palette, index),
    mark: "solid",
    hides: configurationKey(index),
  }));
  const written = ops.filter((op) => op !== "read").join(", ");
  return ops.includes("read") && written
    ? [...configurations, { name: "read", colour: palette.muted, mark: "solid" }, { name: written, colour: palette.muted, mark: "light" }]
    : configurations;
}

function table(spec: BarSpec, choice: Choice, report: Report): Table {
  const unit = { scale: choice.scale };
  return {
    caption: `${choice.title}${report.verdict.modelled ? "; modelled configurations are marked" : ""}`,
    columns: [
      { heading: "Profile" },
      { heading: "Configuration" },
      { heading: "Operation" },
      { heading: `Mean, ${choice.heading}`, ...unit },
      { heading: "Lowest", ...unit },
      { heading: "Highest", ...unit },
      { heading: "Repeats" },
    ],
    rows: bars(spec).map(({ profile, configuration, op, spread }) => {
      const { label, modelled } = report.configurations[configuration] as Report["configurations"][number];
      return [
        spec.group.profiles[profile]?.title,
        modelled ? `${label} (modelled)` : label,
        op,
        spread.mean,
        spread.min,
        spread.max,
        spread.n,
      ];
    }),
  };
}
