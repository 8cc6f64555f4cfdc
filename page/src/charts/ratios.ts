// The ratio chart of a comparison: each configuration over the baseline, with the 95 % interval of the ratio, on a logarithmic axis.
//
// Model: the line at 1 is the baseline. Colour and shape both say the verdict: a triangle up is faster, a triangle down slower, a ring
// shows no difference. Rows stand under headings: the group of workloads measured once, or the workload whose levels they are. Latencies of
// loads that were not carried say how long the load lasted and can be any number, so they do not set the ends of the axis: where such a row
// goes beyond, it ends there with an arrow and its number.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import { digits } from "../format";
import type { ComparisonVerdict } from "../model";
import { configurationColour, type Palette } from "../palette";
import { base, tip } from "./axes";

export interface RatioRow {
  heading: string;
  workload: string;
  label: string;
  side: string;
  /** The side's place among the configurations, which is the colour of its label; −1 without. */
  configuration: number;
  ratio: number;
  low: number | null;
  high: number | null;
  verdict: ComparisonVerdict;
  p_adjusted: number | null;
  /** Its offered rate was not achieved. */
  saturated: boolean;
}

const RIGHT = 34;

export interface RatioSpec {
  rows: RatioRow[];
  baseline: string;
  /** What is divided, and which way is better. */
  measure: string;
  several: boolean;
}

const STEP = 22;
const HEADING = 26;
const TOP = 8;

/** The vertical place of each row and of each heading, and the height of all. */
export function ratioPlaces(rows: RatioRow[]): { rows: number[]; headings: { text: string; y: number }[]; height: number } {
  let y = TOP;
  const headings: { text: string; y: number }[] = [];
  const places = rows.map(({ heading }, index) => {
    if (heading !== rows[index - 1]?.heading) {
      if (index > 0) y += 6;
      headings.push({ text: heading, y });
      y += HEADING;
    }
    y += STEP;
    return y - STEP / 2;
  });
  return { rows: places, headings, height: y + 6 };
}

/** The room that the longest of the ratios as numbers takes. */
export const valuesWidth = (rows: RatioRow[]) => Math.ceil(Math.max(0, ...rows.map((row) => ratioText(row).length)) * 6.8) + 20;

/** Whether there is room for the ratios as numbers beside the rows. */
const isValued = (width: number) => width >= 480;

export const ratioHeight = (rows: RatioRow[]) => ratioPlaces(rows).height + 54;

const ROUND = [1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];

/** The ends of the axis: round factors around 1 that hold every interval, of the rows that were carried where there are some. */
export function ratioExtent(rows: RatioRow[]): [number, number] {
  const carried = rows.filter(({ saturated }) => !saturated);
  const values = (carried.length > 0 ? carried : rows).flatMap(({ ratio, low, high }) => [ratio, low ?? ratio, high ?? ratio]).filter((value) => value > 0);
  const round = (factor: number) => ROUND.find((step) => step >= factor) ?? factor;
  return [1 / round(1 / Math.min(...values, 1 / 1.1)), round(Math.max(...values, 1.1))];
}

const ends = ({ ratio, low, high }: RatioRow) => [low ?? ratio, ratio, high ?? ratio];

/** Whether something of a row lies beyond the ends of the axis. */
export const isClipped = (row: RatioRow, [low, high]: [number, number]) => ends(row).some((value) => value < low || value > high);

/** A value as far as the axis goes. */
const within = (value: number, [low, high]: [number, number]) => Math.min(Math.max(value, low), high);

/** Round factors that fit between the ends, at most about seven. */
export function ratioTicks([low, high]: [number, number]): number[] {
  const candidates = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 10, 20, 50, 100,
    200, 500, 1000,
  ];
  const inside = candidates.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  const least = Math.log(high / low) / 8;
  const kept: number[] = [1];
  for (const value of inside.filter((each) => each > 1)) if (Math.log(value / (kept.at(-1) as number)) >= least) kept.push(value);
  for (const value of inside.filter((each) => each < 1).reverse()) if (Math.log((kept[0] as number) / value) >= least) kept.unshift(value);
  return kept;
}

