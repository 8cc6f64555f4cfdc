/** What was fitted to points: a line, and the band in which it lies with 95 % confidence. Every point of a fit is [where, value, low, high]. */

import type { CustomSeriesOption, CustomSeriesRenderItemReturn, LineSeriesOption } from "../echarts";
import { translucent } from "../palette";

export type Fitted = [number, number, number | null, number | null][];

export function fitSeries(name: string, fit: Fitted, colour: string, width: number): LineSeriesOption {
  return {
    type: "line",
    name: `${name}|fit`,
    silent: true,
    showSymbol: false,
    data: fit.map(([at, value]) => [at, value]),
    lineStyle: { color: colour, width },
  };
}

export function bandSeries(name: string, fit: Fitted, colour: string, opacity: number): CustomSeriesOption {
  const bounded = fit.filter(([, , low, high]) => low !== null && high !== null);
  return {
    type: "custom",
    name: `${name}|band`,
    silent: true,
    clip: true,
    tooltip: { show: false },
    data: bounded.length > 1 ? [bounded[0]?.slice(0, 2) as number[]] : [],
    renderItem: (_, api) => {
      const place = (x: number, y: number) => api.coord([x, y]) as [number, number];
      const points = [
        ...bounded.map(([at, , , high]) => place(at, high as number)),
        ...[...bounded].reverse().map(([at, , low]) => place(at, low as number)),
      ];
      return { type: "polygon", shape: { points }, style: { fill: translucent(colour, opacity) } } as CustomSeriesRenderItemReturn;
    },
  };
}
