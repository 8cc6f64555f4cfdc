// Throughput and latency over time. Warm-up and drain are shaded: they are recorded but not part of any total.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import { bandwidth, duration, exact, rate, seconds } from "../format";
import type { ByOp, IncidentLabel, Op, Point, Series, Timeline } from "../model";
import { translucent, type Palette } from "../palette";
import { base, incidentLines, latencyAxis, timeAxis, tip, unmeasured, valueAxis, type TipRow } from "./axes";

export const ends = (time: { end_s: number[] }) => time.end_s.at(-1) ?? 0;

export const opSeries = (ops: ByOp<Series>) => Object.entries(ops) as [Op, Series][];

/** The middle of every column. */
export const middles = (time: { start_s: number[]; end_s: number[] }) =>
  time.start_s.map((start, index) => (start + (time.end_s[index] as number)) / 2);

export const span = (time: { start_s: number[]; end_s: number[] }, index: number) =>
  `${seconds(time.start_s[index] as number)} to ${seconds(time.end_s[index] as number)}`;

/** I/Os or operations of a driver per second over time, with the rate that was offered when the loop was open. */
export function throughputOption(time: Timeline, point: Pick<Point, "offered_per_s" | "incident_labels" | "rate_noun">, palette: Palette): EChartsOption {
  const { offered_per_s, incident_labels: incidents, rate_noun } = point;
  const unit = rate_noun === "IOPS" ? rate_noun : "per second";
  const x = middles(time);
  const shade = unmeasured(palette, time, ends(time));
  const lines = opSeries(time.ops).map(([op, { iops }], index): LineSeriesOption => ({
    type: "line",
    name: op,
    data: iops.map((value, column) => [x[column] as number, value]) as [number, number][],
    showSymbol: false,
    lineStyle: { color: palette.op[op], width: 2 },
    itemStyle: { color: palette.op[op] },
    areaStyle: { color: translucent(palette.op[op], 0.1) },
    ...(index === 0 ? { markArea: shade } : {}),
  }));
  if (offered_per_s !== null) lines.push(level("offered", offered_per_s, ends(time), palette));
  return {
    ...framed(time, palette, (column) =>
      opSeries(time.ops).flatMap(([op, series]): TipRow[] => [
        {
          colour: palette.op[op],
          name: op,
          value: series.iops[column] == null ? "too short" : exact(series.iops[column] as number, unit),
        },
        { name: "", value: bandwidth(series.bytes_per_s[column]) },
        ...(series.errors[column] ? [{ name: "errors", value: String(series.errors[column]) }] : []),
      ]),
    ),
    yAxis: valueAxis(palette, unit, (value) => rate(value)),
    series: [...lines, ...incidentLines(palette, incidents, ends(time))],
  };
}

/** Median and 99th percentile over time as a band, the slowest I/O as a dotted line. */
export function latencyOption(time: Timeline, incidents: IncidentLabel[], palette: Palette): EChartsOption {
  const x = middles(time);
  const all = opSeries(time.ops);
  const values = all.flatMap(([, { p50_ns, max_ns }]) => [...p50_ns, ...max_ns]).filter((ns): ns is number => ns !== null);
  const shade = unmeasured(palette, time, ends(time));
  const line = (op: Op, name: string, data: (number | null)[], style: object): LineSeriesOption => ({
    type: "line",
    name: `${op}|${name}`,
    data: data.map((ns, column) => [x[column] as number, ns || null]) as [number, number][],
    showSymbol: false,
    lineStyle: { color: palette.op[op], ...style },
    itemStyle: { color: palette.op[op] },
  });
  const lines = all.flatMap(([op, { p50_ns, p99_ns, max_ns }]) => [
    line(op, "p50", p50_ns, { width: 2 }),
    line(op, "p99", p99_ns, { width: 1.25 }),
    line(op, "slowest", max_ns, { width: 1, type: "dotted", opacity: 0.7 }),
  ]);
  if (lines[0]) lines[0].markArea = shade;
  return {
    ...framed(time, palette, (column) =>
      all.flatMap(([op, { p50_ns, p99_ns, max_ns }]) => [
        { colour: palette.op[op], name: `${op} p50`, value: duration(p50_ns[column]) },
        { name: `${op} p99`, value: duration(p99_ns[column]) },
        { name: `${op} slowest`, value: duration(max_ns[column]) },
      ]),
    ),
    yAxis: latencyAxis(palette, "latency", values),
    series: [
      ...all.map(([op, series]) => ({ ...band(x, series, translucent(palette.op[op], 0.14)), name: `${op}|band` })),
      ...lines,
      ...incidentLines(palette, incidents, ends(time)),
    ],
  };
}

function band(x: number[], { p50_ns, p99_ns }: Series, fill: string): CustomSeriesOption {
  const columns = x.map((_, column) => column).filter((column) => p50_ns[column] && p99_ns[column]);
  return {
    type: "custom",
    silent: true,
    tooltip: { show: false },
    data: columns.length > 1 ? [[x[columns[0] as number] as number, p50_ns[columns[0] as number] as number]] : [],
    renderItem: (_, api) => {
      const place = (column: number, ns: number | null | undefined) => api.coord([x[column] as number, ns as number]);
      const points = [
        ...columns.map((column) => place(column, p99_ns[column])),
        ...[...columns].reverse().map((column) => place(column, p50_ns[column])),
      ];
      return { type: "polygon", shape: { points }, style: { fill } } as CustomSeriesRenderItemReturn;
    },
  };
}

function level(name: string, value: number, end_s: number, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name,
    data: [
      [0, value],
      [end_s, value],
    ],
    showSymbol: false,
    lineStyle: { color: palette.muted, width: 1.25, type: "dashed" },
    itemStyle: { color: palette.muted },
  };
}

function framed(time: Timeline, palette: Palette, rows: (column: number) => TipRow[]): EChartsOption {
  const x = middles(time);
  return {
    ...base(palette),
    grid: { left: 64, right: 20, top: 28, bottom: 30 },
    tooltip: {
      ...base(palette).tooltip,
      trigger: "axis",
      formatter: (hovered) => {
        const column = nearest(x, (hovered as unknown as { axisValue: number }[])[0]?.axisValue ?? 0);
        return tip(span(time, column), rows(column));
      },
    },
    xAxis: timeAxis(palette, ends(time)),
  };
}

/** The index of the sorted value nearest to `wanted`. */
export function nearest(sorted: number[], wanted: number): number {
  let best = 0;
  for (let index = 1; index < sorted.length; index += 1) {
    if (Math.abs((sorted[index] as number) - wanted) < Math.abs((sorted[best] as number) - wanted)) best = index;
  }
  return best;
}
