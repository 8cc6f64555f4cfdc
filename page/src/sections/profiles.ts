// The bar charts of each access group, with one choice of what all of them show.

import { barsHeight, barsOption, bars, isStacked, type BarSpec } from "../charts/bars";
import { element } from "../element";
import { discardFigures, figureElement, type Figure, type LegendEntry } from "../figure";
import { duration, exact, megabytes, rate } from "../format";
import type { Group, Measure, Op, Report } from "../model";
import { configurationColour, type Palette } from "../palette";
import type { Table } from "../table";

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
  rate: number;
  latency: number;
  logarithmic: boolean;
}

export function profileSection(report: Report): HTMLElement {
  const chosen: Chosen = { rate: 0, latency: 0, logarithmic: false };
  const holders = report.groups.map((group) => ({ group, holder: element("div", { class: "pair" }) }));
  const draw = () => {
    for (const { group, holder } of holders) {
      discardFigures(holder);
      holder.replaceChildren(...figures(group, report, chosen).map(figureElement));
    }
  };
  draw();
  return element(
    "section",
    { id: "profiles", "aria-labelledby": "profiles-heading" },
    element("h2", { id: "profiles-heading" }, "By access pattern"),
    controls(chosen, draw),
    ...holders.map(({ group, holder }) =>
      element("div", { class: "group", id: group.name }, element("h3", {}, GROUP_TITLES[group.name]), holder),
    ),
  );
}

function controls(chosen: Chosen, draw: () => void): HTMLElement {
  const logarithmic = element("input", { type: "checkbox" });
  logarithmic.addEventListener("change", () => {
    chosen.logarithmic = logarithmic.checked;
    draw();
  });
  return element(
    "form",
    { class: "controls", "aria-label": "What the bar charts show" },
    segments("rate", "Rate", RATES, (index) => {
      chosen.rate = index;
      draw();
    }),
    segments("latency", "Latency", LATENCIES, (index) => {
      chosen.latency = index;
      draw();
    }),
    element("label", { class: "check" }, logarithmic, "logarithmic latency"),
  );
}

function segments(name: string, legend: string, choices: Choice[], choose: (index: number) => void): HTMLElement {
  const options = choices.map((choice, index) => {
    const input = element("input", { type: "radio", name, checked: index === 0 });
    input.addEventListener("change", () => choose(index));
    return element("label", {}, input, element("span", {}, choice.name));
  });
  return element("fieldset", { class: "segments" }, element("legend", {}, legend), ...options);
}

function figures(group: Group, report: Report, chosen: Chosen): Figure[] {
  const rateChoice = RATES[chosen.rate] as Choice;
  const latency = LATENCIES[chosen.latency] as Choice;
  return [figure(group, report, rateChoice, false), figure(group, report, latency, chosen.logarithmic)];
}

function figure(group: Group, report: Report, choice: Choice, logarithmic: boolean): Figure {
  const configurations = report.configurations.map(({ label }) => label);
  const exactly = (value: number) => exact(value, choice.unit);
  const spec: BarSpec = { group, configurations, measure: choice.measure, logarithmic, format: choice.format, exact: exactly };
  const repeated = bars(spec).some(({ spread }) => spread.n > 1);
  const better = isStacked(choice.measure) ? "more is better" : "less is better";
  return {
    title: `${choice.title} · ${better}`,
    label: `${choice.title} of the ${group.name} profiles as bars; the numbers follow as a table.`,
    ...(repeated ? { note: "Bars: mean of the repeats. Error bars: lowest and highest repeat." } : {}),
    height: barsHeight(spec),
    option: (palette) => barsOption(spec, palette),
    legend: (palette) => legend(spec, report, palette),
    table: () => table(spec, choice, report),
    modelled: report.configurations.some(({ modelled }, index) => modelled && group.profiles.some(({ cells }) => cells[index])),
  };
}

function legend(spec: BarSpec, report: Report, palette: Palette): LegendEntry[] {
  const ops = [...new Set(bars(spec).map(({ op }) => op))];
  if (spec.configurations.length === 1) return ops.map((op: Op) => ({ name: op, colour: palette.op[op], mark: "solid" }));
  const configurations = report.configurations.map(({ label, modelled }, index): LegendEntry => ({
    name: modelled ? `${label} (modelled)` : label,
    colour: configurationColour(palette, index),
    mark: "solid",
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
