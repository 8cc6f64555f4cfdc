import assert from "node:assert/strict";
import { test } from "node:test";
import type { PublishedRow, Report } from "../src/model";
import { hereWord } from "../src/sections/publishedFigures";

const report = { points: [{ modelled: false }, { modelled: true }] } as unknown as Report;
const row = (measured: boolean, ...points: number[]) => ({ measured: measured ? { value: 1 } : null, points }) as unknown as PublishedRow;

test("figures of a model are not called measured", () => {
  assert.equal(hereWord([row(true, 0), row(false)], report), "Measured");
  assert.equal(hereWord([row(true, 1), row(false)], report), "Modelled");
  assert.equal(hereWord([row(true, 0), row(true, 1)], report), "Measured or modelled");
  assert.equal(hereWord([row(false)], report), "Measured");
});
