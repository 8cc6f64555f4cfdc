// The summary: one row group per point, one row per operation, every number as stored.

import { isMixed, modelledBadge } from "../badge";
import { element, number, type Child } from "../element";
import { bounded, duration, exact, megabytes, rate } from "../format";
import type { Estimate, Op, Point, Report, Total } from "../model";
import { flagMark, statusBadge } from "./flags";
import { placeText } from "../settings";
import { sortButton, sortedPlaces } from "../table";
import { anchor, isRepeated } from "./place";

interface Cell {
  key: string;
  heading: string;
  content: (total: Total) => Child;
  /** An end of its interval. */
  end: (value: number) => string;
}

const latency = (key: "mean" | "p50" | "p99" | "p999" | "max", heading: string): Cell => ({
  key,
  heading,
  content: ({ latency_ns, at_least }) =>
    number(latency_ns?.[key], bounded(latency_ns?.[key], at_least?.includes(key)), exact(latency_ns?.[key] ?? 0, "ns")),
  end: duration,
});

const CELLS: Cell[] = [
  { key: "iops", heading: "IOPS", content: ({ iops }) => number(iops, rate(iops), exact(iops, "IOPS")), end: (value) => rate(value) },
  {
    key: "bytes_per_s",
    heading: "MB/s",
    content: ({ bytes_per_s }) => number(bytes_per_s, megabytes(bytes_per_s), exact(bytes_per_s, "B/s")),
    end: megabytes,
  },
  latency("mean", "mean"),
  latency("p50", "p50"),
  latency("p99", "p99"),
  latency("p999", "p99.9"),
  latency("max", "max"),
];

/** More points than this scroll inside the table, so that the sections after it stay near. */
const MANY = 40;

const RATES = ["iops", "bytes_per_s"];

/** Operations of drivers are no I/Os. */
const rateHeading = ({ points }: Report) => (points.every(({ rate_noun }) => rate_noun !== "IOPS") ? "per second" : "IOPS");

export function summarySection(report: Report): HTMLElement {
  const several = report.configurations.length > 1;
  const most = Math.max(...report.points.flatMap(({ totals }) => Object.values(totals).map(({ iops }) => iops)), 1);
  const groups = report.points.map((point) => rowGroup(point, report, several, most));
  const order: Order = (value, direction) => {
    const places = sortedPlaces(
      report.points.map((point) => value(point, report)),
      direction,
    );
    groups[0]?.parentElement?.append(...places.map((place) => groups[place] as HTMLElement));
  };
  return element(
    "section",
    { id: "summary", "aria-labelledby": "summary-heading" },
    element("h2", { id: "summary-heading" }, "Summary", modelledBadge(report.verdict.modelled > 0 && !isMixed(report))),
    element("p", { class: "note" }, ...note(report)),
    element(
      "div",
      {
        class: report.points.length > MANY ? "scroll tall" : "scroll",
        tabindex: 0,
        role: "region",
        "aria-labelledby": "summary-heading",
      },
      element("table", { class: "summary", id: "summary-table" }, tableHead(several, rateHeading(report), order), ...groups),
    ),
  );
}

type Sorted = (point: Point, report: Report) => string | number | null;
type Order = (value: Sorted, direction: number) => void;

/** A point is sorted by its rate and by its worst latency. */
const SORTED: Record<string, Sorted> = {
  iops: ({ together }) => together.iops ?? null,
  bytes_per_s: ({ together }) => together.bytes_per_s ?? null,
  ...Object.fromEntries(
    (["mean", "p50", "p99", "p999", "max"] as const).map((key): [string, Sorted] => [
      key,
      ({ totals }) => worst(Object.values(totals).flatMap(({ latency_ns }) => latency_ns?.[key] ?? [])),
    ]),
  ),
};
const worst = (values: number[]) => (values.length > 0 ? Math.max(...values) : null);
const titleAndPlace: Sorted = (point) => `${point.title} ${placeText(point)}`;

