// The series colours of the style sheet stay apart for people with any colour vision, in light and in dark.
//
// Source of the simulation: Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
// IEEE TVCG 15(6), 2009, severity 1.0, applied to linear RGB. Distance is CIE76 in CIELAB (D65); 2.3 is just noticeable.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Triple = [number, number, number];

const VISIONS: Record<string, Triple[]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const LEAST_DISTANCE = 12;
const LEAST_CONTRAST = 2;

const css = readFileSync("src/report.css", "utf8");
const [light = "", dark = ""] = css.split("@media screen and (prefers-color-scheme: dark)");

function colour(sheet: string, name: string): string {
  const found = new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(sheet)?.[1];
  assert.ok(found, `--${name} is missing`);
  return found;
}

function linear(hex: string): Triple {
  return [1, 3, 5].map((start) => {
    const channel = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

const times = (matrix: Triple[], [r, g, b]: Triple) => matrix.map((row) => row[0] * r + row[1] * g + row[2] * b) as Triple;

function lab(rgb: Triple): Triple {
  const xyz = times(
    [
      [0.4124, 0.3576, 0.1805],
      [0.2126, 0.7152, 0.0722],
      [0.0193, 0.1192, 0.9505],
    ],
    rgb,
  );
  const [x, y, z] = xyz.map((value, index) => {
    const t = Math.max(value, 0) / ([0.95047, 1, 1.08883][index] as number);
    return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  }) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0];

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

for (const [scheme, sheet] of [
  ["light", light],
  ["dark", dark],
] as const) {
  const sets = {
    operations: ["op-read", "op-write", "op-trim", "op-flush"],
    configurations: ["configuration-1", "configuration-2", "configuration-3", "configuration-4", "configuration-5"],
    "CPU states": ["cpu-1", "cpu-2", "cpu-3", "cpu-4"],
  };
  for (const [set, names] of Object.entries(sets)) {
    for (const [vision, matrix] of Object.entries(VISIONS)) {
      test(`${set} can be told apart in ${scheme} with ${vision} vision`, () => {
        const seen = names.map((name) => lab(times(matrix, linear(colour(sheet, name))) as Triple));
        seen.forEach((a, i) =>
          seen.slice(i + 1).forEach((b, j) => {
            const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            assert.ok(distance >= LEAST_DISTANCE, `${names[i]} and ${names[i + 1 + j]} are ${distance.toFixed(1)} apart`);
          }),
        );
      });
    }
    test(`${set} stand out from the surface in ${scheme}`, () => {
      for (const name of names) {
        const found = contrast(colour(sheet, name), colour(sheet, "surface"));
        assert.ok(found >= LEAST_CONTRAST, `${name} has contrast ${found.toFixed(2)}`);
      }
    });
  }
  test(`text is readable in ${scheme}`, () => {
    for (const ground of ["surface", "page"]) {
      assert.ok(contrast(colour(sheet, "ink"), colour(sheet, ground)) >= 7, `ink on ${ground}`);
      assert.ok(contrast(colour(sheet, "muted"), colour(sheet, ground)) >= 4.5, `muted on ${ground}`);
    }
    for (const severity of ["invalid", "doubt", "note"]) {
      assert.ok(contrast(colour(sheet, severity), colour(sheet, `${severity}-wash`)) >= 4.5, severity);
    }
  });
}
