// Kills on a line of time: when each server worked and was down, where it was killed, and below, on the same axis, what a bar says of each kill.
//
// Limits: a bar is as wide as fits between kills; its figures are told on hover and in the table.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import { rate, seconds } from "../format";
import type { Palette } from "../palette";
import { base, timeAxis, tip, valueAxis } from "./axes";

export interface KillSpan {
  start_s: number;
  end_s: number;
  /** Whether the server worked, or was down and started again. */
  state: "works" | "down";
  words: string;
}

export interface Kill {
  at_s: number;
  /** Whether everything was there afterwards; null where nobody looked after this kill alone. */
  kept: boolean | null;
  words: string;
  /** What the bar below has, from its foot on. */
  parts: number[];
}

export interface Kills {
  lanes: { name: string; spans: KillSpan[]; kills: Kill[] }[];
  end_s: number;
  bars: { axis: string; parts: { name: string; bad: boolean }[] };
}

const STEP = 34;
const BAR = 16;
const TOP = 20;
const BETWEEN = 34;
const BARS = 110;
const LEFT = 84;
const RIGHT = 24;
const BOTTOM = 30;
const WIDEST = 14;

export const killsHeight = ({ lanes }: Kills) => TOP + lanes.length * STEP + BETWEEN + BARS + BOTTOM;

export const partColour = (palette: Palette, bad: boolean) => (bad ? palette.limit : (palette.configurations[0] as string));

export function killsOption(spec: Kills, palette: Palette): EChartsOption {
  const height = spec.lanes.length * STEP;
  const time = timeAxis(palette, spec.end_s);
  const plain = { ...time, axisPointer: { show: false } };
  return {
    ...base(palette),
    grid: [
      { left: LEFT, right: RIGHT, top: TOP, height },
      { left: LEFT, right: RIGHT, top: TOP + height + BETWEEN, height: BARS },
    ],
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: [
      { ...plain, axisLabel: { ...time.axisLabel, show: false }, gridIndex: 0 },
      { ...plain, gridIndex: 1 },
    ],
    yAxis: [
      { type: "value" as const, min: 0, max: height, inverse: true, show: false, gridIndex: 0 },
      { ...valueAxis(palette, spec.bars.axis, (value) => rate(value)), minInterval: 1, splitNumber: 3, gridIndex: 1 },
    ],
    series: [spanSeries(spec, palette), killSeries(spec, palette), barSeries(spec, palette)],
  };
}

const middle = (lane: number) => (lane + 0.5) * STEP;

function spanSeries({ lanes }: Kills, palette: Palette): CustomSeriesOption {
  const all = lanes.flatMap(({ name, spans }, lane) => spans.map((span, index) => ({ ...span, lane, name, index })));
  return {
    type: "custom",
    xAxisIndex: 0,
    yAxisIndex: 0,
    data: all.map(({ start_s, lane }) => [start_s, middle(lane)]),
    renderItem: (params, api) => {
      const { start_s, end_s, lane, name, index, state } = all[params.dataIndex] as (typeof all)[number];
      const [left, y] = api.coord([start_s, middle(lane)]) as [number, number];
      const right = (api.coord([end_s, middle(lane)]) as [number, number])[0];
      const { x } = params.coordSys as unknown as { x: number };
      const label = { x: x - 8, y, text: name, fill: palette.ink, font: `12px ${palette.font}`, align: "right", verticalAlign: "middle" };
      const works = state === "works";
      const shape = { x: left, y: y - (works ? BAR : BAR / 2) / 2, width: Math.max(right - left, 1), height: works ? BAR : BAR / 2 };
      const children = [
        ...(index === 0 ? [{ type: "text", silent: true, style: label }] : []),
        { type: "rect", shape, style: { fill: works ? palette.configurations[0] : palette.muted } },
      ];
      return { type: "group", children } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered: unknown) => {
        const found = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
        return tip(found.words, [
          { name: "took", value: seconds(found.end_s - found.start_s) },
          { name: "from", value: seconds(found.start_s) },
        ]);
      },
    },
  } as CustomSeriesOption;
}

/** A cross above the lane where its server was killed; in the colour of what is invalid where something was lost. */
function killSeries({ lanes }: Kills, palette: Palette): CustomSeriesOption {
  const all = lanes.flatMap(({ kills }, lane) => kills.map((kill) => ({ ...kill, lane })));
  return {
    type: "custom",
    xAxisIndex: 0,
    yAxisIndex: 0,
    z: 3,
    data: all.map(({ at_s, lane }) => [at_s, middle(lane)]),
    renderItem: (params, api) => {
      const { at_s, lane, kept } = all[params.dataIndex] as (typeof all)[number];
      const [x, y] = api.coord([at_s, middle(lane)]) as [number, number];
      const colour = kept === false ? palette.limit : palette.ink;
      const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 2 } });
      const top = y - BAR / 2;
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: x - 6, y: top - 10, width: 12, height: BAR + 12 }, style: { fill: "transparent" } },
          line(x, top - 1, x, y + BAR / 2 + 1),
          line(x - 3, top - 8, x + 3, top - 2),
          line(x - 3, top - 2, x + 3, top - 8),
        ],
      } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered: unknown) => {
        const found = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
        return tip(found.words, [{ name: "at", value: seconds(found.at_s) }]);
      },
    },
  } as CustomSeriesOption;
}

/** A bar below each kill, its parts on top of each other. */
function barSeries({ lanes, bars }: Kills, palette: Palette): CustomSeriesOption {
  const all = lanes.flatMap(({ kills }) =>
    kills.flatMap((kill) => {
      let from = 0;
      return bars.parts.map((part, index) => {
        const value = kill.parts[index] ?? 0;
        from += value;
        return { kill, bad: part.bad, from: from - value, to: from };
      });
    }),
  );
  return {
    type: "custom",
    xAxisIndex: 1,
    yAxisIndex: 1,
    data: all.map(({ kill, to }) => [kill.at_s, to]),
    renderItem: (params, api) => {
      const { kill, bad, from, to } = all[params.dataIndex] as (typeof all)[number];
      const [x, foot] = api.coord([kill.at_s, from]) as [number, number];
      const head = (api.coord([kill.at_s, to]) as [number, number])[1];
      const { width } = params.coordSys as unknown as { width: number };
      const wide = Math.min(WIDEST, Math.max((0.6 * width * bars.parts.length) / all.length, 2));
      const shape = { x: x - wide / 2, y: head, width: wide, height: to > from ? Math.max(foot - head, 1) : 0 };
      return { type: "rect", shape, style: { fill: partColour(palette, bad) } } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered: unknown) => {
        const { kill } = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
        const parts = bars.parts.map((part, index) => ({ colour: partColour(palette, part.bad), name: part.name, value: rate(kill.parts[index]) }));
        return tip(kill.words, parts);
      },
    },
  } as CustomSeriesOption;
}
