import assert from "node:assert/strict";
import { test } from "node:test";
import { bandwidth, bytes, counted, duration, exact, instant, megabytes, nines, rate, tick } from "../src/format";

const plain = (text: string) => text.replaceAll("\u202f", " ");

test("durations take the unit that leaves one to three digits before the point", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [640, "640 ns"],
    [999, "999 ns"],
    [1000, "1.00 µs"],
    [81_234, "81.2 µs"],
    [999_499, "999 µs"],
    [999_500, "1.00 ms"],
    [1_277_789, "1.28 ms"],
    [41_200_000, "41.2 ms"],
    [1_500_000_000, "1.50 s"],
    [61_000_000_000, "61.0 s"],
  ];
  for (const [ns, shown] of cases) assert.equal(plain(duration(ns)), shown);
  assert.equal(duration(null), "–");
});

test("rates keep four digits below ten thousand and then count thousands", () => {
  assert.equal(plain(rate(0.5)), "0.500");
  assert.equal(plain(rate(1098)), "1,098");
  assert.equal(plain(rate(9999)), "9,999");
  // Ties go to the even digit, as in Python: a card and a table say the same of one mark.
  assert.equal(plain(rate(1592.5)), "1,592");
  assert.equal(plain(rate(1593.5)), "1,594");
  assert.equal(plain(rate(9999.6)), "10.0 k");
  assert.equal(plain(rate(68_312, "IOPS")), "68.3 kIOPS");
  assert.equal(plain(rate(1_200_000, "IOPS")), "1.20 MIOPS");
  assert.equal(plain(rate(570, "IOPS")), "570 IOPS");
});

test("megabytes are millions of bytes and never gigabytes", () => {
  assert.equal(megabytes(72_000_000), "72.0");
  assert.equal(plain(bandwidth(3_755_000_000)), "3,755 MB/s");
});

test("sizes have binary prefixes", () => {
  assert.equal(plain(bytes(65_536)), "64 KiB");
  assert.equal(plain(bytes(599_550_590_976)), "558.4 GiB");
  assert.equal(plain(bytes(512)), "512 B");
});

test("ticks lose their trailing zeros, and zero its unit", () => {
  const shown = tick(duration);
  assert.deepEqual(
    [0, 500_000, 1_000_000, 1_500_000, 10_000_000].map((ns) => plain(shown(ns))),
    ["0", "500 µs", "1 ms", "1.5 ms", "10 ms"],
  );
});

test("percentiles given in nines", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map(nines), ["0", "90", "99", "99.9", "99.99"]);
  assert.equal(nines(0.301), "50");
  assert.equal(nines(1.3), "95.0");
});

test("exact values keep what was stored", () => {
  assert.equal(exact(1277788.960224, "ns"), "1,277,788.960224 ns");
});

test("instants and counts read as words", () => {
  assert.equal(instant("2026-11-21T03:44:10+00:00"), "21 November 2026, 03:44");
  assert.equal(instant(null), "–");
  assert.equal(counted(1, "point"), "1 point");
  assert.equal(counted(24, "point"), "24 points");
});
