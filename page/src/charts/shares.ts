// Shares of a whole, a bar per side: what time was spent on.

import type { CustomSeriesRenderItemReturn, EChartsOption } from "../echarts";
import { percent } from "../format";
import type { Palette } from "../palette";
import { base, tip, valueAxis } from "./axes";

/** What takes time, as engines' drivers name it: each has its colour on every page, whatever else is on it. */
const CAUSES = ["processor", "storage", "locks", "internal locks", "client", "other"];

export interface Shares {
  /** In the order in which they are stacked. */
  kinds: string[];
  bars: { name: string; values: Record<string, number> }[];
}

const STEP = 46;
const BAR = 18;
const BOTTOM = 26;

export const sharesHeight = ({ bars }: Shares) => bars.length * STEP + BOTTOM;

export function shareColour(palette: Palette, kind: string): string {
  const place = CAUSES.indexOf(kind);
  return palette.configurations[place < 0 ? palette.configurations.length - 1 : place] as string;
}

export function sharesOption({ kinds, bars }: Shares, palette: Palette): EChartsOption {
  const height = bars.length * STEP;
  const all = bars.flatMap(({ values }, bar) => {
    let from = 0;
    return kinds.flatMap((kind) => {
      const share = 100 * (values[kind] ?? 0);
      from += share;
      return share > 0 ? [{ bar, kind, from: from - share, to: from }] : [];
    });
  });
  const middle = (bar: number) => bar * STEP + 32;
  return {
    ...base(palette),
    grid: { left: 4, right: 20, top: 0, height, containLabel: false },
    tooltip: { ...base(palette).tooltip, trigger: "item" },
    xAxis: { ...valueAxis(palette, "", percent), max: 100, interval: 25 },
    yAxis: { type: "value", min: 0, max: height, inverse: true, show: false },
    series: [
      {
        type: "custom",
        data: all.map(({ to, bar }) => [to, middle(bar)]),
        renderItem: (params, api) => {
          const { bar, kind, from, to } = all[params.dataIndex] as (typeof all)[number];
          const [left, y] = api.coord([from, middle(bar)]) as [number, number];
          const right = (api.coord([to, middle(bar)]) as [number, number])[0];
          const width = right - left;
          const said = percent(Math.round(to - from));
          const text = (x: number, y_: number, words: string, fill: string, align: string) => ({
            type: "text",
            silent: true,
            style: { x, y: y_, text: words, fill, font: `12px ${palette.font}`, align, verticalAlign: "middle" },
          });
          const first = all.findIndex((each) => each.bar === bar) === params.dataIndex;
          const children = [
            ...(first ? [text(left, y - 20, (bars[bar] as Shares["bars"][number]).name, palette.ink, "left")] : []),
            {
              type: "rect",
              shape: { x: left, y: y - BAR / 2, width: Math.max(width - 1, 0.5), height: BAR },
              style: { fill: shareColour(palette, kind) },
            },
            ...(width > 40 ? [text(left + width / 2, y, said, palette.surface, "center")] : []),
          ];
          return { type: "group", children } as CustomSeriesRenderItemReturn;
        },
        tooltip: {
          formatter: (hovered) => {
            const { bar, kind, from, to } = all[(hovered as { dataIndex: number }).dataIndex] as (typeof all)[number];
            return tip((bars[bar] as Shares["bars"][number]).name, [{ colour: shareColour(palette, kind), name: kind, value: percent(to - from) }]);
          },
        },
      },
    ],
  };
}
