// The badge of what a model computed: it stands wherever such a number stands, so that nobody takes it for measured.

import { element } from "./element";

export const modelledBadge = (modelled: boolean): HTMLElement | null =>
  modelled ? element("span", { class: "badge modelled" }, "modelled") : null;
