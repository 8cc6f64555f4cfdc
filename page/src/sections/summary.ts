// The summary: one row group per point, one row per operation, every number as stored.

import { element, number, type Child } from "../element";
import { duration, exact, megabytes, rate } from "../format";
import type { Op, Point, Report, Total } from "../model";
import { flagMark, statusBadge } from "./flags";
import { anchor, isRepeated } from "./place";

interface Cell {
  key: string;
  heading: string;
  content: (total: Total) => Child;
}

const latency = (key: "mean" | "p50" | "p99" | "p999" | "max", heading: string): Cell => ({
  key,
  heading,
  content: ({ latency_ns }) => number(latency_ns?.[key], duration(latency_ns?.[key]), exact(latency_ns?.[key] ?? 0, "ns")),
});

const CELLS: Cell[] = [
  { key: "iops", heading: "IOPS", content: ({ iops }) => number(iops, rate(iops), exact(iops, "IOPS")) },
  {
    key: "bytes_per_s",
    heading: "MB/s",
    content: ({ bytes_per_s }) => number(bytes_per_s, megabytes(bytes_per_s), exact(bytes_per_s, "B/s")),
  },
  latency("mean", "mean"),
  latency("p50", "p50"),
  latency("p99", "p99"),
  latency("p999", "p99.9"),
  latency("max", "max"),
];

const RATES = ["iops", "bytes_per_s"];

export function summarySection(report: Report): HTMLElement {
  const several = report.configurations.length > 1;
  const most = Math.max(...report.points.flatMap(({ totals }) => Object.values(totals).map(({ iops }) => iops)), 1);
  return element(
    "section",
    { id: "summary", "aria-labelledby": "summary-heading" },
    element("h2", { id: "summary-heading" }, "Summary"),
    element("p", { class: "note" }, "Measured phase only. Hover over a number, or open a point below, for its exact value."),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "summary-heading" },
      element(
        "table",
        { class: "summary", id: "summary-table" },
        tableHead(several),
        ...report.points.map((point) => rowGroup(point, report, several, most)),
      ),
    ),
  );
}

function tableHead(several: boolean): HTMLElement {
  const column = (heading: string, attributes = {}) => element("th", { scope: "col", rowspan: 2, ...attributes }, heading);
  const latencies = CELLS.filter(({ key }) => !RATES.includes(key));
  return element(
    "thead",
    {},
    element(
      "tr",
      {},
      column("Workload"),
      several && column("Configuration", { class: "configuration" }),
      column("Operation", { class: "op" }),
      ...CELLS.filter(({ key }) => RATES.includes(key)).map(({ heading }) => column(heading)),
      element("th", { scope: "colgroup", colspan: latencies.length, class: "span" }, "Latency"),
      column("Flags"),
    ),
    element("tr", {}, ...latencies.map(({ heading }) => element("th", { scope: "col" }, heading))),
  );
}

function rowGroup(point: Point, report: Report, several: boolean, most: number): HTMLElement {
  const totals = Object.entries(point.totals) as [Op, Total][];
  const rows = Math.max(totals.length, 1);
  const repeat = point.repeat > 1 || isRepeated(point, report);
  const heading = element(
    "th",
    { scope: "rowgroup", rowspan: rows },
    element("a", { href: `#${anchor(point)}` }, point.title),
    repeat && element("span", { class: "repeat" }, ` repeat ${point.repeat}`),
    statusBadge(point.status),
    point.modelled && element("span", { class: "badge modelled" }, "modelled"),
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
          ...opCells(op, total, most),
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

function opCells(op: Op, total: Total, most: number): HTMLElement[] {
  const name = element("th", { scope: "row", class: `op ${op}` }, op);
  const cells = CELLS.map(({ key, heading, content }) => element("td", { "data-key": key, "data-label": heading }, content(total)));
  cells[0]?.style.setProperty("--share", String(total.iops / most));
  return [name, ...cells];
}
