import assert from "node:assert/strict";
import { test } from "node:test";
import { money, priceWords } from "../src/sections/prices";

test("an amount has cents, and one far below a cent keeps its digits", () => {
  assert.deepEqual([24.2336, 1234.5, 0.1, 0.00123456].map(money), ["24.23", "1,234.50", "0.10", "0.00123"]);
});

test("a price says its currency and for how many years it is", () => {
  assert.equal(priceWords({ amount: 288751, currency: "USD", years: 3 }), "288,751 USD for 3 years");
  assert.equal(priceWords({ amount: 1999.5, currency: "€", years: 1 }), "€1,999.50 for 1 year");
  assert.equal(priceWords({ amount: 5 }), "5");
});
