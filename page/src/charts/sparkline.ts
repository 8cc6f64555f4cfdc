// A line of throughput the size of a word, for the heading of a point.

import { svg } from "../element";
import type { Timeline } from "../model";
import { ends, middles, opSeries } from "./time";

const WIDTH = 120;
const HEIGHT = 26;

export function sparkline(time: Timeline): SVGElement {
  const x = middles(time);
  const rated = x.map((_, column) => column).filter((column) => opSeries(time.ops).every(([, { iops }]) => iops[column] !== null));
  const totals = x.map((_, column) => opSeries(time.ops).reduce((sum, [, { iops }]) => sum + (iops[column] ?? 0), 0));
  const highest = Math.max(...totals, 1e-9);
  const place = (column: number) =>
    `${(((x[column] as number) / (ends(time) || 1)) * WIDTH).toFixed(1)},${(HEIGHT - 2 - ((totals[column] as number) / highest) * (HEIGHT - 4)).toFixed(1)}`;
  const warm = ((time.warmup_end_s ?? 0) / (ends(time) || 1)) * WIDTH;
  return svg(
    "svg",
    { class: "sparkline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" },
    svg("rect", { class: "warm", x: 0, y: 0, width: warm.toFixed(1), height: HEIGHT }),
    svg("polyline", { points: rated.map(place).join(" ") }),
  );
}
