import assert from "node:assert/strict";
import { test } from "node:test";
import { placed, staircase, type Placed } from "../src/charts/costs";

const row = (cost: number | null, mark_per_s: number | null, front = true) => ({ cost, mark_per_s, front }) as Placed;

test("the front goes up where more is paid, and on to the edge of the chart", () => {
  assert.deepEqual(staircase([row(9, 40), row(5, 15), row(7, 12, false)], 10), [
    [5, 15],
    [9, 15],
    [9, 40],
    [10, 40],
  ]);
  assert.deepEqual(staircase([row(5, 15, false)], 10), []);
});

test("a candidate without cost or mark has no place", () => {
  assert.deepEqual(placed([row(5, 15), row(null, 15), row(5, null)]), [row(5, 15)]);
});
