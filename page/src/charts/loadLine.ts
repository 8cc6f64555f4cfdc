// The load line: response against throughput, one line per configuration, by rising level.
//
// Model: each point of a line is one level, its shape says whether the objective held there. The band spans the 95 % intervals of the
// response, thin bars those of the throughput. The mark is drawn as on a ship's hull: a circle with the waterline through it, as wide as
// its interval.
// Limits: a line may turn back where more load gives less throughput; that is what was measured, so points are never sorted by throughput.

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, EChartsOption, LineSeriesOption } from "../echarts";
import { bandwidth, bounded, duration, exact, rate } from "../format";
import type { Knee, LoadLine, LoadPoint, Mark, ObjectiveVerdict, Saturation } from "../model";
import { configurationColour, translucent, type Palette } from "../palette";
import { levelText } from "../settings";
import { ratePhrase } from "../rates";
import { base, latencyAxis, rounded, scaleAxis, tip, valueAxis, type TipRow } from "./axes";

export type Rate = "iops" | "bytes_per_s";

export interface LoadLineSubject {
  name: string;
  /** Its place among the configurations of the report, which is its colour. */
  configuration: number;
  line: LoadLine;
  mark: Mark | null;
  knee: Knee | null;
  saturation: Saturation | null;
  /** Figures of the same workload that others published. */
  published: { label: string; value: number }[];
}

export interface LoadLineSpec {
  subjects: LoadLineSubject[];
  axis: string | null;
  rate: Rate;
  /** What the rates are called, in whose unit they are. */
  noun: string;
  /** What the vertical axis shows, for instance `read p99`. */
  response: string;
  logarithmic: boolean;
}

type Place = [number, number];

export const SIGNS = { mark: "⊖", knee: "▽", saturation: "┊" } as const;

export const verdictOf = (verdict: ObjectiveVerdict | null): "held" | "failed" | "undecided" | null =>
  verdict && (verdict.settled ? (verdict.holds ? "held" : "failed") : "undecided");

const shownRate = ({ rate: kind, noun }: LoadLineSpec) => (kind === "iops" ? (value: number) => ratePhrase(value, noun) : bandwidth);

/** Whether people speak of most of these loads in MB/s rather than in requests. */
export const isSpokenInBytes = (subjects: { in_bytes: boolean }[]) => subjects.filter(({ in_bytes }) => in_bytes).length * 2 > subjects.length;

/** Where a response changes by more than this factor, a linear axis would press its lower part into a line. */
const WIDE = 12;

/** Whether a logarithmic axis shows more of these responses. */
export function isWide(lines: LoadLine[]): boolean {
  const values = lines.flatMap(({ points }) => points.map(({ response }) => response.value)).filter((value) => value > 0);
  return values.length > 1 && Math.max(...values) / Math.min(...values) > WIDE;
}

/**
 * What the axis of responses has to hold. A logarithmic one follows the points and the objective, and the band is cut off at its ends: an
 * interval that reaches nearly to zero would fill the chart with decades that hold nothing.
 */
export function shownHeights(points: Pick<LoadPoint, "response">[], limits: number[], logarithmic: boolean): number[] {
  const responses = points.flatMap(({ response: { value, low, high } }) => (logarithmic ? [value] : [value, low ?? value, high ?? value]));
  return [...responses, ...limits].filter((value) => value > 0);
}

