// Rounds towards steady state: the value of each round, the window that was judged, what the rule allows, and the fitted line.
//
// Source of the rule: SNIA Solid State Storage Performance Test Specification 2.0.2: over five rounds, the range of the values is within
// 20 % of their mean, and the line fitted to them rises or falls by at most 10 % of it.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import type { Steady, SteadyWindow } from "../model";
import { translucent, type Palette } from "../palette";
import { base, rounded, scaleAxis, tip, valueAxis } from "./axes";

export interface SteadySpec {
  steady: Steady;
  /** What the vertical axis shows, with its unit. */
  heading: string;
  format: (value: number) => string;
}

export function steadyOption(spec: SteadySpec, palette: Palette): EChartsOption {
  const { rounds, window: judged } = spec.steady;
  const band = judged ? judged.mean * (1 + judged.range_allowed / 2) : 0;
  const top = Math.max(...rounds.map(({ value }) => value), band) * 1.02;
  const last = Math.max(...rounds.map(({ round }) => round), 1);
  const round = scaleAxis(palette, "round", last + 1, (value) => String(value));
  return {
    ...base(palette),
    grid: { left: 68, right: 24, top: 30, bottom: 50 },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: { ...round, max: last + 1, interval: Math.ceil((last + 1) / 12), axisLabel: { ...round.axisLabel, showMaxLabel: false } },
    yAxis: { ...valueAxis(palette, spec.heading, spec.format), ...rounded(top) },
    series: [...(judged ? [allowed(judged, palette), slope(judged, palette)] : []), values(spec, palette)],
  };
}

const isJudged = (window: SteadyWindow | null, round: number) => window !== null && round >= window.first && round <= window.last;

function values({ steady, heading, format }: SteadySpec, palette: Palette): LineSeriesOption {
  const { rounds, window: judged } = steady;
  return {
    type: "line",
    name: "rounds",
    z: 3,
    data: rounds.map(({ round, value }) => ({
      value: [round, value],
      itemStyle: { color: isJudged(judged, round) ? palette.accent : palette.surface, borderColor: palette.accent, borderWidth: 2 },
    })),
    showAllSymbol: true,
    symbol: "circle",
    symbolSize: 8,
    lineStyle: { color: palette.accent, width: 1.5 },
    itemStyle: { color: palette.accent },
    tooltip: {
      formatter: (hovered) => {
        const { round, value } = rounds[(hovered as { dataIndex: number }).dataIndex] as Steady["rounds"][number];
        const share = judged ? [{ name: "of the window's mean", value: `${((100 * value) / judged.mean).toFixed(1)} %` }] : [];
        return tip(`round ${round}`, [{ colour: palette.accent, name: heading, value: format(value) }, ...share]);
      },
    },
  };
}

/** The band in which every round of the window has to lie, over the window only. */
function allowed(judged: SteadyWindow, palette: Palette): CustomSeriesOption {
  return {
    type: "custom",
    name: "allowed",
    silent: true,
    tooltip: { show: false },
    data: [[judged.first, judged.mean]],
    renderItem: (_, api) => {
      const half = (judged.range_allowed / 2) * judged.mean;
      const [left, top] = api.coord([judged.first - 0.4, judged.mean + half]) as [number, number];
      const [right, bottom] = api.coord([judged.last + 0.4, judged.mean - half]) as [number, number];
      const middle = (top + bottom) / 2;
      return {
        type: "group",
        children: [
          {
            type: "rect",
            shape: { x: left, y: top, width: right - left, height: bottom - top },
            style: { fill: translucent(palette.accent, 0.14) },
          },
          { type: "line", shape: { x1: left, y1: middle, x2: right, y2: middle }, style: { stroke: palette.muted, lineWidth: 1 } },
        ],
      } as CustomSeriesRenderItemReturn;
    },
  };
}

function slope(judged: SteadyWindow, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name: "fitted line",
    silent: true,
    z: 4,
    showSymbol: false,
    data: [
      [judged.first, judged.fit[0]],
      [judged.last, judged.fit[1]],
    ],
    lineStyle: { color: palette.ink, width: 2, type: "dashed" },
  };
}
