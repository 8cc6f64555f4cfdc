// Decision support: metrics with their meaning, queries A beside B, who asked what when above what the devices moved, and what limited it.

import { lanesEnd, lanesHeight, lanesOption, moved, type Lanes } from "../charts/lanes";
import { rowsHeight, rowsOption, type Rows } from "../charts/rows";
import { element, type Child } from "../element";
import { figureElement, type Figure } from "../figure";
import { bandwidth, bytes, digits, duration, exact, percent, rate, seconds } from "../format";
import type { DecisionMetrics, DecisionPhase, DecisionQuery, DecisionSide, DecisionStorage, DecisionSupport, Report } from "../model";
import { configurationColour } from "../palette";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

const METRICS: (keyof DecisionMetrics)[] = ["power", "throughput", "composite"];

export const decisionSupport: DriverSection<DecisionSupport> = {
  title: "Decision support",
  draw: (found, report) => [
    element("p", { class: "note" }, `${found.banner[0]?.toUpperCase()}${found.banner.slice(1)}.`),
    meaningsNote(found),
    sidesTable(found, report),
    ...groups(found.sides).flatMap((sides, index, all) => drawn(sides, report, index === all.length - 1)),
  ],
};

const label = ({ configuration }: DecisionSide, report: Report) => report.configurations[configuration]?.label ?? "";

/** What a side is called, with its setting where there are several. */
function name(side: DecisionSide, report: Report): string {
  const settings = settingsText(side.settings);
  return settings ? `${label(side, report)}, ${settings}` : label(side, report);
}

/** Sides at equal settings stand beside each other. */
function groups(sides: DecisionSide[]): DecisionSide[][] {
  const found = new Map<string, DecisionSide[]>();
  for (const side of sides) {
    const key = JSON.stringify(side.settings);
    found.set(key, [...(found.get(key) ?? []), side]);
  }
  return [...found.values()];
}

/** What each metric says; the figures themselves open the report. */
function meaningsNote({ meanings }: DecisionSupport): HTMLElement {
  const said = METRICS.map((metric) => `${metric}: ${meanings[metric] ?? ""}`).join("; ");
  return element("p", { class: "note" }, `${said[0]?.toUpperCase()}${said.slice(1)}; all at the scale. Of two runs the lower is reported.`);
}

const cell = (value: number | null | undefined, shown: (value: number) => string, unit = ""): Rich => ({
  content: value == null ? "–" : element("data", { value: String(value), title: exact(value, unit) }, shown(value)),
  value: value ?? null,
});

function sidesTable({ sides }: DecisionSupport, report: Report): HTMLElement {
  const others = sides.some(({ other }) => other !== null);
  const headings = ["Side", "Scale", "Streams", "Power", "Throughput", "Composite", ...(others ? ["Other run's"] : []), "Queries per hour", "Mean", "p95", "Load", "Data", "Engine's memory"];
  const rows = sides.map((side): Value[] => [
    name(side, report),
    side.scale,
    side.streams,
    cell(side.metrics.power, rate),
    cell(side.metrics.throughput, rate),
    cell(side.metrics.composite, rate),
    ...(others ? [cell(side.other?.composite, rate)] : []),
    cell(side.queries_per_hour, rate),
    cell(side.mean_ns, duration, "ns"),
    cell(side.p95_ns, duration, "ns"),
    cell(side.load_s, seconds, "s"),
    cell(side.data_bytes, bytes, "B"),
    cell(side.memory_bytes, bytes, "B"),
  ]);
  const table = tableElement({ caption: "The reported run of each side", columns: headings.map((heading) => ({ heading })), rows });
  const phases = sides.flatMap((side) => side.phases.map((phase) => ({ side, phase })));
  return element(
    "div",
    {},
    table,
    phases.length > 0 && element("h3", {}, "What limited it"),
    phases.length > 0 && limits(phases, report),
  );
}

