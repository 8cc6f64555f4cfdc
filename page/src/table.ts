// Tables of numbers: what a chart shows, in full. Each cell carries the stored value; the text is the stored value too, in a unit
// that is written once, in the column's heading.

import { element } from "./element";

export interface Column {
  heading: string;
  /** Stored value to shown value: 1e-3 shows nanoseconds as µs. */
  scale?: number;
}

export interface Table {
  caption: string;
  columns: Column[];
  /** The first cell of a row is its heading. */
  rows: (string | number | null | undefined)[][];
}

export function tableElement(table: Table): HTMLElement {
  const head = element("tr", {}, ...table.columns.map(({ heading }) => element("th", { scope: "col" }, heading)));
  const body = table.rows.map((row) => element("tr", {}, ...row.map((value, index) => cell(value, index, table.columns[index]))));
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": table.caption },
    element(
      "table",
      { class: "numbers" },
      element("caption", {}, table.caption),
      element("thead", {}, head),
      element("tbody", {}, ...body),
    ),
  );
}

function cell(value: string | number | null | undefined, index: number, column: Column | undefined): HTMLElement {
  const content =
    typeof value === "number" ? element("data", { value: String(value) }, shown(value * (column?.scale ?? 1))) : (value ?? "–");
  return index === 0 ? element("th", { scope: "row" }, content) : element("td", {}, content);
}

function shown(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 100 ? 3 : 1 });
}
