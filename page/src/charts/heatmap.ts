// The latency heat map: every I/O of a point, by time and by latency, coloured by how many there were.
//
// Model: colour follows the logarithm of the count, so that a single slow I/O is seen beside thousands of fast ones. Two stripes mean two
// kinds of I/O (cache hits and misses, say), which no percentile tells apart.

import type { CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import { duration, exact } from "../format";
import type { ByOp, IncidentLabel, Timeline } from "../model";
import { along, type Palette } from "../palette";
import { base, incidentLines, latencyAxis, timeAxis, tip } from "./axes";
import { ends, span } from "./time";

const BANDS_PER_DECADE = 12;

export interface HeatCell {
  column: number;
  band: number;
  count: number;
}

/** The cells of all operations together that are not empty. */
export function heatCells(heat: ByOp<number[][]>): HeatCell[] {
  const counts = new Map<string, HeatCell>();
  for (const columns of Object.values(heat)) {
    columns.forEach(([first, ...bands], column) =>
      bands.forEach((count, index) => {
        const band = (first as number) + index;
        const known = counts.get(`${column} ${band}`);
        if (known) known.count += count;
        else if (count > 0) counts.set(`${column} ${band}`, { column, band, count });
      }),
    );
  }
  return [...counts.values()].sort((a, b) => a.column - b.column || a.band - b.band);
}

/** Lower edge of a band in ns. */
export const edge = (band: number) => 10 ** (band / BANDS_PER_DECADE);

export function heatmapOption(time: Timeline, incidents: IncidentLabel[], palette: Palette): EChartsOption {
  const cells = heatCells(time.heat);
  const most = Math.max(...cells.map(({ count }) => count), 1);
  const colour = (count: number) => along(palette.heat, most > 1 ? Math.log(count) / Math.log(most) : 1);
  return {
    ...base(palette),
    grid: { left: 64, right: 20, top: 28, bottom: 30 },
    tooltip: {
      ...base(palette).tooltip,
      trigger: "item",
      formatter: (hovered) => {
        const { column, band, count } = cells[(hovered as { dataIndex: number }).dataIndex] as HeatCell;
        return tip(span(time, column), [
          {
            colour: colour(count),
            name: `${duration(edge(band))} to ${duration(edge(band + 1))}`,
            value: exact(count, count === 1 ? "I/O" : "I/Os"),
          },
        ]);
      },
    },
    xAxis: { ...timeAxis(palette, ends(time)), axisPointer: { show: false } },
    yAxis: {
      ...latencyAxis(
        palette,
        "latency",
        cells.flatMap(({ band }) => [edge(band), edge(band + 1)]),
      ),
      minorSplitLine: { show: false },
    },
    series: [
      {
        type: "custom",
        data: cells.map(({ column, band }) => [time.start_s[column] as number, edge(band)]),
        clip: true,
        progressive: 0,
        renderItem: (params, api) => {
          const { column, band, count } = cells[params.dataIndex] as HeatCell;
          const [left, top] = api.coord([time.start_s[column] as number, edge(band + 1)]) as [number, number];
          const [right, bottom] = api.coord([time.end_s[column] as number, edge(band)]) as [number, number];
          return {
            type: "rect",
            shape: { x: left, y: top, width: Math.max(right - left - 0.5, 0.75), height: Math.max(bottom - top - 0.5, 0.75) },
            style: { fill: colour(count) },
          } as CustomSeriesRenderItemReturn;
        },
      },
      ...incidentLines(palette, incidents, ends(time)),
    ],
  };
}
