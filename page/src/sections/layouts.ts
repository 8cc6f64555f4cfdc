// The layouts that Plimsoll made to be measured: which side was which, of what, how striped, and what does not fit.

import { element } from "../element";
import type { Layout, Report } from "../model";
import { tableElement } from "../table";

export function layoutsSection({ layouts }: Report): HTMLElement | null {
  if (layouts.length === 0) return null;
  const remarks = layouts.flatMap(({ name, remarks }) => remarks.map((remark) => `${name}: ${remark}`));
  return element(
    "section",
    { id: "layouts", "aria-labelledby": "layouts-heading" },
    element("h2", { id: "layouts-heading" }, "Layouts"),
    remarks.length > 0 && element("ul", { class: "remarks" }, ...remarks.map((remark) => element("li", {}, remark))),
    tableElement({
      caption: "Made before their points, and taken away after them or by hand",
      columns: ["Side", "Layout", "Devices", "Stripes", "Options"].map((heading) => ({ heading })),
      rows: layouts.map(row),
    }),
    ...layouts.map(steps),
  );
}

/** More devices are counted in the table, and named below it. */
const SHOWN = 2;

const row = ({ sides, name, title, members, stripes, options }: Layout) => [
  sides.join(", "),
  title ? `${name}: ${title}` : name,
  members.length > SHOWN ? `${members.length} devices` : members.join(", "),
  stripes.join("; ") || "–",
  options.join("; ") || "–",
];

function steps({ name, members, made }: Layout): HTMLElement {
  return element(
    "details",
    { class: "data more" },
    element("summary", {}, `What was made for ${name}`),
    element("p", {}, `On ${members.join(", ")}.`),
    element("ol", {}, ...made.map((what) => element("li", {}, what))),
  );
}
