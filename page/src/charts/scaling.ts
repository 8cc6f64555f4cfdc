// Scaling: throughput by the number of workers, with the fit of the Universal Scalability Law, and under it the efficiency.
//
// Model: the dashed straight line is what the first point would give if every further worker did as much; the curve is the fit with its
// 95 % band, a small cross its peak. Efficiency is speed-up over workers.
// Source of the law: Gunther, "Guerrilla Capacity Planning", Springer 2007, chapters 4 to 6.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import { digits, exact, percent, rate } from "../format";
import type { Scaling, ScalingPoint } from "../model";
import { configurationColour, type Palette } from "../palette";
import { base, rounded, scaleAxis, tip, valueAxis } from "./axes";
import { bandSeries, fitSeries } from "./fit";

export interface ScalingSubject {
  name: string;
  configuration: number;
  scaling: Scaling;
}

export const SCALING_HEIGHT = 460;
const UPPER = 270;

const place = (api: { coord: (value: number[]) => number[] }, x: number, y: number) => api.coord([x, y]) as [number, number];

export function scalingOption(axis: string, all: ScalingSubject[], palette: Palette, hidden: ReadonlySet<string>): EChartsOption {
  const subjects = all.filter(({ name }) => !hidden.has(name));
  const points = subjects.flatMap(({ scaling }) => scaling.points);
  const most = Math.max(...points.map(({ workers }) => workers), 1);
  const heights = points.map(({ iops }) => iops.high ?? iops.value);
  const top = Math.max(...heights, ...subjects.flatMap(({ scaling }) => scaling.fit?.curve.map((at) => at[1]) ?? []), 1);
  // The axis ends shortly after the last level: round numbers beyond it would be empty paper.
  const across = { ...scaleAxis(palette, axis, most, (value) => rate(value)), max: most * 1.04 };
  const efficiencies = points.map(({ efficiency }) => 100 * efficiency);
  return {
    ...base(palette),
    grid: [
      { left: 68, right: 24, top: 30, height: UPPER - 50 },
      { left: 68, right: 24, top: UPPER + 24, bottom: 50 },
    ],
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: [
      { ...across, name: "", gridIndex: 0, axisLabel: { show: false } },
      { ...across, gridIndex: 1, axisLabel: { ...across.axisLabel, showMaxLabel: false } },
    ],
    yAxis: [
      { ...valueAxis(palette, "throughput, IOPS", (value) => rate(value)), ...rounded(top), gridIndex: 0 },
      { ...valueAxis(palette, "efficiency, %", (value) => percent(value)), ...rounded(Math.max(100, ...efficiencies)), gridIndex: 1 },
    ],
    series: subjects.flatMap((subject) => subjectSeries(subject, most * 1.04, rounded(top).max, palette)),
  };
}

function subjectSeries({ name, configuration, scaling }: ScalingSubject, end: number, top: number, palette: Palette) {
  const colour = configurationColour(palette, configuration);
  const series: (LineSeriesOption | CustomSeriesOption)[] = [idealSeries(name, scaling.points, end, top, colour)];
  if (scaling.fit) series.push(bandSeries(name, scaling.fit.curve, colour, 0.16), fitSeries(name, scaling.fit.curve, colour, 2));
  series.push(
    whiskers(name, scaling.points, colour),
    pointSeries(name, scaling.points, colour),
    efficiencySeries(name, scaling.points, colour),
  );
  if (scaling.fit?.peak && scaling.fit.peak.workers <= end) series.push(peakSeries(name, scaling.fit.peak, colour, palette));
  return series;
}

/** One straight line through the first point, up to the edge of the chart. */
function idealSeries(name: string, points: ScalingPoint[], end: number, top: number, colour: string): LineSeriesOption {
  const first = points[0];
  const each = first ? first.iops.value / first.workers : 0;
  const reach = each > 0 ? Math.min(end, top / each) : 0;
  return {
    type: "line",
    name: `${name}|ideal`,
    silent: true,
    showSymbol: false,
    data: [
      [0, 0],
      [reach, reach * each],
    ],
    lineStyle: { color: colour, width: 1.25, type: "dashed", opacity: 0.7 },
  };
}

function whiskers(name: string, points: ScalingPoint[], colour: string): CustomSeriesOption {
  const bounded = points.filter(({ iops }) => iops.low !== null && iops.high !== null);
  return {
    type: "custom",
    name: `${name}|whiskers`,
    silent: true,
    tooltip: { show: false },
    data: bounded.map(({ workers, iops }) => [workers, iops.value]),
    renderItem: (params, api) => {
      const { workers, iops } = bounded[params.dataIndex] as ScalingPoint;
      const [x1, y1] = place(api, workers, iops.low as number);
      const [x2, y2] = place(api, workers, iops.high as number);
      return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.5 } } as CustomSeriesRenderItemReturn;
    },
  };
}

function pointSeries(name: string, points: ScalingPoint[], colour: string): LineSeriesOption {
  return {
    type: "line",
    name: `${name}|points`,
    z: 3,
    data: points.map(({ workers, iops }) => [workers, iops.value]),
    showAllSymbol: true,
    symbol: "circle",
    symbolSize: 8,
    lineStyle: { width: 0 },
    itemStyle: { color: colour },
    tooltip: { formatter: (hovered) => scalingTip(name, points[(hovered as { dataIndex: number }).dataIndex] as ScalingPoint, colour) },
  };
}

function efficiencySeries(name: string, points: ScalingPoint[], colour: string): LineSeriesOption {
  return {
    type: "line",
    name: `${name}|efficiency`,
    xAxisIndex: 1,
    yAxisIndex: 1,
    data: points.map(({ workers, efficiency }) => [workers, 100 * efficiency]),
    showAllSymbol: true,
    symbol: "circle",
    symbolSize: 6,
    lineStyle: { color: colour, width: 1.5 },
    itemStyle: { color: colour },
    tooltip: { formatter: (hovered) => scalingTip(name, points[(hovered as { dataIndex: number }).dataIndex] as ScalingPoint, colour) },
  };
}

function peakSeries(name: string, peak: { workers: number; iops: number }, colour: string, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name: `${name}|peak`,
    z: 4,
    data: [[peak.workers, peak.iops]],
    showSymbol: true,
    symbol: "path://M-6,0 L6,0 M0,-6 L0,6",
    symbolSize: 12,
    itemStyle: { color: palette.ink, borderColor: palette.ink, borderWidth: 2 },
    tooltip: {
      formatter: () =>
        tip(`${name}: peak of the fit`, [{ colour, name: `${digits(peak.workers)} workers`, value: rate(peak.iops, "IOPS") }]),
    },
  };
}

function scalingTip(name: string, { workers, iops, speedup, efficiency }: ScalingPoint, colour: string): HTMLElement {
  return tip(`${name}, ${workers} workers`, [
    { colour, name: "throughput", value: exact(iops.value, "IOPS") },
    ...(iops.low === null || iops.high === null ? [] : [{ name: "95 % interval", value: `${rate(iops.low)} – ${rate(iops.high)}` }]),
    { name: "speed-up", value: `${digits(speedup)} ×` },
    { name: "efficiency", value: percent(100 * efficiency) },
  ]);
}
