// The heat maps of a matrix: any two of its axes against each other, all others as facets.
//
// Model: workload and configuration are axes like the settings where there are several of them. A cell is the combination of one value per
// axis; facets share one scale of colours, so that they can be compared by eye.

import { isSpokenInBytes } from "../charts/loadLine";
import { matrixHeight, matrixOption, type MatrixSpec } from "../charts/matrix";
import { element } from "../element";
import { discardFigures, figureElement, type Figure } from "../figure";
import { duration, megabytes, rate } from "../format";
import type { Experiment, Json, MatrixCell, Report, Subject } from "../model";
import { comparable, optionWords, valueText } from "../settings";
import type { Column, Table } from "../table";
import { list, segments } from "./choices";
import { configurationName } from "./names";

interface Axis {
  name: string;
  heading: string;
  values: string[];
  of: (entry: Entry) => string;
}

interface Entry {
  cell: MatrixCell;
  subject: Subject;
}

const MEASURES = [
  { key: "iops", name: "IOPS", heading: "IOPS", scale: 1, format: (value: number) => rate(value) },
  { key: "bytes_per_s", name: "MB/s", heading: "MB/s", scale: 1e-6, format: megabytes },
  { key: "mean", name: "mean latency", heading: "mean latency, µs", scale: 1e-3, format: duration },
  { key: "p99", name: "p99", heading: "p99, µs", scale: 1e-3, format: duration },
];

const MOST_FACETS = 24;

export function matrixView(experiment: Experiment, report: Report): HTMLElement | null {
  const entries = experiment.subjects.flatMap((subject) => subject.cells.map((cell) => ({ cell, subject })));
  if (entries.length === 0) return null;
  const axes = matrixAxes(entries, report);
  const chosen = { x: axes.length - 1, y: Math.max(axes.length - 2, 0), measure: isSpokenInBytes(experiment.subjects) ? 1 : 0 };
  // The axes stand settings last, so that the two innermost settings are the first choice.
  const holder = element("div", { class: "pair" });
  const draw = () => {
    discardFigures(holder);
    holder.replaceChildren(...facets(experiment, report, entries, axes, chosen).map(figureElement));
  };
  draw();
  const names = axes.map(({ heading }) => heading);
  const choose = (key: "x" | "y") => (index: number) => {
    const other = key === "x" ? "y" : "x";
    if (chosen[other] === index) chosen[other] = chosen[key];
    chosen[key] = index;
    update();
  };
  const form = element("form", { class: "controls", "aria-label": `What the heat maps of ${experiment.name} show` });
  const fill = () =>
    form.replaceChildren(
      segments(
        `measure of ${experiment.name}`,
        "Colour",
        MEASURES.map(({ name }) => name),
        (index) => {
          chosen.measure = index;
          draw();
        },
        chosen.measure,
      ),
      ...(axes.length > 2 ? [list("Across", names, choose("x"), chosen.x), list("Up", names, choose("y"), chosen.y)] : []),
    );
  const update = () => {
    fill();
    draw();
  };
  fill();
  return element("div", { class: "matrix" }, form, holder);
}

/** Every axis with more than one value: configuration, workload, then the settings in the order of the experiment. At least one. */
function matrixAxes(entries: Entry[], report: Report): Axis[] {
  const options = [...new Set(entries.flatMap(({ cell }) => Object.keys(cell.settings)))];
  const all = [
    axis("configuration", "configuration", entries, ({ subject }) => configurationName(subject, report)),
    axis("workload", "workload", entries, ({ subject }) => subject.title),
    ...options.map((option) => settingAxis(option, entries)),
  ];
  const varied = all.filter(({ values }) => values.length > 1);
  return varied.length > 0 ? varied : all.slice(-1);
}

function axis(name: string, heading: string, entries: Entry[], of: (entry: Entry) => string): Axis {
  return { name, heading, values: [...new Set(entries.map(of))], of };
}