export function ratiosOption(spec: RatioSpec, palette: Palette, width: number): EChartsOption {
  const places = ratioPlaces(spec.rows);
  const extent = ratioExtent(spec.rows);
  const left = Math.round(Math.min(Math.max(...spec.rows.map(({ label }) => label.length), 8) * 6.8 + 30, width * 0.45));
  const log = Math.log10;
  return {
    ...base(palette),
    grid: { left, right: isValued(width) ? valuesWidth(spec.rows) : RIGHT, top: 0, height: places.height },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: {
      type: "value",
      min: log(extent[0]),
      max: log(extent[1]),
      show: true,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { show: false },
      splitLine: { show: false },
    },
    yAxis: { type: "value", min: 0, max: places.height, inverse: true, show: false },
    series: [frameSeries(spec, palette, extent, places), rowSeries(spec, palette, places, { extent, valued: isValued(width) })],
  };
}

/** Grid lines at round factors, their numbers, the headings, and the name of the axis. */
function frameSeries(
  spec: RatioSpec,
  palette: Palette,
  extent: [number, number],
  places: ReturnType<typeof ratioPlaces>,
): CustomSeriesOption {
  return {
    type: "custom",
    name: "frame",
    silent: true,
    tooltip: { show: false },
    data: [[0, 0]],
    renderItem: (params, api) => {
      const { x, y, width, height } = params.coordSys as unknown as { x: number; y: number; width: number; height: number };
      const words = (text: string, at: object) => ({
        type: "text",
        style: { text, fill: palette.muted, font: `12px ${palette.font}`, ...at },
      });
      const ticks = ratioTicks(extent).flatMap((value) => {
        const [at] = api.coord([Math.log10(value), 0]) as [number, number];
        const stroke = value === 1 ? palette.ink : palette.faint;
        return [
          { type: "line", shape: { x1: at, y1: y, x2: at, y2: y + height }, style: { stroke, lineWidth: value === 1 ? 1.5 : 1 } },
          words(`${value} ×`, { x: at, y: y + height + 6, align: "center", verticalAlign: "top" }),
        ];
      });
      const headings = places.headings.map(({ text, y: top }) => ({
        type: "text",
        style: {
          x: 2,
          y: y + top + 4,
          text,
          fill: palette.ink,
          font: `600 13px ${palette.font}`,
          verticalAlign: "top",
          stroke: palette.surface,
          lineWidth: 5,
        },
      }));
      const name = words(`${spec.measure}, over ${spec.baseline}`, {
        x: x + width / 2,
        y: y + height + 28,
        // A long name of a side does not reach over the edge of a phone.
        width: width + 2 * RIGHT,
        overflow: "truncate",
        align: "center",
        verticalAlign: "top",
      });
      return { type: "group", children: [...ticks, ...headings, name] } as CustomSeriesRenderItemReturn;
    },
  };
}