export function loadLineOption(spec: LoadLineSpec, palette: Palette, hidden: ReadonlySet<string>): EChartsOption {
  const subjects = spec.subjects.filter(({ name }) => !hidden.has(name));
  const points = subjects.flatMap(({ line }) => line.points);
  const limits = [...new Set(subjects.flatMap(({ line }) => line.limit_ns ?? []))];
  const rates = [
    ...points.flatMap((point) => [point[spec.rate].value, point[spec.rate].high ?? 0]),
    ...subjects.flatMap(({ published }) => published.map(({ value }) => value)),
  ];
  const furthest = Math.max(...rates, 0) * 1.02;
  const unit = spec.rate === "iops" ? spec.noun : "MB/s";
  const heights = shownHeights(points, limits, spec.logarithmic);
  return {
    ...base(palette),
    grid: { left: 68, right: 24, top: 30, bottom: 50 },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: scaleAxis(
      palette,
      `throughput, ${unit}`,
      furthest,
      spec.rate === "iops" ? (value) => rate(value) : (value) => rate(value / 1e6),
    ),
    yAxis: spec.logarithmic
      ? latencyAxis(palette, spec.response, heights)
      : { ...valueAxis(palette, spec.response, duration), ...rounded(Math.max(...heights, 1) * 1.02) },
    series: [
      publishedSeries(subjects, palette),
      ...limits.map((limit) => limitSeries(limit, furthest, palette)),
      ...subjects.flatMap((subject) => subjectSeries(spec, subject, palette)),
    ],
  };
}

function subjectSeries(spec: LoadLineSpec, subject: LoadLineSubject, palette: Palette) {
  const colour = configurationColour(palette, subject.configuration);
  return [
    bandSeries(spec, subject, colour),
    saturationSeries(spec, subject, colour),
    lineSeries(spec, subject, colour, palette),
    ...(subject.mark ? [markSeries(spec, subject, subject.mark, palette)] : []),
    ...(subject.knee ? [kneeSeries(spec, subject, subject.knee, colour, palette)] : []),
  ];
}

function lineSeries(spec: LoadLineSpec, { name, line }: LoadLineSubject, colour: string, palette: Palette): LineSeriesOption {
  return {
    type: "line",
    name,
    z: 3,
    data: line.points.map((point) => {
      const verdict = verdictOf(point.verdict);
      const hollow = verdict === "failed" || verdict === "undecided";
      return {
        value: [point[spec.rate].value, point.response.value],
        symbol: verdict === "undecided" ? "diamond" : "circle",
        itemStyle: { color: hollow ? palette.surface : colour, borderColor: colour, borderWidth: 2 },
      };
    }),
    showAllSymbol: true,
    symbolSize: 8,
    lineStyle: { color: colour, width: 2 },
    itemStyle: { color: colour },
    tooltip: {
      formatter: (hovered) => {
        const point = line.points[(hovered as { dataIndex: number }).dataIndex] as LoadPoint;
        return tip(`${name}, ${levelText(spec.axis, point.level)}`, pointRows(spec, point, colour));
      },
    },
  };
}

const between = ({ low, high }: { low: number | null; high: number | null }, format: (value: number) => string): TipRow[] =>
  low === null || high === null ? [] : [{ name: "95 % interval", value: `${format(low)} – ${format(high)}` }];

function pointRows(spec: LoadLineSpec, point: LoadPoint, colour: string): TipRow[] {
  const format = shownRate(spec);
  const verdict = verdictOf(point.verdict);
  return [
    { colour, name: spec.rate === "iops" ? "throughput" : "bandwidth", value: format(point[spec.rate].value) },
    ...between(point[spec.rate], format),
    { colour, name: spec.response, value: `${bounded(point.response.value, point.response.at_least)} (${exact(point.response.value, "ns")})` },
    ...between(point.response, duration),
    ...(point.offered_per_s === null ? [] : [{ name: "offered", value: ratePhrase(point.offered_per_s, spec.noun) }]),
    ...(verdict ? [{ name: "objective", value: point.verdict?.failed_by ? `${verdict}: ${point.verdict.failed_by}` : verdict }] : []),
  ];
}

function bandSeries({ rate: kind }: LoadLineSpec, { name, line }: LoadLineSubject, colour: string): CustomSeriesOption {
  const bounded = line.points.filter(({ response }) => response.low !== null && response.high !== null);
  const first = bounded[0];
  return {
    type: "custom",
    name: `${name}|band`,
    silent: true,
    tooltip: { show: false },
    clip: true,
    data: first ? [[first[kind].value, first.response.value]] : [],
    renderItem: (_, api) => {
      const at = (point: LoadPoint, value: number | null) => api.coord([point[kind].value, Math.max(value ?? 0, 1)]) as Place;
      const edges = [
        ...bounded.map((point) => at(point, point.response.high)),
        ...[...bounded].reverse().map((point) => at(point, point.response.low)),
      ];
      const bars = bounded.flatMap((point) => spans(point, kind, (value) => api.coord([value, point.response.value]) as Place, colour));
      const band = { type: "polygon", shape: { points: edges }, style: { fill: translucent(colour, 0.16) } };
      return { type: "group", children: [...(bounded.length > 1 ? [band] : []), ...bars] } as CustomSeriesRenderItemReturn;
    },
  };
}

