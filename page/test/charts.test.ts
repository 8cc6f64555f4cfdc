import assert from "node:assert/strict";
import { test } from "node:test";
import { decades } from "../src/charts/axes";
import { bars, barsHeight, offsets, type BarSpec, type Measure } from "../src/charts/bars";
import { edge, heatCells } from "../src/charts/heatmap";
import { nearest } from "../src/charts/time";
import type { Bars, Cell } from "../src/model";
import { along } from "../src/palette";
import { flattened } from "../src/sections/environment";

const one = (mean: number) => ({ mean, min: mean, max: mean, n: 1 });
const values = (iops: number, mean_ns: number): Bars => ({
  iops: one(iops),
  bytes_per_s: one(iops * 4096),
  mean_ns: one(mean_ns),
  p50_ns: one(mean_ns),
  p99_ns: one(mean_ns),
  p999_ns: one(mean_ns),
  max_ns: one(mean_ns),
});
const mixed: Cell = {
  points: [0],
  status: "complete",
  ops: { read: values(70, 5), write: values(30, 9) },
  all: { iops: one(100), bytes_per_s: one(409600) },
};
const failed: Cell = { points: [1], status: "failed", ops: {}, all: { iops: null, bytes_per_s: null } };
const spec = (measure: Measure, cells: (Cell | null)[]): BarSpec => ({
  group: {
    profiles: [
      { workload: "a", title: "A", cells },
      { workload: "b", title: "B", cells },
    ],
  },
  configurations: cells.map((_, index) => `c${index}`),
  measure,
  logarithmic: false,
  format: String,
  exact: String,
  published: [],
});

test("rates are stacked: the second operation begins where the first ends, and the sum stands at the end", () => {
  const [read, write] = bars(spec("iops", [mixed]));
  assert.deepEqual([read?.from, read?.spread.mean, read?.end], [0, 70, null]);
  assert.deepEqual([write?.from, write?.spread.mean, write?.end?.mean], [70, 30, 100]);
});

test("latencies stand side by side, each with its own value", () => {
  const latencies = bars(spec("p99_ns", [mixed]));
  assert.deepEqual(
    latencies.slice(0, 2).map(({ lane, from, end }) => [lane, from, end?.mean]),
    [
      [0, 0, 5],
      [1, 0, 9],
    ],
  );
});

test("a configuration without numbers keeps its lane, so that the others do not move up", () => {
  const latencies = bars(spec("mean_ns", [failed, mixed, null]));
  assert.deepEqual(
    latencies.slice(0, 2).map(({ configuration, lane }) => [configuration, lane]),
    [
      [1, 1],
      [1, 2],
    ],
  );
});

test("charts of rate and of latency line up", () => {
  const [rates, latencies] = [spec("iops", [mixed, failed]), spec("mean_ns", [mixed, failed])];
  assert.deepEqual(offsets(rates), offsets(latencies));
  assert.equal(barsHeight(rates), barsHeight(latencies));
});

test("heat columns of several operations add up, and empty cells are not drawn", () => {
  const cells = heatCells({
    read: [[60, 5, 0, 1], []],
    write: [
      [61, 2],
      [62, 7],
    ],
  });
  assert.deepEqual(cells, [
    { column: 0, band: 60, count: 5 },
    { column: 0, band: 61, count: 2 },
    { column: 0, band: 62, count: 1 },
    { column: 1, band: 62, count: 7 },
  ]);
  assert.equal(Math.round(edge(72)), 1_000_000);
});

test("a logarithmic axis covers whole decades and leaves zeros out", () => {
  assert.deepEqual(decades([0, 250, 90_000]), [100, 100_000]);
  assert.deepEqual(decades([1000, 1000]), [1000, 10_000]);
  assert.deepEqual(decades([]), [1e3, 1e6]);
});

test("hovering finds the nearest column", () => {
  assert.equal(nearest([0.25, 0.75, 1.25], 0.6), 1);
  assert.equal(nearest([0.25], 9), 0);
});

test("colours run from the first stop to the last", () => {
  const stops = ["#000000", "#808080", "#ffffff"];
  assert.deepEqual(
    [0, 0.5, 1, 2].map((position) => along(stops, position)),
    ["#000000", "#808080", "#ffffff", "#ffffff"],
  );
});

test("nested host facts become lines with their path, sizes with units", () => {
  const facts = { devices: [{ name: "sdb", size_bytes: 1048576, rotational: true }], nothing: null, list: ["a", "b"] };
  assert.deepEqual(
    flattened(facts, "").map(([term, value]) => `${term}: ${value.replaceAll("\u202f", " ")}`),
    ["devices sdb name: sdb", "devices sdb size: 1 MiB", "devices sdb rotational: yes", "list: a, b"],
  );
});

test("a host fact that is not there is a line with its reason", () => {
  const facts = { model: "Xeon", governor: null, absent: { governor: "no such file or directory" } };
  assert.deepEqual(flattened({ cpu: facts }, ""), [
    ["cpu model", "Xeon"],
    ["cpu governor", "absent: no such file or directory"],
  ]);
});
