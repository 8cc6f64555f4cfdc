import assert from "node:assert/strict";
import { test } from "node:test";
import { incidentLines, incidentWords } from "../src/charts/axes";
import type { Palette } from "../src/palette";

const palette = { ink: "#000" } as Palette;
const lines = (incidents: { time_s: number; label: string }[], end_s: number) =>
  incidentLines(palette, incidents, end_s).flatMap(({ markLine }) => markLine?.data ?? []) as unknown as {
    xAxis: number;
    name: string;
    label: { show: boolean; position: string };
  }[];

test("every incident is a line at its time, with its words where they do not lie on those before", () => {
  const found = lines(
    [
      { time_s: 30, label: "failed" },
      { time_s: 31, label: "rebuild begins" },
      { time_s: 99.5, label: "rebuilt" },
    ],
    100,
  );
  assert.deepEqual(
    found.map(({ xAxis, name, label }) => [xAxis, name, label.show]),
    [
      [30, "failed", true],
      [31, "rebuild begins", false],
      [99.5, "rebuilt", true],
    ],
  );
  assert.notEqual(found[0]?.label.position, found[2]?.label.position);
});

test("what happened after the end of the chart has no line, and nothing adds nothing", () => {
  assert.deepEqual(lines([{ time_s: 101, label: "failed" }], 100), []);
  assert.deepEqual(incidentLines(palette, [], 100), []);
});

test("the sentence for those who do not see a chart tells every incident up to a dozen", () => {
  assert.equal(incidentWords([]), "");
  const words = incidentWords(Array.from({ length: 14 }, (_, at) => ({ time_s: at, label: `member ${at} failed` })));
  assert.match(words, /^ Vertical lines, from the beginning of the warm-up: 0\ss: member 0 failed; 1\ss: /);
  assert.match(words, /member 11 failed; and 2 more\.$/);
});
