// Order entry: new orders per minute, how long each kind of transaction took, A beside B, and what transactions spent their time on.

import { rowsHeight, rowsOption, type Rows } from "../charts/rows";
import { shareColour, sharesHeight, sharesOption, type Shares } from "../charts/shares";
import { element, type Child } from "../element";
import { figureElement, type Figure } from "../figure";
import { bandwidth, bounded, bytes, counted, duration, exact, percent, rate } from "../format";
import type { Estimate, OrderEntry, OrderKind, OrderSide, Report } from "../model";
import { configurationColour } from "../palette";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Table, type Value } from "../table";
import type { DriverSection } from "./section";

export const orderEntry: DriverSection<OrderEntry> = {
  title: "Order entry",
  draw: (entered, report) => [
    element("p", { class: "note" }, `${entered.banner[0]?.toUpperCase()}${entered.banner.slice(1)}.`),
    cards(entered.sides, report),
    sidesTable(entered.sides, report),
    unknownFlushes(entered.sides),
    ...limited(entered.sides, report),
    ...groups(entered.sides).flatMap((group, index, all) => latencies(group, report, index === all.length - 1)),
    element("h3", {}, "Log, checkpoints and settings"),
    logTable(entered.sides, report),
    settingsTable(entered, report),
  ],
};

const label = ({ configuration }: OrderSide, report: Report) => report.configurations[configuration]?.label ?? "";

function name(side: OrderSide, report: Report): string {
  const settings = settingsText(side.settings);
  return settings ? `${label(side, report)}, ${settings}` : label(side, report);
}

function groups(sides: OrderSide[]): OrderSide[][] {
  const found = new Map<string, OrderSide[]>();
  for (const side of sides) {
    const key = JSON.stringify(side.settings);
    found.set(key, [...(found.get(key) ?? []), side]);
  }
  return [...found.values()];
}

/** New orders per minute of each side; of many the table says it. */
function cards(sides: OrderSide[], report: Report): Child {
  if (sides.length > 6) return null;
  return element(
    "dl",
    { class: "extremes" },
    ...sides.flatMap((side) => {
      const found = side.new_orders_per_min;
      if (!found) return [];
      return [
        element(
          "div",
          {},
          element("dt", {}, `New orders per minute${sides.length > 1 ? ` of ${name(side, report)}` : ""}`),
          element("dd", { class: "value" }, element("data", { value: String(found.value), title: exact(found.value, "per minute") }, rate(found.value))),
          element("dd", {}, `committed by ${counted(side.terminals, "terminal")}${interval(found)}`),
        ),
      ];
    }),
  );
}

const interval = ({ low, high }: Estimate) => (low === null || high === null ? "" : ` [${rate(low)}, ${rate(high)}]`);

const cell = (value: number | null | undefined, shown: (value: number) => string, unit = ""): Rich => ({
  content: value == null ? "–" : element("data", { value: String(value), title: exact(value, unit) }, shown(value)),
  value: value ?? null,
});

const time = (found: Estimate | null | undefined): Rich => cell(found?.value, (value) => bounded(value, found?.at_least), "ns");

function sidesTable(sides: OrderSide[], report: Report): HTMLElement {
  const headings = ["Side", "Terminals", "New orders per minute", "Transactions/s", "new-order p90", "Commit made durable, mean", "p99", "Log", "Data afterwards"];
  return tableElement({
    caption: "What was entered",
    columns: headings.map((heading) => ({ heading })),
    rows: sides.map((side): Value[] => [
      name(side, report),
      side.terminals,
      cell(side.new_orders_per_min?.value, rate, "per minute"),
      cell(side.per_s?.value, rate, "per second"),
      time(side.kinds.find(({ op }) => op === "new-order")?.p90),
      cell(side.flush_mean_ns, duration, "ns"),
      cell(side.flush_p99_ns, duration, "ns"),
      cell(side.wal_bytes_per_s, bandwidth, "B/s"),
      side.consistent === null ? "not checked" : side.consistent ? "consistent" : "NOT consistent",
    ]),
  });
}

/** Why the mean of the commits made durable stands without its percentile. */
function unknownFlushes(sides: OrderSide[]): Child {
  if (!sides.some((side) => side.flush_mean_ns !== null && side.flush_p99_ns === null)) return null;
  const why =
    "PostgreSQL adds up the number and the time of its flushes and keeps no single one, so their p99 is not known; as root on the server's host Plimsoll asks the kernel.";
  return element("p", { class: "note" }, why);
}

const number = (value: number | null): Rich => cell(value, (each) => each.toLocaleString("en-US"));

/** What was committed, and what the engine did for that beside the transactions. */
function logTable(sides: OrderSide[], report: Report): HTMLElement {
  const headings = ["Side", "Commits", "Rolled back on purpose", "Tried again", "Written to the log", "Checkpoints", "Vacuums"];
  return tableElement({
    caption: "In the measured time",
    columns: headings.map((heading) => ({ heading })),
    rows: sides.map((side): Value[] => [
      name(side, report),
      side.commits,
      side.rolled_back,
      side.retries,
      cell(side.wal_bytes, bytes, "bytes"),
      number(side.checkpoints),
      number(side.vacuums),
    ]),
  });
}

