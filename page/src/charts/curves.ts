// Curves over levels: one figure of each side at every level, with the limits that it is held against, and a fit with its band.
//
// Model: levels double as a rule, so the axis of levels is logarithmic: each doubling has the same room. Bars are 95 % intervals; the dashed
// line is what the first point would give if every further worker did as much, a thin curve with a band the fit.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import type { Estimate } from "../model";
import { configurationColour, type Palette } from "../palette";
import { base, rounded, tip, valueAxis, type TipRow } from "./axes";
import { bandSeries, fitSeries, type Fitted } from "./fit";

export interface CurvePoint {
  level: number;
  value: Pick<Estimate, "value" | "low" | "high">;
  /** What else a tooltip says. */
  more: TipRow[];
}

export interface Curve {
  name: string;
  /** Its place among the configurations of the report, which is its colour; `tone` has another colour in its place. */
  configuration: number;
  tone?: (palette: Palette) => string;
  dashed?: boolean;
  points: CurvePoint[];
  /** `[level, value, lowest, highest]`. */
  fit?: Fitted;
  ideal?: boolean;
}

export interface Curves {
  axis: string;
  /** What the levels are, one and several: `workflow`. */
  noun: string;
  unit: string;
  format: (value: number) => string;
  curves: Curve[];
  limits: { name: string; value: number }[];
}

export const CURVES_HEIGHT = 260;

const colourOf = ({ configuration, tone }: Curve, palette: Palette) => tone?.(palette) ?? configurationColour(palette, configuration);

export function curvesOption(spec: Curves, palette: Palette, hidden: ReadonlySet<string>): EChartsOption {
  const curves = spec.curves.filter(({ name }) => !hidden.has(name));
  const points = curves.flatMap((curve) => curve.points);
  const levels = [...new Set(points.map(({ level }) => level))].sort((one, other) => one - other);
  const heights = points.map(({ value }) => Math.max(value.value, value.high === null || value.high > 3 * value.value ? 0 : value.high));
  const most = Math.max(...heights, 0);
  // A limit that lies far above everything would press the curves into a line; the note names it.
  const limits = spec.limits.filter(({ value }) => value <= 2.5 * most);
  const top = rounded(Math.max(most, ...limits.map(({ value }) => value)) * 1.02);
  const [lowest, highest] = [levels[0] ?? 1, levels[levels.length - 1] ?? 1];
  return {
    ...base(palette),
    grid: { left: 64, right: 22, top: 30, bottom: 46 },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: {
      type: "log",
      logBase: 2,
      name: spec.axis,
      min: lowest === highest ? lowest / 2 : lowest,
      max: lowest === highest ? highest * 2 : highest,
      nameLocation: "middle",
      nameGap: 28,
      nameTextStyle: { color: palette.muted, fontSize: 12 },
      axisLabel: { color: palette.muted, fontSize: 12, hideOverlap: true, formatter: (value: number) => String(Math.round(value * 100) / 100) },
      axisLine: { show: true, onZero: false, lineStyle: { color: palette.line } },
      axisTick: { show: false },
      splitLine: { show: false },
    },
    yAxis: { ...valueAxis(palette, spec.unit, spec.format), ...top },
    series: [
      ...limits.map(({ name, value }) => limitSeries(name, value, [lowest, highest], palette)),
      ...curves.flatMap((curve) => curveSeries(curve, spec, top.max, palette)),
    ],
  };
}

function limitSeries(name: string, value: number, [lowest, highest]: [number, number], palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name: `limit ${name}`,
    silent: true,
    showSymbol: false,
    data: [
      [lowest, value],
      [highest, value],
    ],
    lineStyle: { color: palette.limit, width: 1.25, type: "dashed" },
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: "transparent" },
      label: { color: palette.limit, fontSize: 11, position: "insideStartTop", formatter: "{b}" },
      data: [{ yAxis: value, name }],
    },
  };
}

function curveSeries(curve: Curve, spec: Curves, top: number, palette: Palette) {
  const colour = colourOf(curve, palette);
  const series: (LineSeriesOption | CustomSeriesOption)[] = [];
  if (curve.ideal) series.push(idealSeries(curve, top, colour));
  if (curve.fit) series.push(bandSeries(curve.name, curve.fit, colour, 0.14), fitSeries(curve.name, curve.fit, colour, 1.25));
  series.push(whiskers(curve, colour), lineSeries(curve, spec, colour));
  return series;
}

function idealSeries({ name, points }: Curve, top: number, colour: string): LineSeriesOption {
  const first = points[0];
  const last = points[points.length - 1];
  const each = first ? first.value.value / first.level : 0;
  const reach = last && each > 0 ? Math.min(last.level, top / each) : 0;
  const at = first && reach > first.level ? Array.from({ length: 30 }, (_, step) => first.level * (reach / first.level) ** (step / 29)) : [];
  return {
    type: "line",
    name: `${name}|ideal`,
    silent: true,
    showSymbol: false,
    data: at.map((level) => [level, level * each]),
    lineStyle: { color: colour, width: 1.25, type: "dashed", opacity: 0.7 },
  };
}

function whiskers({ name, points }: Curve, colour: string): CustomSeriesOption {
  const bounded = points.filter(({ value }) => value.low !== null && value.high !== null);
  return {
    type: "custom",
    name: `${name}|whiskers`,
    silent: true,
    clip: true,
    tooltip: { show: false },
    data: bounded.map(({ level, value }) => [level, value.value]),
    renderItem: (params, api) => {
      const { level, value } = bounded[params.dataIndex] as CurvePoint;
      const [x1, y1] = api.coord([level, value.low as number]) as [number, number];
      const [x2, y2] = api.coord([level, value.high as number]) as [number, number];
      return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.5 } } as CustomSeriesRenderItemReturn;
    },
  };
}

function lineSeries(curve: Curve, spec: Curves, colour: string): LineSeriesOption {
  const joined = !curve.fit;
  return {
    type: "line",
    name: curve.name,
    z: 3,
    data: curve.points.map(({ level, value }) => [level, value.value]),
    showAllSymbol: true,
    symbol: "circle",
    symbolSize: 7,
    lineStyle: { color: colour, width: joined ? 2 : 0, type: curve.dashed ? "dashed" : "solid" },
    itemStyle: { color: colour },
    tooltip: {
      formatter: (hovered) => {
        const { level, value, more } = curve.points[(hovered as { dataIndex: number }).dataIndex] as CurvePoint;
        const between =
          value.low === null || value.high === null ? [] : [{ name: "95 % interval", value: `${spec.format(value.low)} – ${spec.format(value.high)}` }];
        return tip(`${curve.name}, ${level} ${spec.noun}${level === 1 ? "" : "s"}`, [
          { colour, name: spec.unit, value: spec.format(value.value) },
          ...between,
          ...more,
        ]);
      },
    },
  };
}