/** The 95 % interval of the throughput as a thin bar. */
function spans(point: LoadPoint, kind: Rate, at: (value: number) => Place, colour: string): object[] {
  const { low, high } = point[kind];
  if (low === null || high === null) return [];
  const [[x1, y1], [x2, y2]] = [at(low), at(high)];
  return [{ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.25, opacity: 0.7 } }];
}

/** The limit of the objective, with its words above the line. */
function limitSeries(limit: number, furthest: number, palette: Palette): CustomSeriesOption {
  return {
    type: "custom",
    name: "objective",
    silent: true,
    tooltip: { show: false },
    data: [
      [0, limit],
      [furthest, limit],
    ],
    renderItem: (params, api) => {
      if (params.dataIndex > 0) return { type: "group", children: [] };
      const { x, width } = params.coordSys as unknown as { x: number; width: number };
      const y = api.coord([0, limit])[1] as number;
      const style = { stroke: palette.limit, lineWidth: 1.5, lineDash: [6, 4] };
      const words = {
        x: x + 6,
        y: y - 4,
        text: `objective: ${duration(limit)}`,
        fill: palette.limit,
        font: `12px ${palette.font}`,
        verticalAlign: "bottom",
        stroke: palette.surface,
        lineWidth: 3,
      };
      return {
        type: "group",
        children: [
          { type: "line", shape: { x1: x, y1: y, x2: x + width, y2: y }, style },
          { type: "text", style: words },
        ],
      } as CustomSeriesRenderItemReturn;
    },
  };
}

/** The response where the drawn line passes the knee, which lies between the levels. */
function onLine({ points }: LoadLine, { level, iops }: Knee, { logarithmic }: LoadLineSpec): number {
  const best = points.findIndex((point) => point.level === level);
  const at = points[best];
  const next = at && points[iops < at.iops.value ? best - 1 : best + 1];
  if (!at || !next || next.iops.value === at.iops.value) return at?.response.value ?? 0;
  const share = Math.min(Math.max((iops - at.iops.value) / (next.iops.value - at.iops.value), 0), 1);
  const [from, to] = [at.response.value, next.response.value];
  return logarithmic && from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share;
}

/** Height of the mark: the response at its level, or the limit where that level is not on the line. */
function responseAt(line: LoadLine, level: number): number | null {
  return line.points.find((point) => point.level === level)?.response.value ?? line.limit_ns;
}

function markSeries(spec: LoadLineSpec, subject: LoadLineSubject, mark: Mark, palette: Palette): CustomSeriesOption {
  const y = responseAt(subject.line, mark.level) ?? 0;
  const scale = spec.rate === "iops" ? 1 : mark.bytes_per_s / (mark.iops || 1);
  const [low, high] = (mark.interval ?? [mark.iops, mark.iops]).map((value) => value * scale) as [number, number];
  return {
    type: "custom",
    name: `${subject.name}|mark`,
    z: 5,
    data: [[mark[spec.rate], y]],
    renderItem: (_, api) => {
      const [x, top] = api.coord([mark[spec.rate], y]) as Place;
      const left = Math.min((api.coord([low, y]) as Place)[0], x - 13);
      const right = Math.max((api.coord([high, y]) as Place)[0], x + 13);
      const ring = { type: "circle", shape: { cx: x, cy: top, r: 8.5 } };
      return {
        type: "group",
        children: [
          { ...ring, style: { fill: translucent(palette.surface, 0.01), stroke: palette.surface, lineWidth: 5 } },
          { ...ring, style: { fill: "none", stroke: palette.ink, lineWidth: 2.25 } },
          { type: "line", shape: { x1: left, y1: top, x2: right, y2: top }, style: { stroke: palette.ink, lineWidth: 2.25 } },
        ],
      } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: () => {
        const format = shownRate(spec);
        return tip(`${subject.name}: mark`, [
          { colour: palette.ink, name: mark.objective, value: format(mark[spec.rate]) },
          ...(mark.interval ? between({ low, high }, format) : []),
          { name: "highest level that held", value: levelText(spec.axis, mark.level) },
          ...(mark.failed_by ? [{ name: "failed first", value: mark.failed_by }] : []),
        ]);
      },
    },
  };
}

