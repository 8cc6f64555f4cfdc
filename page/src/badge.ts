// The badge of what a model computed: it stands with every table, legend and chart of such numbers, so that nobody takes them for measured.

import { element } from "./element";
import type { Report } from "./model";

/** Whether some points are modelled and others not, so that each has to say what it is; else it is said once. */
export const isMixed = ({ verdict }: Report): boolean => verdict.modelled > 0 && verdict.modelled < verdict.points;

export const modelledBadge = (modelled: boolean): HTMLElement | null =>
  modelled ? element("span", { class: "badge modelled" }, "modelled") : null;
