// The pictures of a choice: cost against carried load with the front, and the load line of each candidate.
//
// Model: a candidate is a point at its cost and at what it carries, with a bar between what that lies given what nobody has looked up. The
// front is a staircase: for a cost, the most that any candidate carries. What was demanded is a dashed line; below it nothing is bought.
// A load line is the worst latency over its limit by the rate; where it crosses 1 the objective fails.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import { digits, exact, rate } from "../format";
import type { ChoiceRow } from "../model";
import { configurationColour, type Palette } from "../palette";
import { base, decades, rounded, scaleAxis, tip, valueAxis } from "./axes";

export interface Costs {
  /** What the horizontal axis counts, and how its values are written. */
  axis: string;
  cost: (value: number) => string;
  demanded: number;
}

/** A candidate that has a place: its cost and its mark are known. */
export interface Placed extends ChoiceRow {
  cost: number;
  mark_per_s: number;
}

export const placed = (rows: ChoiceRow[]): Placed[] => rows.filter((row): row is Placed => row.cost !== null && row.mark_per_s !== null);

/** The corners of the front, from the cheapest on: `[cost, mark]`. */
export function staircase(rows: Placed[], end: number): [number, number][] {
  const front = rows.filter(({ front }) => front).sort((a, b) => a.cost - b.cost);
  const corners: [number, number][] = [];
  for (const { cost, mark_per_s } of front) {
    const before = corners.at(-1);
    if (before) corners.push([cost, before[1]]);
    corners.push([cost, mark_per_s]);
  }
  const last = corners.at(-1);
  return last ? [...corners, [end, last[1]]] : [];
}

export function costOption(rows: Placed[], { axis, cost, demanded }: Costs, palette: Palette, hidden: ReadonlySet<string>): EChartsOption {
  const highest = Math.max(...rows.map(({ mark_per_s, high_per_s }) => Math.max(mark_per_s, high_per_s ?? 0)), demanded);
  const across = rounded(1.08 * Math.max(...rows.map((row) => row.cost), 0));
  const shown = rows.filter(({ name }) => !hidden.has(name));
  return {
    ...base(palette),
    grid: { left: 76, right: 28, top: 34, bottom: 52 },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: { ...scaleAxis(palette, axis, across.max, cost), ...across },
    yAxis: { ...valueAxis(palette, "carried, requests/s", (value) => rate(value)), ...rounded(1.05 * highest) },
    series: [
      frontSeries(staircase(shown, across.max), palette),
      demandSeries(demanded, palette),
      ...shown.flatMap((row) => candidateSeries(row, rows.indexOf(row), cost, palette)),
    ],
  };
}

function frontSeries(data: [number, number][], palette: Palette): LineSeriesOption {
  return { type: "line", name: "front", silent: true, showSymbol: false, data, lineStyle: { color: palette.muted, width: 1.5 } };
}

function demandSeries(demanded: number, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name: "demand",
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: palette.limit, width: 1.25, type: "dashed" },
      label: { color: palette.limit, fontSize: 11, position: "insideStartTop", formatter: "demanded" },
      data: [{ yAxis: demanded }],
    },
  };
}

function candidateSeries(row: Placed, index: number, cost: (value: number) => string, palette: Palette): (LineSeriesOption | CustomSeriesOption)[] {
  const colour = configurationColour(palette, index);
  const point: LineSeriesOption = {
    type: "line",
    name: `${row.name}|point`,
    z: 3,
    data: [[row.cost, row.mark_per_s]],
    showSymbol: true,
    symbol: row.at_least ? "triangle" : "circle",
    symbolSize: row.front ? 12 : 9,
    itemStyle: { color: colour, borderColor: palette.surface, borderWidth: 1 },
    tooltip: { formatter: () => candidateTip(row, cost, colour) },
  };
  return [whisker(row, colour), point];
}

function whisker(row: Placed, colour: string): CustomSeriesOption {
  const { low_per_s: low, high_per_s: high } = row;
  return {
    type: "custom",
    name: `${row.name}|interval`,
    silent: true,
    tooltip: { show: false },
    data: low === null || high === null ? [] : [[row.cost, row.mark_per_s]],
    renderItem: (_, api) => {
      const [x, bottom] = api.coord([row.cost, low as number]) as [number, number];
      const [, top] = api.coord([row.cost, high as number]) as [number, number];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: colour, lineWidth: 1.75 },
      });
      return {
        type: "group",
        children: [line(x, bottom, x, top), line(x - 5, bottom, x + 5, bottom), line(x - 5, top, x + 5, top)],
      } as CustomSeriesRenderItemReturn;
    },
  };
}

function candidateTip(row: Placed, cost: (value: number) => string, colour: string): HTMLElement {
  const between = row.low_per_s === null || row.high_per_s === null ? [] : [{ name: "between", value: `${rate(row.low_per_s)} – ${rate(row.high_per_s)}` }];
  return tip(row.name, [
    { colour, name: row.at_least ? "carries at least" : "carries", value: exact(row.mark_per_s, "requests/s") },
    ...between,
    { name: "cost", value: cost(row.cost) },
  ]);
}

/** The worst latency over its limit by rate; both axes logarithmic above, since near its limit an array's response grows steeply. */
export function linesOption(rows: Placed[], demanded: number, palette: Palette, hidden: ReadonlySet<string>): EChartsOption {
  const points = rows.flatMap(({ line }) => line);
  const shares = points.flatMap(({ over_limit }) => (over_limit === null ? [] : [over_limit]));
  const [low, high] = decades([...shares, 1]);
  const across = rounded(1.04 * Math.max(...points.map(({ rate_per_s }) => rate_per_s), demanded));
  return {
    ...base(palette),
    grid: { left: 76, right: 28, top: 34, bottom: 52 },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: { ...scaleAxis(palette, "asked, requests/s", across.max, (value) => rate(value)), ...across },
    yAxis: { ...valueAxis(palette, "worst latency ÷ limit", (value) => digits(value)), type: "log", min: low, max: high },
    series: [limitSeries(demanded, palette), ...rows.filter(({ name }) => !hidden.has(name)).map((row) => lineSeries(row, rows.indexOf(row), palette))],
  };
}

function limitSeries(demanded: number, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name: "limit",
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: palette.limit, width: 1.25, type: "dashed" },
      label: { color: palette.limit, fontSize: 11 },
      data: [
        { yAxis: 1, label: { formatter: "limit", position: "insideEndTop" } },
        { xAxis: demanded, label: { formatter: "demanded", position: "insideEndTop" } },
      ],
    },
  };
}

function lineSeries(row: Placed, index: number, palette: Palette): LineSeriesOption {
  const colour = configurationColour(palette, index);
  const known = row.line.filter(({ over_limit }) => over_limit !== null);
  return {
    type: "line",
    name: `${row.name}|line`,
    z: 3,
    data: known.map(({ rate_per_s, over_limit, holds }) => ({
      value: [rate_per_s, over_limit as number],
      symbol: holds ? "circle" : "emptyCircle",
    })),
    showAllSymbol: true,
    symbolSize: 8,
    lineStyle: { color: colour, width: 1.75 },
    itemStyle: { color: colour },
    tooltip: {
      formatter: (hovered) => {
        const at = known[(hovered as { dataIndex: number }).dataIndex];
        return tip(row.name, [
          { colour, name: "asked", value: exact(at?.rate_per_s ?? 0, "requests/s") },
          { name: "worst latency ÷ limit", value: digits(at?.over_limit ?? 0) },
          { name: "objectives", value: at?.holds ? "hold" : "fail" },
        ]);
      },
    },
  };
}
