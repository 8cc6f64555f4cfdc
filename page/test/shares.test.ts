import assert from "node:assert/strict";
import { test } from "node:test";
import { shareColour } from "../src/charts/shares";
import type { Palette } from "../src/palette";

const palette = { configurations: ["a", "b", "c", "d", "e", "f", "g", "h"] } as Palette;

test("a cause has its colour whatever else a page shows, and no other has it", () => {
  const causes = ["locks", "storage", "processor", "client", "other", "internal locks"];
  assert.equal(new Set(causes.map((cause) => shareColour(palette, cause))).size, causes.length);
  assert.deepEqual(["storage", "locks"].map((cause) => shareColour(palette, cause)), ["b", "c"]);
  assert.equal(shareColour(palette, "something new"), "h");
});
