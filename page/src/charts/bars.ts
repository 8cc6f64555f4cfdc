// The bar charts of a group of profiles: one bar per configuration, read and write apart, error bars from repeats.
//
// Model: a profile is a band with its name above its bars. Rates are stacked (read, then write: their sum is what the storage did),
// latencies stand side by side. On a logarithmic axis a bar would have no honest foot, so a dot is drawn instead.
// Limits: error bars are the extremes of the repeats; a single measurement has the 95 % interval it was stored with, or none.

import type { CustomSeriesOption, CustomSeriesRenderItemAPI, CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import type { Bars, Cell, Group, Op, Spread } from "../model";
import { configurationColour, type Palette } from "../palette";
import { base, decades, fillOf, rounded, tip, valueAxis } from "./axes";

const STEP = 20;
const THICKNESS = 14;
const THICKNESS_STACKED = 22;
const HEADING = 26;
const GAP = 12;

export type Measure = keyof Bars;

export interface BarSpec {
  group: Pick<Group, "profiles">;
  configurations: string[];
  measure: Measure;
  logarithmic: boolean;
  format: (value: number) => string;
  exact: (value: number) => string;
  published: { profile: number; configuration: number; value: number; label: string }[];
  /** Operations and configurations (`configurationKey`) that the reader switched off. */
  hidden?: ReadonlySet<string>;
}

export const configurationKey = (index: number) => `configuration ${index}`;

export interface Bar {
  profile: number;
  /** Lanes from the top of the band, and how many the bar is centred over. */
  lane: number;
  lanes: number;
  configuration: number;
  op: Op;
  /** Where the bar begins: above zero when it is stacked on another. */
  from: number;
  spread: Spread;
  status: Cell["status"];
  /** What stands at the end of the bar: the sum on the last bar of a stack, the value itself elsewhere. */
  end: Spread | null;
}

export const isStacked = (measure: Measure): measure is "iops" | "bytes_per_s" => measure === "iops" || measure === "bytes_per_s";

/** Every bar with its place. Charts of rate and of latency use the same lanes, so that they line up side by side. */
export function bars({ group, measure }: BarSpec): Bar[] {
  return group.profiles.flatMap(({ cells }, profile) => {
    let lane = 0;
    return cells.flatMap((cell, configuration) => {
      const place = { profile, configuration, lane, status: cell?.status ?? "complete" };
      lane += laneCount(cell);
      return cell ? (isStacked(measure) ? stack(cell, measure, place) : sideBySide(cell, measure, place)) : [];
    });
  });
}

type Place = Pick<Bar, "profile" | "configuration" | "lane" | "status">;

/** How far an error bar may reach beyond the longest bar before it is cut. */
const REACH = 1.5;

/** Where the axis of bars ends: it holds every bar, and error bars unless they dwarf the bars. */
export function barsEnd(all: Bar[]): number {
  const longest = Math.max(...all.map(({ from, spread }) => from + spread.mean), 0);
  const errors = all.flatMap(({ end }) => (end ? (errorBar(end) ?? []) : []));
  return Math.min(Math.max(longest, ...errors), longest * REACH);
}

/** The ends of the error bar; null where there is none. */
export const errorBar = ({ n, min, max, interval }: Spread): [number, number] | null => (n > 1 ? [min, max] : (interval ?? null));

function stack(cell: Cell, measure: "iops" | "bytes_per_s", place: Place): Bar[] {
  const found = entries(cell, measure);
  let from = 0;
  return found.map(([op, spread], index) => {
    const bar = { ...place, lanes: found.length, op, from, spread, end: index === found.length - 1 ? cell.all[measure] : null };
    from += spread.mean;
    return bar;
  });
}

function sideBySide(cell: Cell, measure: Measure, place: Place): Bar[] {
  return entries(cell, measure).map(([op, spread], index) => ({
    ...place,
    lane: place.lane + index,
    lanes: 1,
    op,
    from: 0,
    spread,
    end: spread,
  }));
}

function entries(cell: Cell | null, measure: Measure): [Op, Spread][] {
  const ops = Object.entries(cell?.ops ?? {}) as [Op, Bars][];
  return ops.flatMap(([op, values]) => (values[measure] ? [[op, values[measure]] as [Op, Spread]] : []));
}

/** One lane per operation, and one for a configuration that has nothing to show. */
const laneCount = (cell: Cell | null) => Math.max(1, Object.keys(cell?.ops ?? {}).length);

/** Where each profile's band begins, in pixels from the top, and after them the end of the last. */
export function offsets({ group }: Pick<BarSpec, "group">): number[] {
  const ends = [0];
  for (const { cells } of group.profiles) {
    const count = cells.reduce((total, cell) => total + laneCount(cell), 0);
    ends.push((ends.at(-1) as number) + HEADING + count * STEP + GAP);
  }
  return ends;
}

export const barsHeight = (spec: BarSpec) => (offsets(spec).at(-1) as number) + 34;

export function barsOption(spec: BarSpec, palette: Palette): EChartsOption {
  const all = bars(spec).filter(({ op, configuration }) => !spec.hidden?.has(op) && !spec.hidden?.has(configurationKey(configuration)));
  const places = offsets(spec);
  const height = places.at(-1) as number;
  const axis = valueAxis(palette, "", spec.format);
  const end = barsEnd(all);
  const extent = spec.logarithmic ? decades(all.flatMap(({ spread }) => [spread.min, spread.max, ...(errorBar(spread) ?? [])])) : undefined;
  return {
    ...base(palette),
    grid: { left: 4, right: 84, top: 0, height, containLabel: false },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: extent ? { ...axis, type: "log", min: extent[0], max: extent[1] } : { ...axis, ...rounded(end) },
    yAxis: { type: "value", min: 0, max: height, inverse: true, show: false },
    series: [
      headings(spec, palette, places),
      gaps(spec, palette, places),
      barSeries(spec, palette, all, places),
      publishedSeries(spec, palette, all, places),
    ],
  };
}

function headings(spec: BarSpec, palette: Palette, places: number[]): CustomSeriesOption {
  return {
    type: "custom",
    silent: true,
    data: spec.group.profiles.map((_, profile) => [0, places[profile] as number]),
    renderItem: (params, api) => {
      const { title } = spec.group.profiles[params.dataIndex] as Group["profiles"][number];
      const { x } = params.coordSys as unknown as { x: number };
      const y = api.coord([1, places[params.dataIndex] as number])[1] as number;
      return {
        type: "text",
        style: { x, y: y + 8, text: title, fill: palette.ink, font: `600 13px ${palette.font}`, verticalAlign: "top" },
      } as CustomSeriesRenderItemReturn;
    },
  };
}

/** Where a bar is missing because its point gave no number, its status stands instead. */
function gaps(spec: BarSpec, palette: Palette, places: number[]): CustomSeriesOption {
  const missing = spec.group.profiles.flatMap(({ cells }, profile) => {
    let lane = 0;
    return cells.flatMap((cell) => {
      const place = { top: centre(places, { profile, lane, lanes: 1 }), status: cell?.status };
      lane += laneCount(cell);
      return cell && entries(cell, spec.measure).length === 0 ? [place] : [];
    });
  });
  return {
    type: "custom",
    silent: true,
    data: missing.map(({ top }) => [0, top]),
    renderItem: (params, api) => {
      const { top, status } = missing[params.dataIndex] as (typeof missing)[number];
      const { x } = params.coordSys as unknown as { x: number };
      const y = api.coord([1, top])[1] as number;
      return {
        type: "text",
        style: { x, y, text: `⚠ ${status}`, fill: palette.muted, font: `12px ${palette.font}`, verticalAlign: "middle" },
      } as CustomSeriesRenderItemReturn;
    },
  };
}

const centre = (places: number[], { profile, lane, lanes }: Pick<Bar, "profile" | "lane" | "lanes">) =>
  (places[profile] as number) + HEADING + (lane + lanes / 2) * STEP - (STEP - THICKNESS) / 2;

function barSeries(spec: BarSpec, palette: Palette, all: Bar[], places: number[]): CustomSeriesOption {
  return {
    type: "custom",
    data: all.map(({ from, spread, profile }) => [from + spread.mean, places[profile] as number]),
    renderItem: (params, api) => renderBar(spec, palette, all, all[params.dataIndex] as Bar, { api, places }),
    tooltip: {
      formatter: (hovered) => {
        const bar = all[(hovered as { dataIndex: number }).dataIndex] as Bar;
        return barTip(spec, palette, bar, all);
      },
    },
  };
}

function renderBar(
  spec: BarSpec,
  palette: Palette,
  all: Bar[],
  bar: Bar,
  { api, places }: { api: CustomSeriesRenderItemAPI; places: number[] },
): CustomSeriesRenderItemReturn {
  const at = (value: number) => api.coord([value, centre(places, bar)]) as [number, number];
  const [right, middle] = at(bar.from + bar.spread.mean);
  const thickness = bar.lanes > 1 ? THICKNESS_STACKED : THICKNESS;
  const colour = barColour(spec, palette, bar);
  const style = fillOf(colour, spec.configurations.length > 1 && bar.op !== "read");
  const children: object[] = [];
  if (spec.logarithmic) {
    children.push({ type: "circle", shape: { cx: right, cy: middle, r: 5.5 }, style });
  } else {
    const left = at(bar.from)[0];
    const round = bar.end ? 2 : 0;
    children.push({
      type: "rect",
      shape: { x: left, y: middle - thickness / 2, width: Math.max(right - left, 1), height: thickness, r: [0, round, round, 0] },
      style,
    });
  }
  if (bar.end) {
    const error = errorBar(bar.end);
    const edge = spec.logarithmic ? Number.POSITIVE_INFINITY : at(rounded(barsEnd(all)).max)[0];
    const [low, high] = error ? [at(Math.max(error[0], 0))[0], Math.min(at(error[1])[0], edge)] : [right, right];
    // An end that was cut has no cap.
    if (error) children.push(...whiskers(low, high, middle, palette, high === edge));
    const text = bar.status === "complete" ? spec.format(bar.end.mean) : `${spec.format(bar.end.mean)}  ⚠ ${bar.status}`;
    const style = {
      x: Math.max(high, right, ...beside(spec, bar).map(({ value }) => at(value)[0] + 4)) + (spec.logarithmic ? 11 : 8),
      y: middle,
      text,
      fill: palette.ink,
      font: `12px ${palette.font}`,
      verticalAlign: "middle",
    };
    children.push({ type: "text", silent: true, style });
  }
  return { type: "group", children } as CustomSeriesRenderItemReturn;
}

const beside = ({ published }: BarSpec, { profile, configuration }: Bar) =>
  published.filter((figure) => figure.profile === profile && figure.configuration === configuration);

/** Diamonds beside the bars that they are about. */
function publishedSeries(spec: BarSpec, palette: Palette, all: Bar[], places: number[]): CustomSeriesOption {
  const found = all.filter(({ end }) => end).flatMap((bar) => beside(spec, bar).map((figure) => ({ ...figure, top: centre(places, bar) })));
  return {
    type: "custom",
    name: "published",
    z: 5,
    data: found.map(({ value, top }) => [value, top]),
    renderItem: (params, api) => {
      const { value, top } = found[params.dataIndex] as (typeof found)[number];
      const [x, y] = api.coord([value, top]) as [number, number];
      const points = [
        [x, y - 7],
        [x + 6, y],
        [x, y + 7],
        [x - 6, y],
      ];
      const style = { fill: palette.surface, stroke: palette.ink, lineWidth: 1.5 };
      return { type: "polygon", shape: { points }, style } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered) => {
        const { value, label } = found[(hovered as { dataIndex: number }).dataIndex] as (typeof found)[number];
        return tip("published, not measured here", [{ name: label, value: spec.format(value) }]);
      },
    },
  };
}