function limits(phases: { side: DecisionSide; phase: DecisionPhase }[], report: Report): HTMLElement {
  const several = report.configurations.length > 1 || phases.some(({ side }) => Object.keys(side.settings).length > 0);
  const headings = ["Test", "Limited by", "Took", "Waited for storage", "Waited for locks", "Processors busy", ...STORAGE];
  return tableElement({
    caption: "By test, over its whole time",
    columns: headings.map((heading) => ({ heading })),
    rows: phases.map(({ side, phase }): Value[] => [
      several ? `${phase.name} of ${name(side, report)}` : phase.name,
      phase.limited_by ?? "not known",
      cell(phase.seconds, seconds, "s"),
      cell(phase.storage.waiting_share, (share) => percent(100 * share)),
      cell(phase.locks_share, (share) => percent(100 * share)),
      cell(phase.busy_share, (share) => percent(100 * share)),
      ...storageCells(phase.storage),
    ]),
  });
}

/** What the devices did, as `storageCells` has it. */
const STORAGE = ["Read", "Written", "Spilled", "A read", "A write", "r_await", "w_await", "Queue"];

function storageCells(seen: DecisionStorage): Rich[] {
  const time = (ms: number | null) => cell(ms, (value) => duration(value * 1e6), "ms");
  return [
    cell(seen.bytes_read, bytes, "B"),
    cell(seen.bytes_written, bytes, "B"),
    cell(seen.spill_bytes, bytes, "B"),
    cell(seen.read_request_bytes, bytes, "B"),
    cell(seen.write_request_bytes, bytes, "B"),
    time(seen.r_await_ms),
    time(seen.w_await_ms),
    cell(seen.queue_mean, digits),
  ];
}

/** Queries and streams of sides at one setting; those of levels but the last are folded. */
function drawn(sides: DecisionSide[], report: Report, last: boolean): Child[] {
  const settings = settingsText((sides[0] as DecisionSide).settings);
  const figures = [...queryFigures(sides, report), ...sides.map((side) => streamsFigure(side, report))];
  const pair = () => element("div", { class: "pair" }, ...figures.map(figureElement));
  const heading = `Queries and streams${settings ? ` at ${settings}` : ""}`;
  if (last) return [element("h3", {}, heading), pair()];
  const folded = element("details", { class: "data more" }, element("summary", {}, heading));
  folded.addEventListener("toggle", () => folded.children.length === 1 && folded.append(pair()));
  return [folded];
}

const SHOWN = [
  { key: "alone_s", title: "Each query alone", words: "seconds from submission to its last row" },
  { key: "beside_s", title: "Each query in streams", words: "mean of all streams" },
] as const;

function queryFigures(sides: DecisionSide[], report: Report): Figure[] {
  const names = [...new Set(sides.flatMap(({ queries }) => queries.map((query) => query.name)))];
  const of = (side: DecisionSide, name_: string) => side.queries.find((query) => query.name === name_);
  return SHOWN.flatMap(({ key, title, words }) => {
    if (sides.every(({ queries }) => queries.every((query) => query[key] === null))) return [];
    const spec: Rows = {
      rows: names.map((name_) => ({
        name: name_,
        meaning: sides.map((side) => of(side, name_)?.asks).find(Boolean) ?? "",
        values: sides.map((side) => of(side, name_)?.[key] ?? null),
      })),
      sides: sides.map((side) => ({ configuration: side.configuration, name: label(side, report) })),
      format: (value) => duration(value * 1e9),
    };
    return [
      {
        title,
        label: `${title}: ${words}, a bar for each side.`,
        note: `${words[0]?.toUpperCase()}${words.slice(1)}; less is better.`,
        height: rowsHeight(spec),
        option: (palette) => rowsOption(spec, palette),
        legend: (palette) =>
          sides.length < 2
            ? []
            : sides.map((side) => ({
                name: label(side, report),
                colour: configurationColour(palette, side.configuration),
                mark: "solid",
              })),
        table: () => queryTable(sides, names, report),
        modelled: false,
      },
    ];
  });
}

