import assert from "node:assert/strict";
import { test } from "node:test";
import { isClipped, ratioExtent, ratiosOption, ratioText, ratioTicks, type RatioRow } from "../src/charts/ratios";
import type { Palette } from "../src/palette";

const row = (ratio: number, low: number | null, high: number | null, saturated = false): RatioRow => ({
  heading: "a",
  workload: "a",
  label: "100 %",
  side: "b",
  configuration: 1,
  ratio,
  low,
  high,
  verdict: ratio > 1 ? "slower" : "faster",
  p_adjusted: 0.01,
  saturated,
});

const palette: Palette = {
  ...{ ink: "#000", muted: "#666", line: "#ccc", faint: "#eee", surface: "#fff", accent: "#00f", shade: "#f0f0f0", limit: "#f00" },
  verdict: { faster: "#0a0", slower: "#a00", "no difference shown": "#888", "too short to tell": "#888" },
  font: "sans-serif",
  op: { read: "#1", write: "#2", trim: "#3", flush: "#4" } as Palette["op"],
  configurations: ["#1", "#2"],
  heat: [],
  cpu: [],
};

interface Shape {
  type: string;
  shape: { points: number[][]; x1: number; x2: number };
  style: { text?: string; align?: string };
}

/** What is drawn for a row in a plot that is 1,000 pixels wide. */
function drawn(rows: RatioRow[], index: number): Shape[] {
  const option = ratiosOption({ rows, baseline: "a", measure: "p99 latency", several: false }, palette, 900) as unknown as {
    xAxis: { min: number; max: number };
    series: { renderItem: (params: object, api: object) => { children: Shape[] } }[];
  };
  const { min, max } = option.xAxis;
  const api = { coord: ([x, y]: [number, number]) => [((x - min) / (max - min)) * 1000, y] };
  const row = { dataIndex: index, coordSys: { x: 0, y: 0, width: 1000, height: 100 } };
  return option.series[1]?.renderItem(row, api).children ?? [];
}

test("rows whose load was not carried do not stretch the axis", () => {
  const rows = [row(1.3, 1.2, 1.4), row(0.9, 0.85, 0.95), row(740, 500, 1100, true)];
  assert.deepEqual(ratioExtent(rows), [1 / 1.2, 1.5]);
  assert.deepEqual(rows.map((each) => isClipped(each, ratioExtent(rows))), [false, false, true]);
});

test("where no load was carried, all rows are shown whole", () => {
  const rows = [row(40, 20, 45, true), row(1.1, 1, 1.2, true)];
  assert.deepEqual(ratioExtent(rows), [1 / 1.1, 50]);
});

test("a row beyond the axis ends there with an arrow and its number", () => {
  const rows = [row(1.3, 1.2, 1.4), row(740, 500, 1100, true)];
  const shapes = drawn(rows, 1);
  const [arrow] = shapes.filter(({ type }) => type === "polygon");
  assert.deepEqual(arrow?.shape.points[0]?.[0], 1000);
  const [line] = shapes.filter(({ type }) => type === "line");
  assert.deepEqual([line?.shape.x1, line?.shape.x2], [1000, 1000]);
  assert.ok(shapes.some(({ style }) => style?.text === "740 ×" && style.align === "right"));
  assert.ok(!drawn(rows, 0).some(({ style }) => style?.text === "1.30 ×" && style.align === "right"));
});

test("a row of which only the interval goes beyond keeps its verdict", () => {
  const rows = [row(1.3, 1.2, 1.4), row(0.95, 0.2, 1.1, true)];
  const polygons = drawn(rows, 1).filter(({ type }) => type === "polygon");
  assert.equal(polygons.length, 2);
  assert.equal(Math.round(polygons[0]?.shape.points[0]?.[0] as number), 0);
});

test("small ratios have ticks around them, and their numbers have room", () => {
  // Left of 0.02 was no tick, and '0.0540 × [0.0539, 0.0541]' was cut at its end.
  const rows = [row(0.0056, 0.0055, 0.0057), row(0.05398, 0.0539, 0.0541)];
  const extent = ratioExtent(rows);
  assert.ok(ratioTicks(extent).some((tick) => tick <= 0.0056));
  const option = ratiosOption({ rows, baseline: "a", measure: "IOPS", several: false }, palette, 900) as unknown as { grid: { right: number } };
  assert.ok(option.grid.right >= 6.6 * Math.max(...rows.map((each) => ratioText(each).length)) + 10);
});
