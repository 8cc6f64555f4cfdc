import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "../src/model";
import { trust } from "../src/sections/masthead";

const report = (points: number, complete: number, unflagged: number) =>
  ({ verdict: { points, status: { complete }, flagged: { invalid: 0, doubt: 0 }, unflagged } }) as unknown as Report;

test("the first sentence speaks of one point as of one", () => {
  assert.equal(trust(report(1, 1, 1)), "The measurement finished without warnings.");
  assert.equal(trust(report(1, 1, 0)), "The measurement finished without warnings (with notes).");
  assert.match(trust(report(1, 0, 1)), /^The measurement did not finish\.$/);
  assert.match(trust(report(3, 3, 2)), /^All 3 measurements finished without warnings \(1 with notes\)\.$/);
});