function tableHead(several: boolean, rateHeading: string, order: Order): HTMLElement {
  const sorting = (heading: string, value: Sorted, attributes = {}) => {
    const cell = element("th", { scope: "col", ...attributes });
    cell.append(sortButton(heading, cell, (direction) => order(value, direction)));
    return cell;
  };
  const column = (heading: string, value: Sorted, attributes = {}) => sorting(heading, value, { rowspan: 2, ...attributes });
  const latencies = CELLS.filter(({ key }) => !RATES.includes(key));
  return element(
    "thead",
    {},
    element(
      "tr",
      {},
      column("Workload", titleAndPlace),
      several && column("Configuration", ({ configuration }) => configuration, { class: "configuration" }),
      element("th", { scope: "col", rowspan: 2, class: "op" }, "Operation"),
      ...CELLS.filter(({ key }) => RATES.includes(key)).map(({ key, heading }) =>
        column(key === "iops" ? rateHeading : heading, SORTED[key] as Sorted),
      ),
      element("th", { scope: "colgroup", colspan: latencies.length, class: "span" }, "Latency"),
      column("Flags", ({ flags }) => flags.length),
    ),
    element("tr", {}, ...latencies.map(({ key, heading }) => sorting(heading, SORTED[key] as Sorted))),
  );
}

function rowGroup(point: Point, report: Report, several: boolean, most: number): HTMLElement {
  const totals = Object.entries(point.totals) as [Op, Total][];
  const rows = Math.max(totals.length, 1);
  const repeat = point.place?.role !== "round" && (point.repeat > 1 || isRepeated(point, report));
  const heading = element(
    "th",
    { scope: "rowgroup", rowspan: rows },
    element("a", { href: `#${anchor(point)}` }, point.title),
    placeText(point) && element("span", { class: "repeat" }, ` ${placeText(point)}`),
    repeat && element("span", { class: "repeat" }, ` repeat ${point.repeat}`),
    statusBadge(point.status),
    isMixed(report) && modelledBadge(point.modelled),
    point.limit && report.points.length <= MANY && element("span", { class: "limit", title: point.limit.busy }, point.limit.said),
  );
  const configuration =
    several &&
    element(
      "td",
      { rowspan: rows, class: "configuration", "data-label": "Configuration" },
      report.configurations[point.configuration]?.label ?? "",
    );
  const flags = element("td", { rowspan: rows, class: "marks" }, ...point.flags.map(flagMark));
  const first = totals[0];
  const body = first
    ? totals.map(([op, total], index) =>
        element(
          "tr",
          { "data-point": point.index, "data-op": op },
          index === 0 && heading,
          index === 0 && configuration,
          ...opCells(op, total, most, point),
          index === 0 && flags,
        ),
      )
    : [
        element(
          "tr",
          { "data-point": point.index },
          heading,
          configuration,
          element("td", { colspan: CELLS.length + 1, class: "error" }, point.error ?? "No I/O was measured."),
          flags,
        ),
      ];
  return element("tbody", { class: point.status }, ...body);
}

function opCells(op: Op, total: Total, most: number, { estimates, rate_noun }: Point): HTMLElement[] {
  const name = element("th", { scope: "row", class: `op ${op}` }, op);
  const cells = CELLS.map(({ key, heading, content, end }) => {
    const label = key === "iops" && rate_noun !== "IOPS" ? "per second" : heading;
    return element("td", { "data-key": key, "data-label": label }, content(total), interval(estimates[op]?.[key], end));
  });
  cells[0]?.style.setProperty("--share", String(total.iops / most));
  return [name, ...cells];
}

const WIDE = 0.6;

/** The ends of the 95 % interval, which need not be equally far from the value. */
function interval(estimate: Estimate | undefined, end: (value: number) => string): HTMLElement | null {
  if (!estimate || estimate.low === null || estimate.high === null || estimate.value === 0) return null;
  const half = (estimate.high - estimate.low) / 2 / Math.abs(estimate.value);
  // A width near the value itself says only that nobody knows.
  const shown = half > WIDE ? "too short to tell" : `[${end(estimate.low)}, ${end(estimate.high)}]`;
  return element("small", { class: "interval", title: "95 % interval" }, shown);
}

/** What has no meaning on paper, where nothing is pointed at and intervals are left out, is not printed. */
function note({ points }: Report): (string | HTMLElement)[] {
  const bounded = points.some(({ estimates }) => Object.keys(estimates).length > 0);
  const raised = points.some(({ totals }) => Object.values(totals).some(({ at_least }) => at_least));
  const pointing = ` Hover over a number, or open a point below, for its exact value.${bounded ? " In brackets: the 95 % interval." : ""}`;
  const atLeast = raised ? " ≥: at least, because requests had no answer when the measured time ended." : "";
  return ["Measured phase only.", element("span", { class: "pointing" }, pointing), atLeast];
}
