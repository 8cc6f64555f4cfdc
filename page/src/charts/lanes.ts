// Streams over time: what each of them was at and when, and below it, on the same axis, what the devices of the target moved.
//
// Limits: a name stands in its bar where it fits; the others are told on hover and in the table.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import { megabytes, seconds } from "../format";
import type { HostTimeline } from "../model";
import { translucent, type Palette } from "../palette";
import { base, timeAxis, tip, valueAxis } from "./axes";
import { middles, nearest } from "./time";

export interface Lane {
  name: string;
  spans: { name: string; start_s: number; end_s: number }[];
  /** What became of it, where that was not its end. */
  ended?: string;
}

export interface Lanes {
  lanes: Lane[];
  /** Where the tests begin. */
  marks: { name: string; start_s: number }[];
  /** What has a colour of its own, by its name; without it neighbours are told apart, and refreshes have the colour of writes. */
  colours?: (name: string, palette: Palette) => string;
  /** Null where no device of the target was seen. */
  devices: { time: HostTimeline; names: string[] } | null;
}

const STEP = 24;
const GAP = 6;
/** More lanes than this are drawn thin, without words in their bars. */
const MANY = 16;
const THIN = 12;
const FOOT = 4;
const TOP = 22;
const BETWEEN = 30;
const DEVICE = 110;
const LEFT = 84;
const RIGHT = 16;
const BOTTOM = 30;
const CHARACTER = 7;

const isThin = ({ lanes }: Pick<Lanes, "lanes">) => lanes.length > MANY;
const stepOf = (spec: Lanes) => (isThin(spec) ? THIN : STEP);

export const lanesHeight = (spec: Lanes) => TOP + spec.lanes.length * stepOf(spec) + (spec.devices ? BETWEEN + DEVICE : 0) + BOTTOM;

/** The end of the last query. */
export const lanesEnd = ({ lanes }: Pick<Lanes, "lanes">) => Math.max(...lanes.flatMap(({ spans }) => spans.map(({ end_s }) => end_s)), 0);

/** What the devices moved in each column of time: bytes per second of all of them together. */
export function moved({ time, names }: NonNullable<Lanes["devices"]>, counter: string): (number | null)[] {
  return time.start_s.map((_, column) => {
    const values = names.map((name) => time.devices[name]?.[counter]?.[column]).filter((value): value is number => value != null);
    return values.length > 0 ? values.reduce((total, value) => total + value, 0) : null;
  });
}

export function lanesOption(spec: Lanes, palette: Palette): EChartsOption {
  const end_s = lanesEnd(spec);
  const height = spec.lanes.length * stepOf(spec);
  const time = timeAxis(palette, end_s);
  const axis = spec.devices ? { ...time, axisLabel: { ...time.axisLabel, show: false } } : time;
  const below = { left: LEFT, right: RIGHT, top: TOP + height + BETWEEN, height: DEVICE };
  return {
    ...base(palette),
    grid: [{ left: LEFT, right: RIGHT, top: TOP, height }, ...(spec.devices ? [below] : [])],
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: [
      { ...axis, axisPointer: { show: false }, gridIndex: 0 },
      ...(spec.devices ? [{ ...time, axisPointer: { show: false }, gridIndex: 1 }] : []),
    ],
    yAxis: [
      { type: "value" as const, min: 0, max: height, inverse: true, show: false, gridIndex: 0 },
      ...(spec.devices ? [{ ...valueAxis(palette, "MB/s of the devices", (value) => megabytes(value)), splitNumber: 3, gridIndex: 1 }] : []),
    ],
    series: [laneSeries(spec, palette), ...(spec.devices ? deviceSeries(spec.devices, palette, end_s) : [])],
  };
}

/** Two tones in turn, so that neighbours are told apart; refreshes have the colour of writes. */
function colourOf(name: string, index: number, palette: Palette): string {
  if (name.startsWith("RF")) return palette.op.write;
  return (index % 2 === 0 ? palette.configurations[0] : palette.configurations[6]) as string;
}

