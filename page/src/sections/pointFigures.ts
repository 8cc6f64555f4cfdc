// The charts of one point, each with its table.

import { incidentWords } from "../charts/axes";
import { cpuColour, cpuOption, CPU, DEVICE_PANELS, deviceHeight, deviceOption } from "../charts/host";
import { edge, heatCells, heatmapOption } from "../charts/heatmap";
import { curveName, percentilesOption } from "../charts/percentiles";
import { latencyOption, opSeries, throughputOption } from "../charts/time";
import type { Figure, LegendEntry } from "../figure";
import { counted } from "../format";
import type { HostTimeline, Point, Report, Timeline } from "../model";
import type { Palette } from "../palette";
import { placeText } from "../settings";
import type { Column, Table } from "../table";

const HEIGHT = 270;

export function pointFigures(point: Point, report: Report): Figure[] {
  const { timeline, host } = point;
  const measured = timeline
    ? [
        percentileFigure(point, timeline, report),
        heatFigure(point, timeline),
        throughputFigure(point, timeline),
        latencyFigure(point, timeline),
      ]
    : [];
  const observed = host ? [cpuFigure(point, host), ...Object.keys(host.devices).map((name) => deviceFigure(point, host, name))] : [];
  return [...measured, ...observed].filter((figure): figure is Figure => figure !== null);
}

const opLegend = (palette: Palette, { ops }: Timeline): LegendEntry[] =>
  opSeries(ops).map(([op]) => ({ name: op, colour: palette.op[op], mark: "line", hides: op }));

const columnNote = ({ merged }: Timeline) => (merged > 1 ? ` One column covers ${merged} intervals.` : "");

function percentileFigure(point: Point, { curves }: Timeline, report: Report): Figure | null {
  if (curves.length === 0) return null;
  const others = report.points
    .filter((other) => other.workload === point.workload && other.configuration !== point.configuration && other.repeat === point.repeat)
    .filter((other) => other.place?.experiment === point.place?.experiment && placeText(other) === placeText(point))
    .flatMap((other) =>
      (other.timeline?.curves ?? [])
        .filter(({ kind }) => kind === "latency")
        .map((curve) => ({ name: report.configurations[other.configuration]?.label ?? "", curve })),
    );
  const spec = { curves, others, modelled: point.modelled };
  const elsewhere = others.length ? ` Thin lines: the same workload on ${[...new Set(others.map(({ name }) => name))].join(", ")}.` : "";
  return {
    title: "Latency by percentile",
    label: `Latency of ${point.title} by percentile.`,
    note: `The right end is the slowest single I/O.${elsewhere}`,
    height: HEIGHT,
    option: (palette) => percentilesOption(spec, palette),
    legend: (palette) =>
      curves.map((curve) => ({
        name: curveName(curve),
        colour: palette.op[curve.op],
        mark: curve.kind === "service" ? "dashed" : "line",
        hides: curveName(curve),
      })),
    table: () => percentileTable(curves),
    modelled: point.modelled,
  };
}

function percentileTable(curves: Timeline["curves"]): Table {
  const percents = [...new Set(curves.flatMap(({ levels }) => levels.map(([percent]) => percent)))].sort((a, b) => a - b);
  return {
    caption: "Latency that a share of the I/Os did not exceed",
    columns: [{ heading: "Percentile" }, ...curves.map((curve): Column => ({ heading: `${curveName(curve)}, µs`, scale: 1e-3 }))],
    rows: percents.map((percent) => [
      percent === 100 ? "slowest" : percent === 0 ? "quickest" : `${percent} %`,
      ...curves.map(({ levels }) => levels.find(([level]) => level === percent)?.[1]),
    ]),
  };
}

function throughputFigure(point: Point, timeline: Timeline): Figure {
  return {
    title: "Throughput over time",
    label: `${point.rate_noun === "IOPS" ? "I/Os" : "Operations"} per second of ${point.title} over time.${incidentWords(point.incident_labels)}`,
    ...(timeline.merged > 1 ? { note: columnNote(timeline).trim() } : {}),
    height: HEIGHT,
    option: (palette) => throughputOption(timeline, point, palette),
    legend: (palette) => [
      ...opLegend(palette, timeline),
      ...(point.offered_per_s === null ? [] : [{ name: "offered", colour: palette.muted, mark: "dashed" as const, hides: "offered" }]),
    ],
    table: () =>
      timeTable(timeline, "Throughput per interval", [
        ["iops", point.rate_noun === "IOPS" ? "IOPS" : "per second", 1],
        ["bytes_per_s", "MB/s", 1e-6],
        ["errors", "errors", 1],
      ]),
    modelled: point.modelled,
  };
}

