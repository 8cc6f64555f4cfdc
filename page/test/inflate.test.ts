import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { inflated, unpacked } from "../src/inflate";

const text = JSON.stringify(Array.from({ length: 4000 }, (_, index) => ({ index, value: Math.sin(index) * 1e6, unit: "µs" })));

for (const level of [0, 1, 6, 9]) {
  test(`what deflate packs at level ${level} is unpacked to the byte`, () => {
    const bytes = new TextEncoder().encode(text);
    assert.deepEqual(inflated(deflateRawSync(bytes, { level }), bytes.length), bytes);
  });
}

test("short texts, which have no code of their own, are unpacked", () => {
  for (const short of ["", "a", "abcabcabcabc"]) {
    const bytes = new TextEncoder().encode(short);
    assert.deepEqual(inflated(deflateRawSync(bytes), bytes.length), bytes);
  }
});

test("a text comes back from base64 with its characters", () => {
  const bytes = new TextEncoder().encode(text);
  assert.equal(unpacked(deflateRawSync(bytes).toString("base64"), bytes.length), text);
});

test("data that was cut short is no report", () => {
  assert.throws(() => inflated(deflateRawSync(new TextEncoder().encode(text)).subarray(0, 500), text.length), /cut short/);
});
