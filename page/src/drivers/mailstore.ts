// Mail stores: a bar for the mark of each side, and the sheets of the original's report, in its order and with its words.
//
// Counters stand in rows and databases in columns, so that a sheet fits on a phone and on paper.

import { barsHeight, barsOption, type BarSpec } from "../charts/bars";
import { element, type Child } from "../element";
import { figureElement, type Figure, type LegendEntry } from "../figure";
import { bytes, digits, duration, exact, rate } from "../format";
import type { BackgroundRow, Bars, Cell, MailStores, Report, Spread, StoreFact, StoreMark, StoreRow, StoreSheet, StoreWorkload } from "../model";
import { configurationColour } from "../palette";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

export const mailStores: DriverSection<MailStores> = {
  title: "Mail stores",
  draw: ({ derived, rule, workloads }, report) => [
    element("p", {}, `${derived[0]?.toUpperCase() ?? ""}${derived.slice(1)}.`),
    ...workloads.flatMap((workload) => drawn(workload, rule, report)),
  ],
};

function drawn(workload: StoreWorkload, rule: string, report: Report): Child[] {
  const { marks, sheets } = workload;
  return [
    marks.length > 0 && figureElement(marksFigure(workload, report)),
    marks.length > 0 && marksTable(workload, rule, report),
    ...sheets.map((sheet) => sheetElement(sheet, workload, report)),
  ];
}

const labelOf = (report: Report, configuration: number) => report.configurations[configuration]?.label ?? "";

function marksFigure({ title, modelled, marks }: StoreWorkload, report: Report): Figure {
  const configurations = report.configurations.map(({ label }) => label);
  const cells = configurations.map((_, index) => {
    const mark = marks.find(({ configuration }) => configuration === index);
    return mark ? cellOf(mark) : null;
  });
  const spec: BarSpec = {
    group: { profiles: [{ workload: title, title, cells }] },
    configurations,
    measure: "iops",
    logarithmic: false,
    format: (value) => rate(value),
    exact: (value) => exact(value, "transfers/s"),
    published: [],
  };
  return {
    title: "Transfers per second at 20 ms · more is better",
    label: `Transfers per second of ${title} at the mark of each configuration as bars; the numbers follow as a table.`,
    ...(marks.some(({ interval }) => interval) && { note: "Reads, then writes of databases. Error bars: 95 % interval of the mark." }),
    height: barsHeight(spec),
    option: (palette) => barsOption(spec, palette),
    legend: (palette) =>
      marks.map(({ configuration }): LegendEntry => ({
        name: labelOf(report, configuration),
        colour: configurations.length > 1 ? configurationColour(palette, configuration) : palette.op.read,
        mark: "solid",
      })),
    table: () => ({
      caption: title,
      columns: [{ heading: "Configuration" }, { heading: "Transfers/s" }],
      rows: marks.map((mark): Value[] => [labelOf(report, mark.configuration), mark.transfers_per_s]),
    }),
    modelled,
  };
}

function cellOf({ reads_per_s, writes_per_s, transfers_per_s, interval }: StoreMark): Cell {
  const all: Spread = { ...spread(transfers_per_s), ...(interval && { interval }) };
  return {
    points: [],
    status: "complete",
    ops: { read: barsOf(reads_per_s), write: barsOf(writes_per_s) },
    all: { iops: all, bytes_per_s: null },
  };
}

const spread = (value: number): Spread => ({ mean: value, min: value, max: value, n: 1 });

const barsOf = (value: number): Bars => ({
  iops: spread(value),
  bytes_per_s: null,
  mean_ns: null,
  p50_ns: null,
  p99_ns: null,
  p999_ns: null,
  max_ns: null,
});

function marksTable({ title, modelled, marks }: StoreWorkload, rule: string, report: Report): HTMLElement {
  return tableElement({
    caption: `${title}${modelled ? " (modelled)" : ""}: the most threads at which ${rule.replaceAll("<=", "≤").replaceAll("20ms", "20 ms")}`,
    columns: ["Configuration", "Transfers/s", "95 % interval", "Threads", "Too slow first", "Read", "Write"].map((heading) => ({ heading })),
    rows: marks.map((mark): Value[] => [
      labelOf(report, mark.configuration),
      { content: `${mark.at_least ? "≥ " : ""}${rate(mark.transfers_per_s)}`, value: mark.transfers_per_s },
      mark.interval ? `${rate(mark.interval[0])} to ${rate(mark.interval[1])}` : "–",
      mark.threads,
      mark.crossed_first ?? (mark.at_least ? "nothing" : "–"),
      time(mark.read_mean_ns),
      time(mark.write_mean_ns),
    ]),
  });
}

