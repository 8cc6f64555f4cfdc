// What the host saw meanwhile: CPU shares, and the kernel's counters of each device as small charts over one time axis.

import type { EChartsOption, LineSeriesOption } from "../echarts";
import { digits, percent, rate } from "../format";
import type { HostTimeline } from "../model";
import { translucent, type Palette } from "../palette";
import { base, timeAxis, tip, unmeasured, valueAxis, type Shade } from "./axes";
import { ends, middles, nearest, span } from "./time";

type Counters = Record<string, (number | null)[]>;

export const CPU = [
  { key: "user_percent", name: "user" },
  { key: "system_percent", name: "system" },
  { key: "iowait_percent", name: "iowait" },
  { key: "steal_percent", name: "steal" },
] as const;

interface Panel {
  name: string;
  unit: string;
  lines: { key: string; name: string; role: "read" | "write" | "accent" }[];
  format: (value: number) => string;
}

export const DEVICE_PANELS: Panel[] = [
  {
    name: "requests per second",
    unit: "per s",
    format: (value) => rate(value),
    lines: [
      { key: "r_per_s", name: "r/s", role: "read" },
      { key: "w_per_s", name: "w/s", role: "write" },
    ],
  },
  {
    name: "await, ms",
    unit: "ms",
    format: (value) => digits(value),
    lines: [
      { key: "r_await_ms", name: "r_await", role: "read" },
      { key: "w_await_ms", name: "w_await", role: "write" },
    ],
  },
  { name: "queue", unit: "", format: (value) => digits(value), lines: [{ key: "queue_mean", name: "aqu-sz", role: "accent" }] },
  { name: "util, %", unit: "%", format: (value) => digits(value), lines: [{ key: "util_percent", name: "util", role: "accent" }] },
];

const PANEL_STEP = 128;
const NARROW_PX = 420;

/** Two by two, or one below the other where the screen is narrow. */
const panelColumns = (width: number) => (width < NARROW_PX ? 1 : 2);

export const deviceHeight = (width: number) => (DEVICE_PANELS.length / panelColumns(width)) * PANEL_STEP + 14;

function panelGrid(panel: number, width: number): { left: number; top: number; width: number; height: number } {
  const columns = panelColumns(width);
  const across = width / columns;
  return {
    left: (panel % columns) * across + 48,
    top: 26 + Math.floor(panel / columns) * PANEL_STEP,
    width: across - 64,
    height: PANEL_STEP - 54,
  };
}

export function cpuOption(host: HostTimeline, shade: Shade, palette: Palette): EChartsOption {
  const x = middles(host);
  const states = CPU.filter(({ key }) => host.cpu[key]);
  return {
    ...base(palette),
    grid: { left: 64, right: 20, top: 28, bottom: 30 },
    tooltip: pointing(palette, host, (column) =>
      states.map(({ key, name }) => ({ colour: cpuColour(palette, key), name, value: percent(host.cpu[key]?.[column]) })),
    ),
    xAxis: timeAxis(palette, ends(host)),
    yAxis: { ...valueAxis(palette, "CPU time, all cores", (value) => percent(value)), max: 100, interval: 25 },
    series: states.map(({ key, name }, index): LineSeriesOption => ({
      ...(index === 0 ? { markArea: unmeasured(palette, shade, ends(host)) } : {}),
      type: "line",
      name,
      stack: "cpu",
      data: (host.cpu[key] as number[]).map((value, column) => [x[column] as number, value]),
      showSymbol: false,
      lineStyle: { color: cpuColour(palette, key), width: 1 },
      itemStyle: { color: cpuColour(palette, key) },
      areaStyle: { color: translucent(cpuColour(palette, key), 0.55) },
    })),
  };
}

export function cpuColour(palette: Palette, key: string): string {
  return palette.cpu[CPU.findIndex((state) => state.key === key)] ?? palette.muted;
}

export function deviceOption(
  spec: { host: HostTimeline; counters: Counters; shade: Shade },
  palette: Palette,
  width: number,
): EChartsOption {
  const { host, counters, shade } = spec;
  const x = middles(host);
  const colour = (role: "read" | "write" | "accent") => (role === "accent" ? palette.accent : palette.op[role]);
  return {
    ...base(palette),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: pointing(palette, host, (column) =>
      DEVICE_PANELS.flatMap(({ unit, format, lines }) =>
        lines.map(({ key, name, role }) => ({ colour: colour(role), name, value: shown(counters[key]?.[column], format, unit) })),
      ),
    ),
    grid: DEVICE_PANELS.map((_, panel) => panelGrid(panel, width)),
    xAxis: DEVICE_PANELS.map((_, panel) => ({ ...timeAxis(palette, ends(host)), splitNumber: 3, gridIndex: panel })),
    yAxis: DEVICE_PANELS.map(({ name, format, unit }, panel) => ({
      ...valueAxis(palette, name, format),
      splitNumber: 2,
      gridIndex: panel,
      ...(unit === "%" ? { max: 100 } : {}),
    })),
    series: DEVICE_PANELS.flatMap(({ lines }, panel) =>
      lines.map(({ key, name, role }, index): LineSeriesOption => ({
        ...(index === 0 ? { markArea: unmeasured(palette, shade, ends(host), false) } : {}),
        type: "line",
        name,
        xAxisIndex: panel,
        yAxisIndex: panel,
        data: (counters[key] ?? []).map((value, column) => [x[column] as number, value]) as [number, number][],
        showSymbol: false,
        lineStyle: { color: colour(role), width: 1.75 },
        itemStyle: { color: colour(role) },
      })),
    ),
  };
}

const shown = (value: number | null | undefined, format: (value: number) => string, unit: string) =>
  value == null ? "–" : `${format(value)} ${unit}`.trim();

function pointing(palette: Palette, host: HostTimeline, rows: (column: number) => { colour: string; name: string; value: string }[]) {
  const x = middles(host);
  return {
    ...(base(palette).tooltip as object),
    trigger: "axis" as const,
    formatter: (hovered: unknown) => {
      const column = nearest(x, (hovered as { axisValue: number }[])[0]?.axisValue ?? 0);
      return tip(span(host, column), rows(column));
    },
  };
}
