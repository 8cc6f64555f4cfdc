// What all charts share: type, grid lines, tooltips. Charts stand still: motion would suggest a change that was not measured.

import type { EChartsOption, LineSeriesOption } from "../echarts";
import { element } from "../element";
import { duration, seconds, tick } from "../format";
import type { IncidentLabel, Timeline } from "../model";
import { translucent, type Palette } from "../palette";

export function base(palette: Palette): EChartsOption {
  return {
    animation: false,
    textStyle: { fontFamily: palette.font, color: palette.ink },
    tooltip: {
      confine: true,
      backgroundColor: palette.surface,
      borderColor: palette.line,
      textStyle: { color: palette.ink, fontSize: 13, fontFamily: palette.font },
      padding: [8, 12],
      transitionDuration: 0,
    },
  };
}

const named = (palette: Palette) => ({
  nameTextStyle: { color: palette.muted, fontSize: 12, align: "left" as const, padding: [0, 0, 2, 0] },
  axisLabel: { color: palette.muted, fontSize: 12, hideOverlap: true },
});

/** A linear axis of values that starts at zero. */
export function valueAxis(palette: Palette, name: string, format: (value: number) => string) {
  const style = named(palette);
  return {
    type: "value" as const,
    name,
    min: 0,
    splitNumber: 4,
    ...style,
    axisLabel: { ...style.axisLabel, formatter: tick(format) },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: palette.faint } },
  };
}

/** A logarithmic axis of nanoseconds over whole decades around the given values. */
export function latencyAxis(palette: Palette, name: string, values: Iterable<number>) {
  const style = named(palette);
  const [low, high] = decades(values);
  return {
    type: "log" as const,
    name,
    min: low,
    max: high,
    ...style,
    axisLabel: { ...style.axisLabel, formatter: tick(duration) },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: palette.line } },
    minorTick: { show: true, splitNumber: 9, length: 0 },
    minorSplitLine: { show: true, lineStyle: { color: palette.faint } },
  };
}

/** The powers of ten around values; zeros, which a logarithm cannot show, are left out. */
export function decades(values: Iterable<number>): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const value of values) if (value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (high === 0) return [1e3, 1e6];
  const floor = Math.floor(Math.log10(low) + 1e-9);
  return [10 ** floor, 10 ** Math.max(Math.ceil(Math.log10(high) - 1e-9), floor + 1)];
}

export function timeAxis(palette: Palette, end_s: number) {
  return {
    type: "value" as const,
    min: 0,
    max: end_s,
    axisLabel: { color: palette.muted, fontSize: 12, hideOverlap: true, formatter: tick(seconds), showMaxLabel: false },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.line } },
    axisTick: { show: false },
    splitLine: { show: false },
    axisPointer: {
      show: true,
      type: "line" as const,
      triggerTooltip: true,
      lineStyle: { color: palette.muted, type: "solid" as const, width: 1 },
      label: { show: false },
    },
  };
}

/** A horizontal axis of values from zero, with its name under it. */
export function scaleAxis(palette: Palette, name: string, highest: number, format: (value: number) => string) {
  return {
    ...valueAxis(palette, name, format),
    ...rounded(highest),
    nameLocation: "middle" as const,
    nameGap: 28,
    nameTextStyle: { color: palette.muted, fontSize: 12 },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.line } },
    splitLine: { show: false },
  };
}

const STEPS = [1, 2, 2.5, 5, 10];
const PARTS = 4;

/** The end and the steps of an axis from zero that holds `highest`: round numbers, about four steps. */
export function rounded(highest: number): { max: number; interval: number } {
  if (!(highest > 0)) return { max: 1, interval: 0.5 };
  const magnitude = 10 ** Math.floor(Math.log10(highest / PARTS));
  const interval = magnitude * (STEPS.find((step) => step * magnitude * PARTS >= highest * (1 - 1e-9)) ?? 10);
  return { max: interval * Math.ceil(highest / interval - 1e-9), interval };
}

const LABELLED_SHARE = 0.12;

export type Shade = Pick<Timeline, "warmup_end_s" | "measure_end_s">;

/** Shades what is not part of the measured time. */
export function unmeasured(palette: Palette, { warmup_end_s, measure_end_s }: Shade, end_s: number, labelled = true) {
  const area = (name: string, from: number, to: number) =>
    [{ name: labelled ? name : "", xAxis: from }, { xAxis: to }] as [{ name: string; xAxis: number }, { xAxis: number }];
  const areas = [];
  if (warmup_end_s) areas.push(area("warm-up", 0, warmup_end_s));
  if (measure_end_s && measure_end_s < end_s) {
    // At the right edge a word wider than its area would be cut.
    areas.push(area(end_s - measure_end_s > end_s * LABELLED_SHARE ? "drain" : "", measure_end_s, end_s));
  }
  return {
    silent: true,
    itemStyle: { color: palette.shade },
    label: { color: palette.muted, fontSize: 11, position: "insideTopLeft" as const },
    data: areas,
  };
}

/** Of the axis: a label nearer to the one before would lie on it. */
const LABEL_SHARE = 0.035;

/** Vertical lines where something failed or was rebuilt, each with its words along it where there is room; in a series
 *  without points of its own. */
export function incidentLines(palette: Palette, incidents: IncidentLabel[], end_s: number): LineSeriesOption[] {
  const shown = incidents.filter(({ time_s }) => time_s <= end_s);
  if (shown.length === 0) return [];
  let labelled = Number.NEGATIVE_INFINITY;
  const data = shown.map(({ time_s, label }) => {
    const free = time_s - labelled >= end_s * LABEL_SHARE;
    if (free) labelled = time_s;
    // Words stand before the line at the right edge, behind it elsewhere.
    const position = time_s > end_s * (1 - LABEL_SHARE) ? ("insideEndTop" as const) : ("insideEndBottom" as const);
    return { xAxis: time_s, name: label, label: { show: free, position } };
  });
  return [
    {
      type: "line",
      data: [],
      silent: true,
      markLine: {
        silent: true,
        symbol: "none",
        lineStyle: { color: palette.ink, width: 1, type: "dashed" },
        label: { color: palette.ink, fontSize: 11, formatter: "{b}", textBorderColor: palette.surface, textBorderWidth: 3 },
        data,
      },
    },
  ];
}

/** The same in a sentence, for those who do not see the lines. */
export function incidentWords(incidents: IncidentLabel[]): string {
  if (incidents.length === 0) return "";
  const told = incidents.slice(0, TOLD).map(({ time_s, label }) => `${seconds(time_s)}: ${label}`);
  const more = incidents.length > TOLD ? `; and ${incidents.length - TOLD} more` : "";
  return ` Vertical lines, from the beginning of the warm-up: ${told.join("; ")}${more}.`;
}

/** How many a sentence tells. */
const TOLD = 12;

export interface TipRow {
  colour?: string;
  name: string;
  value: string;
}

/** A tooltip as elements, never as markup: names come from stored results. */
export function tip(heading: string, rows: TipRow[]): HTMLElement {
  return element(
    "div",
    { class: "tip" },
    element("strong", {}, heading),
    ...rows.map(({ colour, name, value }) => {
      const dot = element("i", {});
      dot.style.background = colour ?? "transparent";
      return element("div", {}, dot, element("span", {}, name), element("b", {}, value));
    }),
  );
}

export function fillOf(colour: string, light: boolean): { fill: string; stroke: string; lineWidth: number } {
  return { fill: light ? translucent(colour, 0.28) : colour, stroke: colour, lineWidth: light ? 1.25 : 0 };
}