/** The settings of each engine, folded: they explain a difference, and are seldom read. */
function settingsTable({ engines, settings }: OrderEntry, report: Report): Child {
  if (settings.length === 0) return null;
  const sides = engines.map((configuration) => report.configurations[configuration]?.label ?? "");
  return element(
    "details",
    { class: "data more" },
    element("summary", {}, "Settings of the database"),
    tableElement({
      caption: "Settings as the engine told them",
      columns: ["Setting", ...sides].map((heading) => ({ heading })),
      rows: settings.map((setting): Value[] => [setting.name, ...setting.values.map((value) => value ?? "–")]),
    }),
  );
}

/** What transactions waited for: a sentence for each side, and their shares. */
function limited(sides: OrderSide[], report: Report): Child[] {
  const known = sides.filter(({ waits }) => waits.length > 0);
  if (known.length === 0) return [];
  const words = new Map(known.flatMap(({ waits }) => waits.map(({ what, words: said }): [string, string] => [what, said])));
  const kinds = [...words.keys()];
  const spec: Shares = {
    kinds,
    bars: known.map((side) => ({ name: name(side, report), values: Object.fromEntries(side.waits.map(({ what, share }) => [what, share])) })),
  };
  const figure: Figure = {
    title: "What transactions spent their time on",
    label: "Shares of the time of transactions, a bar for each side.",
    note: "Of the time between the start of a transaction and its end.",
    height: sharesHeight(spec),
    wide: true,
    option: (palette) => sharesOption(spec, palette),
    legend: (palette) => kinds.map((kind) => ({ name: words.get(kind) ?? kind, colour: shareColour(palette, kind), mark: "solid" })),
    table: () => ({
      caption: "Shares of the time of transactions",
      columns: ["Side", ...kinds.map((kind) => words.get(kind) ?? kind)].map((heading) => ({ heading })),
      rows: spec.bars.map(({ name: side, values }): Value[] => [side, ...kinds.map((kind) => cell(values[kind], (share) => percent(100 * share)))]),
    }),
    modelled: false,
  };
  const sentences = known.map((side) => {
    const first = side.waits[0];
    return element("li", {}, `${name(side, report)}: limited by ${first?.what ?? ""} (${percent(100 * (first?.share ?? 0))} of the time ${side.limited_by ?? ""}).`);
  });
  return [element("h3", {}, "What limited it"), element("ul", { class: "sentences" }, ...sentences), element("div", { class: "pair" }, figureElement(figure))];
}

const SHOWN = [
  { key: "mean", title: "Mean latency by kind of transaction" },
  { key: "p90", title: "90th percentile latency by kind of transaction" },
] as const;

function latencies(sides: OrderSide[], report: Report, last: boolean): Child[] {
  const settings = settingsText((sides[0] as OrderSide).settings);
  const heading = `Latency by kind of transaction${settings ? ` at ${settings}` : ""}`;
  const pair = () => element("div", { class: "pair" }, ...SHOWN.map((shown) => figureElement(kindFigure(sides, shown, report))));
  if (last) return [element("h3", {}, heading), pair()];
  const folded = element("details", { class: "data more" }, element("summary", {}, heading));
  folded.addEventListener("toggle", () => folded.children.length === 1 && folded.append(pair()));
  return [folded];
}

function kindFigure(sides: OrderSide[], { key, title }: (typeof SHOWN)[number], report: Report): Figure {
  const ops = [...new Set(sides.flatMap(({ kinds }) => kinds.map(({ op }) => op)))];
  const of = (side: OrderSide, op: OrderKind["op"]) => side.kinds.find((kind) => kind.op === op);
  const spec: Rows = {
    rows: ops.map((op) => ({ name: op, meaning: `${title.toLowerCase()}`, values: sides.map((side) => of(side, op)?.[key]?.value ?? null) })),
    sides: sides.map((side) => ({ configuration: side.configuration, name: label(side, report) })),
    format: duration,
  };
  return {
    title,
    label: `${title}, a bar for each side.`,
    note: "Tries that had to be repeated are included; less is better.",
    height: rowsHeight(spec),
    option: (palette) => rowsOption(spec, palette),
    legend: (palette) =>
      sides.length < 2
        ? []
        : sides.map((side) => ({ name: label(side, report), colour: configurationColour(palette, side.configuration), mark: "solid" })),
    table: () => kindTable(sides, ops, report),
    modelled: false,
  };
}

function kindTable(sides: OrderSide[], ops: OrderKind["op"][], report: Report): Table {
  const several = sides.length > 1;
  return {
    caption: "Kinds of transactions",
    columns: ["Transaction", ...(several ? ["Side"] : []), "Per minute", "Mean", "p90", "p99"].map((heading) => ({ heading })),
    rows: ops.flatMap((op) =>
      sides.flatMap((side): Value[][] => {
        const kind = side.kinds.find((each) => each.op === op);
        return kind ? [[op, ...(several ? [label(side, report)] : []), cell(kind.per_min, rate, "per minute"), time(kind.mean), time(kind.p90), time(kind.p99)]] : [];
      }),
    ),
  };
}
