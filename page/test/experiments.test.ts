import assert from "node:assert/strict";
import { test } from "node:test";
import { rounded } from "../src/charts/axes";
import { configurationKey, errorBar } from "../src/charts/bars";
import { decades } from "../src/charts/axes";
import { isWide, shownHeights, verdictOf } from "../src/charts/loadLine";
import { inkOn, shade } from "../src/charts/matrix";
import { ratioExtent, ratioPlaces, ratioText, ratioTicks, type RatioRow } from "../src/charts/ratios";
import type { LoadLine } from "../src/model";
import { comparable, levelText, placeText, settingsText, subjectTitle, valueText } from "../src/settings";
import { sortedPlaces } from "../src/table";

const plain = (text: string) => text.replaceAll("\u202f", " ");

test("columns sort by value, texts with their numbers, and what is missing stands last either way", () => {
  assert.deepEqual(sortedPlaces([30, null, 4, 100], 1), [2, 0, 3, 1]);
  assert.deepEqual(sortedPlaces([30, null, 4, 100], -1), [3, 0, 2, 1]);
  assert.deepEqual(sortedPlaces(["depth 16", "depth 2"], 1), [1, 0]);
  assert.deepEqual(sortedPlaces([1, 1, 1], -1), [0, 1, 2]);
});

test("axes end at round numbers beyond the highest value", () => {
  assert.deepEqual(rounded(6250), { max: 8000, interval: 2000 });
  assert.deepEqual(rounded(100), { max: 100, interval: 25 });
  assert.deepEqual(rounded(0), { max: 1, interval: 0.5 });
});

test("settings read as words, sizes with their units", () => {
  assert.equal(settingsText({ queue_depth: 8, block_size: 8192 }).replaceAll("\u202f", " "), "queue depth 8, block size 8 KiB");
  assert.equal(plain(valueText("small.block_size", "8KiB")), "8KiB");
  assert.equal(levelText("threads", 1024), "threads 1,024");
  assert.equal(levelText(null, 0.5), "level 0.5000");
});

test("a point's place is empty outside experiments and names its part otherwise", () => {
  assert.equal(placeText({ place: null, repeat: 1 }), "");
  const place = { experiment: "e", kind: "curve" as const, role: "maximum" as const, level: null, settings: {} };
  assert.equal(placeText({ place, repeat: 1 }), "search for the maximum");
  assert.equal(placeText({ place: { ...place, kind: "steady", role: "round" }, repeat: 3 }), "round 3");
});

test("sizes are ordered by what they mean", () => {
  assert.deepEqual(["8k", "16KiB", "1M", 4096].map(comparable), [8192, 16384, 1048576, 4096]);
  assert.equal(comparable("random"), "random");
});

test("a verdict that the interval does not settle is undecided", () => {
  const verdict = { objective: "p99 <= 5ms", holds: true, settled: true, failed_by: null };
  assert.equal(verdictOf(verdict), "held");
  assert.equal(verdictOf({ ...verdict, holds: false }), "failed");
  assert.equal(verdictOf({ ...verdict, settled: false }), "undecided");
  assert.equal(verdictOf(null), null);
});

test("responses over more than a decade take a logarithmic axis", () => {
  const at = (value: number) => ({ response: { value, low: null, high: null } });
  const line = (...values: number[]) => ({ points: values.map(at) }) as unknown as LoadLine;
  assert.equal(isWide([line(1e6, 5e6)]), false);
  assert.equal(isWide([line(1e6, 5e6), line(2e7)]), true);
});

test("cells are shaded from the lowest to the highest, by logarithm over decades", () => {
  assert.equal(shade([0, 10], 5), 0.5);
  assert.ok(Math.abs(shade([1, 100], 10) - 0.5) < 1e-9);
  assert.equal(shade([7, 7], 7), 0.5);
  assert.equal(inkOn("#0d2440"), "#ffffff");
  assert.equal(inkOn("#e3eef3"), "#0b1a28");
});

test("error bars are the extremes of repeats, and of one measurement its interval", () => {
  const one = { mean: 5, min: 5, max: 5, n: 1 };
  assert.equal(errorBar(one), null);
  assert.deepEqual(errorBar({ ...one, interval: [4, 6] }), [4, 6]);
  assert.deepEqual(errorBar({ mean: 5, min: 3, max: 7, n: 2 }), [3, 7]);
  assert.equal(configurationKey(2), "configuration 2");
});

const row = (heading: string, ratio: number, low: number | null = null, high: number | null = null): RatioRow => ({
  heading,
  workload: heading,
  label: "",
  side: "b",
  configuration: 1,
  ratio,
  low,
  high,
  verdict: "no difference shown",
  p_adjusted: null,
  saturated: false,
});

test("the axis of ratios holds every interval and has a tick at 1", () => {
  const extent = ratioExtent([row("a", 1.3, 1.2, 1.42), row("a", 0.93, 0.85, 1.0)]);
  assert.ok(extent[0] <= 0.85 && extent[1] >= 1.42);
  const ticks = ratioTicks(extent);
  assert.ok(ticks.includes(1));
  assert.deepEqual(
    ticks,
    [...ticks].sort((a, b) => a - b),
  );
  assert.ok(ticks.length <= 9);
});

test("rows stand below their heading, each heading once", () => {
  const { rows, headings, height } = ratioPlaces([row("a", 1), row("a", 1), row("b", 1)]);
  assert.deepEqual(
    headings.map(({ text }) => text),
    ["a", "b"],
  );
  assert.ok((rows[0] as number) < (rows[1] as number) && (rows[1] as number) < (headings[1]?.y as number) + 26);
  assert.ok((rows[2] as number) < height);
});

test("ratios are shown with their interval where they have one", () => {
  assert.equal(ratioText({ ratio: 1.2145, low: 1.15, high: 1.27 }), "1.21 × [1.15, 1.27]");
  assert.equal(ratioText({ ratio: 1.2145, low: null, high: null }), "1.21 ×");
});

test("the logarithmic axis of a load line follows its points and the objective, not a band that reaches to 100 ns", () => {
  const points = [
    { response: { value: 2e6, low: 100, high: 9e9, batches: 4 } },
    { response: { value: 9e6, low: 8e6, high: 1e7, batches: 30 } },
  ];
  assert.deepEqual(decades(shownHeights(points, [], true)), [1e6, 1e7]);
  assert.deepEqual(decades(shownHeights(points, [2e7], true)), [1e6, 1e8]);
  assert.equal(Math.max(...shownHeights(points, [], false)), 9e9);
});

test("experiments that measured the same workload are told apart by name", () => {
  const point = (experiment: string, workload = "oltp-db") => ({ workload, title: "OLTP", experiment });
  const both = [point("short"), point("long")];
  assert.deepEqual(
    both.map((each) => subjectTitle(each, both)),
    ["OLTP (short)", "OLTP (long)"],
  );
  assert.equal(subjectTitle(point("short"), [point("short"), point("long", "mail")]), "OLTP");
});