function sheetElement(sheet: StoreSheet, { title, modelled }: StoreWorkload, report: Report): HTMLElement {
  const named = [labelOf(report, sheet.configuration), settingsText(sheet.settings)].filter(Boolean).join(", ");
  return element(
    "div",
    { class: "sheet" },
    element("h3", {}, `${title}${modelled ? " (modelled)" : ""}: ${named}`),
    sheet.passed !== null && element("p", {}, element("b", {}, `Overall test result: ${sheet.passed ? "Pass" : "Fail"}`), ` (${sheet.limits_source})`),
    ...sheet.recovered.map((sentence) => element("p", {}, sentence)),
    ...sheet.warnings.map((warning) => element("p", {}, `The original warns: ${warning}.`)),
    facts("Test summary", sheet.summary),
    facts("Database sizing and throughput", sheet.sizing),
    facts("System parameters", sheet.parameters),
    sheet.checks.length > 0 && checks(sheet),
    counters("Transactional I/O performance", sheet.transactional),
    background("Background database maintenance I/O", "Database maintenance", sheet.maintenance),
    background("Log replication I/O", "Log", sheet.replication),
    sheet.maintenance.length + sheet.replication.length > 0 && counters("Total I/O performance", sheet.together),
    facts("Host system performance", sheet.host),
  );
}

function facts(caption: string, found: StoreFact[]): HTMLElement | false {
  if (found.length === 0) return false;
  const rows = found.map(({ name, value }) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "text" }, value)));
  return element("div", { class: "scroll" }, element("table", { class: "numbers paired" }, element("caption", {}, caption), element("tbody", {}, ...rows)));
}

function checks({ checks: found }: StoreSheet): HTMLElement {
  return tableElement({
    caption: "Limits of the generation",
    columns: ["Database", "Counter", "Found", "At most", "Kept"].map((heading) => ({ heading })),
    rows: found.map(({ database, op, figure, value_ns, limit_ns, holds }): Value[] => [
      database,
      `${op} ${figure}`,
      time(value_ns),
      time(limit_ns),
      holds ? "yes" : "no",
    ]),
  });
}

const time = (ns: number | null): Rich => ({ content: duration(ns), value: ns });
const perSecond = (value: number): Rich => ({ content: element("data", { value: String(value), title: exact(value, "per second") }, rate(value)), value });
const size = (value: number | null): Rich => ({ content: value === null ? "–" : element("data", { value: String(value), title: bytes(value) }, digits(value, 5)), value });

/** The twelve counters in the order of the original. */
const COUNTERS: [string, (row: StoreRow) => Rich][] = [
  ["Database reads average latency", (row) => time(row.read_mean_ns)],
  ["Database writes average latency", (row) => time(row.write_mean_ns)],
  ["Database reads/s", (row) => perSecond(row.reads_per_s)],
  ["Database writes/s", (row) => perSecond(row.writes_per_s)],
  ["Database reads average bytes", (row) => size(row.read_bytes)],
  ["Database writes average bytes", (row) => size(row.write_bytes)],
  ["Log reads average latency", (row) => time(row.log_read_mean_ns)],
  ["Log writes average latency", (row) => time(row.log_write_mean_ns)],
  ["Log reads/s", (row) => perSecond(row.log_reads_per_s)],
  ["Log writes/s", (row) => perSecond(row.log_writes_per_s)],
  ["Log reads average bytes", (row) => size(row.log_read_bytes)],
  ["Log writes average bytes", (row) => size(row.log_write_bytes)],
];

function counters(caption: string, rows: StoreRow[]): HTMLElement {
  return tableElement({
    caption,
    columns: [{ heading: "Counter" }, ...rows.map(({ name }) => ({ heading: name }))],
    rows: COUNTERS.map(([name, value]): Value[] => [name, ...rows.map(value)]),
  });
}

function background(caption: string, what: string, rows: BackgroundRow[]): HTMLElement | false {
  if (rows.length === 0) return false;
  return tableElement({
    caption,
    columns: [{ heading: "Counter" }, ...rows.map(({ name }) => ({ heading: name }))],
    rows: [
      [`${what} reads/s`, ...rows.map(({ reads_per_s }) => perSecond(reads_per_s))],
      [`${what} reads average bytes`, ...rows.map(({ read_bytes }) => size(read_bytes))],
    ],
  });
}