function queryTable(sides: DecisionSide[], names: string[], report: Report) {
  const several = sides.length > 1;
  const answers = (query: DecisionQuery) => (query.right === null ? "–" : query.right ? "right" : "WRONG");
  const cpu = ["CPU user", "system", "iowait"];
  const headings = ["Query", ...(several ? ["Side"] : []), "Alone", "In streams", "Waited for storage", ...STORAGE, ...cpu, "Answer", "Asks"];
  return {
    caption: "Queries: what they took, and what storage did while each was alone",
    columns: headings.map((heading) => ({ heading })),
    rows: names.flatMap((name_) =>
      sides.flatMap((side): Value[][] => {
        const query = side.queries.find((each) => each.name === name_);
        if (!query) return [];
        return [
          [
            name_,
            ...(several ? [label(side, report)] : []),
            cell(query.alone_s, (value) => duration(value * 1e9), "s"),
            cell(query.beside_s, (value) => duration(value * 1e9), "s"),
            cell(query.storage.waiting_share, (share) => percent(100 * share)),
            ...storageCells(query.storage),
            ...cpu.map((_, state) => cell(query.cpu?.[state], percent)),
            answers(query),
            query.asks,
          ],
        ];
      }),
    ),
  };
}

function streamsFigure(side: DecisionSide, report: Report): Figure {
  const host = report.points[side.point]?.host ?? null;
  const seen = side.devices.filter((device) => host?.devices[device]?.read_bytes_per_s);
  const spec: Lanes = {
    lanes: side.lanes,
    marks: starts(side),
    devices: host && seen.length > 0 ? { time: host, names: seen } : null,
  };
  const several = report.configurations.length > 1;
  const where = several ? ` on ${label(side, report)}` : "";
  const below = spec.devices
    ? `Below: reads and writes of ${seen.join(", ")}.`
    : "No device of the target was seen from this host, so what it moved is not known.";
  const left = side.left_out > 0 ? ` ${side.left_out} more streams are not drawn.` : "";
  return {
    title: `Who asked what, and when${where}`,
    label: `Streams over ${seconds(lanesEnd(spec))}, a lane for each, with what the devices read and wrote below on the same axis.`,
    note: `A bar is a query; RF1 lets orders come, RF2 lets orders go. ${below}${left}`,
    height: lanesHeight(spec),
    wide: true,
    option: (palette) => lanesOption(spec, palette),
    legend: (palette) =>
      spec.devices
        ? [
            { name: "read", colour: palette.op.read, mark: "line" },
            { name: "write, refresh", colour: palette.op.write, mark: "line" },
          ]
        : [],
    table: () => ({
      caption: "Queries in the order in which they began",
      columns: ["Stream", "Query", "From, s", "To, s", "Took, s", "Devices moved meanwhile"].map((heading) => ({ heading })),
      rows: side.lanes.flatMap(({ name: stream, spans }) =>
        spans.map((span): Value[] => [stream, span.name, span.start_s, span.end_s, span.end_s - span.start_s, meanwhile(spec, span)]),
      ),
    }),
    modelled: false,
  };
}

/** Where each test begins, if there are several. */
function starts({ lanes }: DecisionSide): Lanes["marks"] {
  const first = (power: boolean) =>
    Math.min(...lanes.filter((lane) => (lane.name === "alone") === power).map(({ spans }) => spans[0]?.start_s ?? Number.POSITIVE_INFINITY));
  const [power, throughput] = [first(true), first(false)];
  return Number.isFinite(power) && Number.isFinite(throughput)
    ? [
        { name: "power", start_s: power },
        { name: "throughput", start_s: throughput },
      ]
    : [];
}

function meanwhile({ devices }: Lanes, { start_s, end_s }: { start_s: number; end_s: number }): string {
  if (!devices) return "–";
  const all = (["read_bytes_per_s", "write_bytes_per_s"] as const).map((counter) =>
    moved(devices, counter).filter((_, column) => {
      const [from, to] = [devices.time.start_s[column] as number, devices.time.end_s[column] as number];
      return to > start_s && from < end_s;
    }),
  );
  const mean = (values: (number | null)[]) => {
    const known = values.filter((value): value is number => value !== null);
    return known.length > 0 ? known.reduce((total, value) => total + value, 0) / known.length : null;
  };
  const [read, write] = all.map(mean);
  return `${bandwidth(read)} read, ${bandwidth(write)} written`;
}