function laneSeries(spec: Lanes, palette: Palette): CustomSeriesOption {
  const [step, thin] = [stepOf(spec), isThin(spec)];
  const bar = step - (thin ? FOOT : GAP);
  const all = spec.lanes.flatMap(({ name, spans }, lane) => spans.map((span, index) => ({ ...span, lane, index, stream: name })));
  const middle = (lane: number) => (lane + 0.5) * step;
  const marks = spec.marks.map(({ name, start_s }) => ({ name, xAxis: start_s }));
  return {
    type: "custom",
    xAxisIndex: 0,
    yAxisIndex: 0,
    data: all.map(({ start_s, lane }) => [start_s, middle(lane)]),
    renderItem: (params, api) => {
      const { name, start_s, end_s, lane, index, stream } = all[params.dataIndex] as (typeof all)[number];
      const [left, y] = api.coord([start_s, middle(lane)]) as [number, number];
      const width = Math.max((api.coord([end_s, middle(lane)]) as [number, number])[0] - left, 1);
      const { x } = params.coordSys as unknown as { x: number };
      const fill = spec.colours?.(name, palette) ?? colourOf(name, index, palette);
      const ended = index === (spec.lanes[lane]?.spans.length ?? 0) - 1 ? spec.lanes[lane]?.ended : "";
      const written = (said: string, at: number, colour: string, align: string) => ({
        type: "text",
        silent: true,
        style: { x: at, y, text: said, fill: colour, font: `12px ${palette.font}`, align, verticalAlign: "middle" },
      });
      const children = [
        // Of thin lanes every fourth has its name.
        ...(index === 0 && (!thin || lane % 4 === 0) ? [written(stream, x - 8, palette.ink, "right")] : []),
        { type: "rect", shape: { x: left, y: y - bar / 2, width: Math.max(width - 1, 0.7), height: bar, r: thin ? 1 : 2 }, style: { fill } },
        ...(!thin && width > name.length * CHARACTER + 6 ? [written(name, left + width / 2, palette.surface, "center")] : []),
        ...(ended ? [written("✗", left + width + 4, palette.limit, "left")] : []),
      ];
      return { type: "group", children } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered: unknown) => {
        const found = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
        const took = [{ name: "took", value: seconds(found.end_s - found.start_s) }];
        const ended = spec.lanes[found.lane]?.ended;
        return tip(`${found.name}, ${found.stream}`, [
          ...took,
          { name: "from", value: seconds(found.start_s) },
          ...(ended ? [{ name: "failed", value: ended }] : []),
        ]);
      },
    },
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: palette.muted, width: 1, type: "dashed" },
      // The axis is turned over: a line begins at its foot and ends above the lanes.
      label: { color: palette.muted, fontSize: 11, formatter: "{b}", position: "start", align: "left", distance: 3 },
      data: marks,
    },
  } as CustomSeriesOption;
}

function deviceSeries(devices: NonNullable<Lanes["devices"]>, palette: Palette, end_s: number): LineSeriesOption[] {
  const x = middles(devices.time);
  return (["read", "write"] as const).map((role): LineSeriesOption => {
    const values = moved(devices, `${role}_bytes_per_s`);
    const points = values.flatMap((value, column) => ((x[column] as number) <= end_s ? [[x[column] as number, value]] : []));
    return {
      type: "line",
      name: role,
      xAxisIndex: 1,
      yAxisIndex: 1,
      data: points as [number, number][],
      showSymbol: points.length < 3,
      symbolSize: 5,
      lineStyle: { color: palette.op[role], width: 2 },
      itemStyle: { color: palette.op[role] },
      areaStyle: { color: translucent(palette.op[role], 0.12) },
      tooltip: {
        formatter: (hovered) => {
          const column = nearest(x, ((hovered as { value?: number[] }).value ?? [])[0] ?? 0);
          return tip(seconds(x[column] as number), [{ colour: palette.op[role], name: role, value: `${megabytes(values[column])} MB/s` }]);
        },
      },
    };
  });
}