function latencyFigure(point: Point, timeline: Timeline): Figure {
  return {
    title: "Latency over time",
    label: `Median, 99th percentile and slowest latency of ${point.title} over time.${incidentWords(point.incident_labels)}`,
    note: `Thick line: median. Upper edge of the band: 99th percentile. Dots: slowest I/O of the interval.${columnNote(timeline)}`,
    height: HEIGHT,
    option: (palette) => latencyOption(timeline, point.incident_labels, palette),
    legend: (palette) => opLegend(palette, timeline),
    table: () =>
      timeTable(timeline, "Latency per interval", [
        ["p50_ns", "p50, µs", 1e-3],
        ["p99_ns", "p99, µs", 1e-3],
        ["max_ns", "slowest, µs", 1e-3],
      ]),
    modelled: point.modelled,
  };
}

type SeriesKey = "iops" | "bytes_per_s" | "errors" | "p50_ns" | "p99_ns" | "max_ns";

function timeTable(timeline: Timeline, caption: string, keys: [SeriesKey, string, number][]): Table {
  const all = opSeries(timeline.ops);
  return {
    caption,
    columns: [
      { heading: "From, s" },
      { heading: "To, s" },
      { heading: "Phase" },
      ...all.flatMap(([op]) => keys.map(([, name, scale]): Column => ({ heading: `${op} ${name}`, scale }))),
    ],
    rows: timeline.start_s.map((start, column) => [
      start,
      timeline.end_s[column],
      phase(timeline, timeline.end_s[column] as number),
      ...all.flatMap(([, series]) => keys.map(([key]) => series[key][column])),
    ]),
  };
}

function phase({ warmup_end_s, measure_end_s }: Timeline, end_s: number): string {
  if (warmup_end_s !== null && end_s <= warmup_end_s) return "warm-up";
  return measure_end_s !== null && end_s > measure_end_s ? "drain" : "measured";
}

function heatFigure(point: Point, timeline: Timeline): Figure {
  return {
    title: "Every I/O by latency over time",
    label: `Heat map of the latency of every I/O of ${point.title} over time.${incidentWords(point.incident_labels)}`,
    note: `Colour: number of I/Os, logarithmic. All operations together, warm-up included.${columnNote(timeline)}`,
    height: HEIGHT,
    canvas: true,
    option: (palette) => heatmapOption(timeline, point.incident_labels, palette),
    legend: (palette) => [
      {
        name: `1 to ${counted(Math.max(...heatCells(timeline.heat).map(({ count }) => count), 1), "I/O")} per cell`,
        colour: palette.accent,
        mark: palette.heat,
      },
    ],
    table: () => ({
      caption: "I/Os per interval and latency band",
      columns: [
        { heading: "From, s" },
        { heading: "To, s" },
        { heading: "Latency from, µs", scale: 1e-3 },
        { heading: "to, µs", scale: 1e-3 },
        { heading: "I/Os" },
      ],
      rows: heatCells(timeline.heat).map(({ column, band, count }) => [
        timeline.start_s[column],
        timeline.end_s[column],
        edge(band),
        edge(band + 1),
        count,
      ]),
    }),
    modelled: point.modelled,
  };
}

function cpuFigure(point: Point, host: HostTimeline): Figure | null {
  const states = CPU.filter(({ key }) => host.cpu[key]);
  if (states.length === 0) return null;
  return {
    title: "CPU of the host",
    label: `CPU time of the host while ${point.title} ran.`,
    height: HEIGHT,
    option: (palette) => cpuOption(host, shadeOf(point), palette),
    legend: (palette) => states.map(({ key, name }) => ({ name, colour: cpuColour(palette, key), mark: "solid" })),
    table: () =>
      hostTable(
        host,
        "CPU time in percent of all cores",
        states.map(({ key, name }) => [`${name}, %`, host.cpu[key] ?? []]),
      ),
    modelled: false,
  };
}

function deviceFigure(point: Point, host: HostTimeline, device: string): Figure {
  const counters = host.devices[device] ?? {};
  return {
    title: `Device ${device}, as the kernel saw it`,
    label: `Requests, await, queue and utilisation of ${device} while ${point.title} ran.`,
    height: deviceHeight,
    option: (palette, width) => deviceOption({ host, counters, shade: shadeOf(point) }, palette, width),
    legend: (palette) => [
      { name: "read", colour: palette.op.read, mark: "line" },
      { name: "write", colour: palette.op.write, mark: "line" },
      { name: "both", colour: palette.accent, mark: "line" },
    ],
    table: () =>
      hostTable(
        host,
        `Counters of ${device}, with iostat's definitions`,
        DEVICE_PANELS.flatMap(({ lines, unit }) =>
          lines.map(({ key, name }): [string, (number | null)[]] => [
            unit && !name.includes("/") ? `${name}, ${unit}` : name,
            counters[key] ?? [],
          ]),
        ),
      ),
    modelled: false,
  };
}

const shadeOf = ({ timeline }: Point) => timeline ?? { warmup_end_s: null, measure_end_s: null };

function hostTable(host: HostTimeline, caption: string, columns: [string, (number | null)[]][]): Table {
  return {
    caption,
    columns: [{ heading: "From, s" }, { heading: "To, s" }, ...columns.map(([heading]) => ({ heading }))],
    rows: host.start_s.map((start, index) => [start, host.end_s[index], ...columns.map(([, values]) => values[index])]),
  };
}
