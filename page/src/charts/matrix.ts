// The heat map of a matrix: one cell per combination of two settings, coloured and labelled by its value.
//
// Model: the colour runs over all facets of a matrix alike, from the lowest value to the highest, logarithmic where they span more than a
// decade; the value itself stands in the cell wherever it fits.

import type { CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import type { Estimate } from "../model";
import { along, type Palette } from "../palette";
import { base, tip } from "./axes";

export interface MatrixSpec {
  x: { name: string; values: string[] };
  y: { name: string; values: string[] };
  cells: { x: number; y: number; estimate: Estimate; repeats: number }[];
  extent: [number, number];
  measure: string;
  format: (value: number) => string;
}

const ROW = 38;
const CHARACTER = 7;
const NARROW_CELL = 34;

/** Room for the labels of the vertical axis. */
const labelWidth = ({ y }: MatrixSpec, width: number) =>
  Math.min(Math.max(...y.values.map(({ length }) => length), 3) * CHARACTER + 22, width * 0.3);

export const matrixHeight = ({ y }: MatrixSpec) => y.values.length * ROW + 78;

/** 0 at the lowest value, 1 at the highest. */
export function shade([low, high]: [number, number], value: number): number {
  if (!(high > low)) return 0.5;
  return low > 0 && high / low > 10 ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

export function matrixOption(spec: MatrixSpec, palette: Palette, width: number): EChartsOption {
  const left = labelWidth(spec, width);
  const across = (width - left - 12) / spec.x.values.length;
  const style = { color: palette.muted, fontSize: 12 };
  const category = (axis: MatrixSpec["x"]) => ({
    type: "category" as const,
    data: axis.values,
    name: axis.name,
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: false },
  });
  return {
    ...base(palette),
    grid: { left, right: 12, top: 28, bottom: 50 },
    tooltip: {
      ...base(palette).tooltip,
      trigger: "item",
      formatter: (hovered) => cellTip(spec, palette, (hovered as { dataIndex: number }).dataIndex),
    },
    xAxis: {
      ...category(spec.x),
      nameLocation: "middle",
      nameGap: 30,
      nameTextStyle: style,
      axisLabel: { ...style, interval: "auto", hideOverlap: true },
    },
    yAxis: {
      ...category(spec.y),
      inverse: false,
      nameTextStyle: { ...style, align: "left", padding: [0, 0, 2, 8 - left] },
      axisLabel: { ...style, interval: 0, width: left - 14, overflow: "truncate" },
    },
    series: [
      {
        type: "custom",
        data: spec.cells.map(({ x, y }) => [x, y]),
        renderItem: (params, api) => {
          const { x, y, estimate } = spec.cells[params.dataIndex] as MatrixSpec["cells"][number];
          const [middle, centre] = api.coord([x, y]) as [number, number];
          const [cellWidth, cellHeight] = (api.size as (value: number[]) => number[])([1, 1]) as [number, number];
          const place = shade(spec.extent, estimate.value);
          const fill = along(palette.heat, place);
          const text = {
            x: middle,
            y: centre,
            text: spec.format(estimate.value),
            fill: inkOn(fill),
            font: `12px ${palette.font}`,
            align: "center",
            verticalAlign: "middle",
          };
          const shape = {
            x: middle - cellWidth / 2 + 1,
            y: centre - cellHeight / 2 + 1,
            width: cellWidth - 2,
            height: cellHeight - 2,
            r: 3,
          };
          const fits = across >= Math.max(NARROW_CELL, text.text.length * CHARACTER - 4);
          return {
            type: "group",
            children: [{ type: "rect", shape, style: { fill } }, ...(fits ? [{ type: "text", silent: true, style: text }] : [])],
          } as CustomSeriesRenderItemReturn;
        },
      },
    ],
  };
}

/** Black or white, whichever reads better on `fill` (a colour `#rrggbb`). */
export function inkOn(fill: string): string {
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(fill.slice(start, start + 2), 16)) as [number, number, number];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#0b1a28" : "#ffffff";
}

function cellTip(spec: MatrixSpec, palette: Palette, index: number): HTMLElement {
  const { x, y, estimate, repeats } = spec.cells[index] as MatrixSpec["cells"][number];
  const heading = [`${spec.y.name} ${spec.y.values[y]}`, `${spec.x.name} ${spec.x.values[x]}`].join(", ");
  return tip(heading, [
    { colour: along(palette.heat, shade(spec.extent, estimate.value)), name: spec.measure, value: spec.format(estimate.value) },
    ...(estimate.low === null || estimate.high === null
      ? []
      : [{ name: "95 % interval", value: `${spec.format(estimate.low)} – ${spec.format(estimate.high)}` }]),
    ...(repeats > 1 ? [{ name: "repeats", value: String(repeats) }] : []),
  ]);
}