function kneeSeries(spec: LoadLineSpec, subject: LoadLineSubject, knee: Knee, colour: string, palette: Palette): CustomSeriesOption {
  const y = onLine(subject.line, knee, spec);
  return {
    type: "custom",
    name: `${subject.name}|knee`,
    z: 4,
    data: [[knee[spec.rate], y]],
    renderItem: (_, api) => {
      const [x, at] = api.coord([knee[spec.rate], y]) as Place;
      const points = [
        [x - 6, at - 19],
        [x + 6, at - 19],
        [x, at - 9],
      ];
      return {
        type: "polygon",
        shape: { points },
        style: { fill: palette.surface, stroke: colour, lineWidth: 2 },
      } as CustomSeriesRenderItemReturn;
    },
    tooltip: {
      formatter: () =>
        tip(`${subject.name}: knee`, [
          { colour, name: levelText(spec.axis, knee.level), value: shownRate(spec)(knee[spec.rate]) },
          { name: knee.method, value: "" },
        ]),
    },
  };
}

/** A vertical line where the storage is saturated. */
function saturationSeries(spec: LoadLineSpec, { name, line, saturation }: LoadLineSubject, colour: string): CustomSeriesOption {
  const y = line.points[0]?.response.value ?? 1;
  const value = spec.rate === "iops" ? saturation?.iops.value : saturation?.bytes_per_s;
  return {
    type: "custom",
    name: `${name}|saturation`,
    silent: true,
    tooltip: { show: false },
    data: value === undefined ? [] : [[value, y]],
    renderItem: (params, api) => {
      const { y: top, height } = params.coordSys as unknown as { y: number; height: number };
      const [x] = api.coord([value as number, y]) as Place;
      const shape = { x1: x, y1: top, x2: x, y2: top + height };
      return { type: "line", shape, style: { stroke: colour, lineWidth: 1.5, lineDash: [2, 4] } } as CustomSeriesRenderItemReturn;
    },
  };
}

/** Room that the word beside a published figure takes. */
const WORD = 62;

/** Vertical lines where others published a figure; the word stands wherever there is room for it. */
function publishedSeries(subjects: LoadLineSubject[], palette: Palette): CustomSeriesOption {
  const values = [...new Set(subjects.flatMap(({ published }) => published.map(({ value }) => value)))].sort((a, b) => a - b);
  const y = subjects[0]?.line.points[0]?.response.value ?? 1;
  return {
    type: "custom",
    name: "published",
    silent: true,
    tooltip: { show: false },
    data: values.map((value) => [value, y]),
    renderItem: (params, api) => {
      const { x: left, y: top, height } = params.coordSys as unknown as { x: number; y: number; height: number };
      const places = values.map((value) => (api.coord([value, y]) as Place)[0]);
      const x = places[params.dataIndex] as number;
      const before = places[params.dataIndex - 1] ?? left;
      const style = { stroke: palette.muted, lineWidth: 1.5, lineDash: [8, 3, 2, 3] };
      const line = { type: "line", shape: { x1: x, y1: top, x2: x, y2: top + height }, style };
      const words = { x: x - 4, y: top + 2, text: "published", fill: palette.muted, font: `11px ${palette.font}` };
      const text = { type: "text", style: { ...words, align: "right", verticalAlign: "top" } };
      return { type: "group", children: x - before > WORD ? [line, text] : [line] } as CustomSeriesRenderItemReturn;
    },
  };
}