function rowSeries(
  spec: RatioSpec,
  palette: Palette,
  places: ReturnType<typeof ratioPlaces>,
  { extent, valued }: { extent: [number, number]; valued: boolean },
): CustomSeriesOption {
  return {
    type: "custom",
    name: "ratios",
    data: spec.rows.map(({ ratio }, index) => [Math.log10(within(ratio, extent)), places.rows[index] as number]),
    renderItem: (params, api) => {
      const row = spec.rows[params.dataIndex] as RatioRow;
      const { x, width } = params.coordSys as unknown as { x: number; width: number };
      const top = places.rows[params.dataIndex] as number;
      const at = (value: number) => (api.coord([Math.log10(within(value, extent)), top]) as [number, number])[0];
      const [cx, cy] = api.coord([Math.log10(within(row.ratio, extent)), top]) as [number, number];
      const colour = palette.verdict[row.verdict];
      const children: object[] = [label(spec, row, palette, { x: x - 10, y: cy })];
      if (row.low !== null && row.high !== null && row.low > 0) {
        children.push({
          type: "line",
          shape: { x1: at(row.low), y1: cy, x2: at(row.high), y2: cy },
          style: { stroke: colour, lineWidth: 2 },
        });
      }
      const [low, high] = [Math.min(...ends(row)), Math.max(...ends(row))];
      if (low < extent[0]) children.push(arrow(at(extent[0]), cy, -1, colour));
      if (high > extent[1]) children.push(arrow(at(extent[1]), cy, 1, colour));
      if (row.ratio >= extent[0] && row.ratio <= extent[1]) children.push(verdictShape(row.verdict, cx, cy, colour, palette.surface));
      else children.push(beyond(row, palette, { x: cx, y: cy, side: row.ratio > extent[1] ? 1 : -1 }));
      if (valued) {
        const style = {
          x: x + width + 10,
          y: cy,
          text: ratioText(row),
          fill: palette.ink,
          font: `12px ${palette.font}`,
          verticalAlign: "middle",
        };
        children.push({ type: "text", silent: true, style });
      }
      return { type: "group", children } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: (hovered) => {
        const row = spec.rows[(hovered as { dataIndex: number }).dataIndex] as RatioRow;
        return tip(`${row.heading}: ${row.label}`, [
          { colour: palette.verdict[row.verdict], name: `${row.side} over ${spec.baseline}`, value: ratioText(row) },
          {
            name: row.verdict,
            value: row.p_adjusted === null ? "" : `p ${row.p_adjusted < 0.001 ? "< 0.001" : row.p_adjusted.toFixed(3)}`,
          },
        ]);
      },
    },
  };
}

export const ratioText = ({ ratio, low, high }: Pick<RatioRow, "ratio" | "low" | "high">) =>
  low === null || high === null ? `${digits(ratio)} ×` : `${digits(ratio)} × [${digits(low)}, ${digits(high)}]`;

function label(spec: RatioSpec, row: RatioRow, palette: Palette, { x, y }: { x: number; y: number }): object {
  const fill = spec.several && row.configuration >= 0 ? configurationColour(palette, row.configuration) : palette.muted;
  const style = {
    x,
    y,
    text: row.label,
    fill: palette.ink,
    font: `12px ${palette.font}`,
    align: "right",
    verticalAlign: "middle",
    width: x - 8,
    overflow: "truncate",
  };
  const dot = { type: "circle", shape: { cx: x + 5, cy: y, r: 3 }, style: { fill } };
  return { type: "group", silent: true, children: spec.several ? [{ type: "text", style }, dot] : [{ type: "text", style }] };
}

/** The end of a row that goes on beyond the axis. */
function arrow(x: number, y: number, side: number, fill: string): object {
  const points = [
    [x, y],
    [x - side * 9, y - 6],
    [x - side * 9, y + 6],
  ];
  return { type: "polygon", shape: { points }, style: { fill } };
}

/** The number of a ratio that lies beyond the axis, inside of its end. */
function beyond({ ratio }: RatioRow, palette: Palette, { x, y, side }: { x: number; y: number; side: number }): object {
  const style = {
    x: x - side * 14,
    y,
    text: `${digits(ratio)} ×`,
    fill: palette.ink,
    font: `12px ${palette.font}`,
    align: side > 0 ? "right" : "left",
    verticalAlign: "middle",
    stroke: palette.surface,
    lineWidth: 4,
  };
  return { type: "text", silent: true, style };
}

function verdictShape(verdict: ComparisonVerdict, x: number, y: number, colour: string, surface: string): object {
  if (verdict === "no difference shown" || verdict === "too short to tell") {
    return { type: "circle", shape: { cx: x, cy: y, r: 5 }, style: { fill: surface, stroke: colour, lineWidth: 2 } };
  }
  const up = verdict === "faster" ? -1 : 1;
  const points = [
    [x, y + up * 7],
    [x - 7, y - up * 5],
    [x + 7, y - up * 5],
  ];
  return { type: "polygon", shape: { points }, style: { fill: colour } };
}
