// Bars in rows: one row per thing that was measured, in it one bar per configuration, A beside B.
//
// Limits: bars begin at zero, so the axis is linear; a row without a value has its name and a dash.

import type { CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import { configurationColour, type Palette } from "../palette";
import { base, rounded, tip, valueAxis } from "./axes";

export interface Rows {
  /** What stands before the bars, and what it means. */
  rows: { name: string; meaning: string; values: (number | null)[] }[];
  /** Of each value: its configuration, whose colour the bar has, and what it is called. */
  sides: { configuration: number; name: string }[];
  format: (value: number) => string;
}

const BAR = 12;
const STEP = 15;
const GAP = 9;
const BOTTOM = 26;
const CHARACTER = 7.2;

const rowHeight = ({ sides }: Rows) => sides.length * STEP + GAP;

export const rowsHeight = (spec: Rows) => spec.rows.length * rowHeight(spec) + BOTTOM;

export function rowsOption(spec: Rows, palette: Palette): EChartsOption {
  const all = spec.rows.flatMap(({ values }, row) => values.map((value, side) => ({ value, row, side })));
  const height = spec.rows.length * rowHeight(spec);
  const left = Math.max(...spec.rows.map(({ name }) => name.length)) * CHARACTER + 12;
  const longest = Math.max(...all.map(({ value }) => value ?? 0), 0);
  const middle = (row: number, side: number) => row * rowHeight(spec) + GAP / 2 + (side + 0.5) * STEP;
  return {
    ...base(palette),
    grid: { left, right: 78, top: 0, height, containLabel: false },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: { ...valueAxis(palette, "", spec.format), ...rounded(longest) },
    yAxis: { type: "value", min: 0, max: height, inverse: true, show: false },
    series: [
      {
        type: "custom",
        data: all.map(({ value, row, side }) => [value ?? 0, middle(row, side)]),
        renderItem: (params, api) => {
          const { value, row, side } = all[params.dataIndex] as (typeof all)[number];
          const place = (at: number) => api.coord([at, middle(row, side)]) as [number, number];
          const [foot, y] = place(0);
          const end = place(value ?? 0)[0];
          const colour = configurationColour(palette, (spec.sides[side] as Rows["sides"][number]).configuration);
          const text = (x: number, said: string, align: string, y_: number) => ({
            type: "text",
            silent: true,
            style: { x, y: y_, text: said, fill: palette.ink, font: `12px ${palette.font}`, align, verticalAlign: "middle" },
          });
          const name = spec.rows[row] as Rows["rows"][number];
          const [, first] = api.coord([0, middle(row, 0)]) as [number, number];
          const children = [
            ...(side === 0 ? [text(foot - 8, name.name, "right", first + ((spec.sides.length - 1) * STEP) / 2)] : []),
            ...(value === null
              ? []
              : [
                  {
                    type: "rect",
                    shape: { x: foot, y: y - BAR / 2, width: Math.max(end - foot, 1), height: BAR, r: [0, 2, 2, 0] },
                    style: { fill: colour },
                  },
                ]),
            text(value === null ? foot + 6 : end + 6, value === null ? "–" : spec.format(value), "left", y),
          ];
          return { type: "group", children } as CustomSeriesRenderItemReturn;
        },
        tooltip: {
          formatter: (hovered) => {
            const { row } = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
            const { name, meaning, values } = spec.rows[row] as Rows["rows"][number];
            return tip(
              `${name}: ${meaning}`,
              spec.sides.map((side, index) => ({
                colour: configurationColour(palette, side.configuration),
                name: side.name,
                value: values[index] == null ? "–" : spec.format(values[index] as number),
              })),
            );
          },
        },
      },
    ],
  };
}