function whiskers(low: number, high: number, y: number, palette: Palette, isCut: boolean): object[] {
  const line = (x1: number, y1: number, x2: number, y2: number) => ({
    type: "line",
    silent: true,
    shape: { x1, y1, x2, y2 },
    style: { stroke: palette.ink, lineWidth: 1.25 },
  });
  return [line(low, y, high, y), line(low, y - 4, low, y + 4), ...(isCut ? [] : [line(high, y - 4, high, y + 4)])];
}

function barColour(spec: BarSpec, palette: Palette, bar: Bar): string {
  return spec.configurations.length > 1 ? configurationColour(palette, bar.configuration) : palette.op[bar.op];
}

function barTip(spec: BarSpec, palette: Palette, bar: Bar, all: Bar[]): HTMLElement {
  const { title } = spec.group.profiles[bar.profile] as Group["profiles"][number];
  const rows = all
    .filter(({ profile, configuration }) => profile === bar.profile && configuration === bar.configuration)
    .flatMap((each) => {
      const { mean, min, max, n } = each.spread;
      const row = { colour: barColour(spec, palette, each), name: each.op, value: spec.exact(mean) };
      if (n > 1) return [row, { name: `lowest – highest of ${n}`, value: `${spec.format(min)} – ${spec.format(max)}` }];
      const { interval } = each.spread;
      return interval ? [row, { name: "95 % interval", value: `${spec.format(interval[0])} – ${spec.format(interval[1])}` }] : [row];
    });
  const name = spec.configurations.length > 1 ? `${title}, ${spec.configurations[bar.configuration]}` : title;
  return tip(name, rows);
}