function settingAxis(option: string, entries: Entry[]): Axis {
  const values = [...new Set(entries.map(({ cell }) => cell.settings[option] ?? null))];
  const numeric = values.every((value) => typeof comparable(value) === "number");
  if (numeric) values.sort((a, b) => (comparable(a) as number) - (comparable(b) as number));
  const text = (value: Json) => (value === null ? "–" : valueText(option, value));
  return { name: option, heading: optionWords(option), values: values.map(text), of: ({ cell }) => text(cell.settings[option] ?? null) };
}

interface Chosen {
  x: number;
  y: number;
  measure: number;
}

function facets(experiment: Experiment, report: Report, entries: Entry[], axes: Axis[], chosen: Chosen): Figure[] {
  const [x, y] = [axes[chosen.x], axes[chosen.y]] as [Axis, Axis];
  const others = axes.filter((each) => each !== x && each !== y);
  const measure = MEASURES[chosen.measure] as (typeof MEASURES)[number];
  const values = entries.flatMap(({ cell }) => cell.values[measure.key]?.value ?? []);
  const extent: [number, number] = [Math.min(...values), Math.max(...values)];
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = others
      .map((each) => `${each.heading === "workload" || each.heading === "configuration" ? "" : `${each.heading} `}${each.of(entry)}`)
      .join(", ");
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  const alone = x === y;
  return [...groups].slice(0, MOST_FACETS).map(([name, members]) => {
    const spec: MatrixSpec = {
      x: { name: x.heading, values: x.values },
      y: alone ? { name: "", values: [""] } : { name: y.heading, values: y.values },
      cells: cellsOf(members, x, alone ? null : y, measure.key),
      extent,
      measure: measure.name,
      format: measure.format,
    };
    return facet({ experiment, spec, name: name || (members[0]?.subject.title ?? ""), members, axes, wide: groups.size === 1, report });
  });
}

function cellsOf(members: Entry[], x: Axis, y: Axis | null, key: string): MatrixSpec["cells"] {
  return members.flatMap((entry) => {
    const estimate = entry.cell.values[key];
    if (!estimate) return [];
    const place = { x: x.values.indexOf(x.of(entry)), y: y ? y.values.indexOf(y.of(entry)) : 0 };
    return [{ ...place, estimate, repeats: entry.cell.points.length }];
  });
}

interface Facet {
  experiment: Experiment;
  report: Report;
  spec: MatrixSpec;
  name: string;
  members: Entry[];
  axes: Axis[];
  wide: boolean;
}

function facet({ experiment, spec, name, members, axes, wide }: Facet): Figure {
  const [low, high] = spec.extent;
  return {
    title: `${name}: ${spec.measure}`,
    label: `Heat map of ${experiment.name}, ${name}: ${spec.measure} by ${spec.x.name} and ${spec.y.name}.`,
    height: matrixHeight(spec),
    wide,
    option: (palette, width) => matrixOption(spec, palette, width),
    legend: (palette) => [
      { name: `${spec.format(low)} to ${spec.format(high)} ${spec.measure}`, colour: palette.accent, mark: palette.heat },
    ],
    table: () => matrixTable(experiment, members, axes),
    modelled: members.some(({ subject }) => subject.modelled),
  };
}

function matrixTable(experiment: Experiment, members: Entry[], axes: Axis[]): Table {
  return {
    caption: `Cells of ${experiment.name}`,
    columns: [
      ...axes.map(({ heading }): Column => ({ heading })),
      ...MEASURES.map(({ heading, scale }): Column => ({ heading, scale })),
      { heading: "Repeats" },
    ],
    rows: members.map((entry) => [
      ...axes.map(({ name, of }) => ({ content: of(entry), value: sortValue(name, entry, of) })),
      ...MEASURES.map(({ key }) => entry.cell.values[key]?.value),
      entry.cell.points.length,
    ]),
  };
}

function sortValue(name: string, entry: Entry, of: (entry: Entry) => string): string | number {
  return name in entry.cell.settings ? comparable(entry.cell.settings[name] ?? null) : of(entry);
}
