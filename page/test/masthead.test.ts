import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "../src/model";
import { trust } from "../src/sections/masthead";

const report = (points: number, complete: number, unflagged: number) =>
  ({ verdict: { points, status: { complete }, flagged: { invalid: 0, doubt: 0 }, unflagged } }) as unknown as Report;

test("the first sentence speaks of one point as of one", () => {
  assert.equal(trust(report(1, 1, 1)), "The only point is complete and carries no flag: the numbers can be used as they stand.");
  assert.equal(trust(report(1, 1, 0)), "The only point is complete, and nothing speaks against the numbers; it carries a note.");
  assert.match(trust(report(1, 0, 1)), /^The only point is not complete/);
  assert.match(trust(report(3, 3, 2)), /^All 3 points are complete, .*; 1 point carries a note\.$/);
});
