// The latency percentile curve: which latency was not exceeded by which share of the I/Os.
//
// Model: the horizontal axis counts nines (90, 99, 99.9 …), so that the slow tail, which a histogram hides, takes most of the width.
// Other configurations of the same workload are drawn thin, for the eye to compare.
// Limits: the right end is a single I/O, the slowest; the last nine before it rests on at most ten.

import type { EChartsOption, LineSeriesOption } from "../echarts";
import { duration, exact, nines } from "../format";
import type { Curve } from "../model";
import type { Palette } from "../palette";
import { base, latencyAxis, tip } from "./axes";

export interface PercentileSpec {
  curves: Curve[];
  /** Curves of the same workload elsewhere, with what to call them. */
  others: { name: string; curve: Curve }[];
  modelled: boolean;
}

export function percentilesOption({ curves, others }: PercentileSpec, palette: Palette): EChartsOption {
  const all = [...curves, ...others.map(({ curve }) => curve)];
  const furthest = Math.max(1, ...all.map(({ nines: points }) => points.at(-1)?.[0] ?? 0));
  return {
    ...base(palette),
    grid: { left: 64, right: 24, top: 28, bottom: 46 },
    tooltip: {
      ...base(palette).tooltip,
      trigger: "axis",
      formatter: (hovered) => curveTip(hovered as unknown as Hovered[], furthest),
    },
    xAxis: {
      type: "value",
      min: 0,
      max: Math.ceil(furthest * 4) / 4,
      interval: 1,
      axisLabel: {
        color: palette.muted,
        fontSize: 12,
        hideOverlap: true,
        formatter: (value: number) => (Number.isInteger(value) ? nines(value) : ""),
      },
      name: "percentile",
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: { color: palette.muted, fontSize: 12 },
      axisLine: { show: true, onZero: false, lineStyle: { color: palette.line } },
      splitLine: { lineStyle: { color: palette.faint } },
      axisPointer: { show: true, type: "line", lineStyle: { color: palette.muted, type: "solid" }, label: { show: false } },
    },
    yAxis: latencyAxis(
      palette,
      "latency",
      all.flatMap(({ nines: points }) => points.map(([, ns]) => ns)),
    ),
    series: [
      ...others.map(({ name, curve }) => line(`${name}, ${curve.op}`, curve, palette, { width: 1, type: "solid", opacity: 0.45 })),
      ...curves.map((curve) =>
        line(curveName(curve), curve, palette, { width: 2.25, type: curve.kind === "service" ? "dashed" : "solid" }),
      ),
    ],
  };
}

export const curveName = ({ op, kind }: Curve) => (kind === "service" ? `${op}, service time` : op);

interface Hovered {
  seriesName: string;
  color: string;
  value: [number, number];
}

function line(name: string, curve: Curve, palette: Palette, style: object): LineSeriesOption {
  const last = curve.nines.length - 1;
  return {
    type: "line",
    name,
    data: curve.nines,
    symbol: (_: unknown, { dataIndex }: { dataIndex: number }) => (dataIndex === last ? "circle" : "none"),
    symbolSize: 6,
    showAllSymbol: true,
    lineStyle: { color: palette.op[curve.op], ...style },
    itemStyle: { color: palette.op[curve.op], ...("opacity" in style ? { opacity: style.opacity as number } : {}) },
  };
}

function curveTip(hovered: Hovered[], furthest: number): HTMLElement {
  const first = hovered[0]?.value[0] ?? 0;
  const heading = first >= furthest ? "the slowest I/O" : `${nines(first)} % of the I/Os took at most`;
  const rows = hovered.map(({ seriesName, color, value }) => ({
    colour: color,
    name: seriesName,
    value: `${duration(value[1])} (${exact(value[1], "ns")})`,
  }));
  return tip(heading, rows);
}
