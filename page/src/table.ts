// Tables of numbers: what a chart shows, in full. Each cell carries the stored value; the text is the stored value too, in a unit
// that is written once, in the column's heading. A click on a heading sorts by that column, a second one turns the order around.

import { element, type Child } from "./element";

export interface Column {
  heading: string;
  /** Stored value to shown value: 1e-3 shows nanoseconds as µs. */
  scale?: number;
}

/** A cell that is more than a value: what is shown, and what it is sorted by. */
export interface Rich {
  content: Child;
  value: string | number | null;
}

export type Value = string | number | null | undefined | Rich;

export interface Table {
  caption: string;
  columns: Column[];
  /** The first cell of a row is its heading. */
  rows: Value[][];
}

export function tableElement(table: Table): HTMLElement {
  const isText = table.columns.map((_, index) => table.rows.every((row) => typeof plain(row[index]) !== "number"));
  const rows = table.rows.map((row) =>
    element("tr", {}, ...row.map((value, index) => cell(value, index, table.columns[index], isText[index] ?? false))),
  );
  const body = element("tbody", {}, ...rows);
  const ordered = (index: number, direction: number) => {
    const places = sortedPlaces(
      table.rows.map((row) => plain(row[index])),
      direction,
    );
    body.append(...places.map((place) => rows[place] as HTMLElement));
  };
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": table.caption },
    element(
      "table",
      { class: "numbers" },
      element("caption", {}, table.caption),
      element(
        "thead",
        {},
        sortingRow(
          table.columns.map(({ heading }) => heading),
          isText,
          ordered,
        ),
      ),
      body,
    ),
  );
}

/** A row of headings, each a button that sorts: `order` is called with the column and 1 for rising, −1 for falling. */
function sortingRow(headings: string[], isText: boolean[], order: (column: number, direction: number) => void): HTMLElement {
  const cells = headings.map((heading, index) => {
    const cell = element("th", { scope: "col", class: isText[index] ? "text" : null });
    cell.append(sortButton(heading, cell, (direction) => order(index, direction)));
    return cell;
  });
  return element("tr", {}, ...cells);
}

/** The button in the heading `cell`; siblings in the same table head lose their mark. */
export function sortButton(heading: string, cell: HTMLElement, order: (direction: number) => void): HTMLElement {
  const button = element("button", { type: "button", class: "sort" }, heading);
  button.addEventListener("click", () => {
    const direction = cell.ariaSort === "ascending" ? -1 : 1;
    for (const other of cell.closest("thead")?.querySelectorAll("[aria-sort]") ?? []) other.removeAttribute("aria-sort");
    cell.ariaSort = direction > 0 ? "ascending" : "descending";
    order(direction);
  });
  return button;
}

/** The places of `values` in order; what has no value stands last either way, equals keep their order. */
export function sortedPlaces(values: (string | number | null)[], direction: number): number[] {
  const places = values.map((_, place) => place);
  return places.sort((a, b) => {
    const [left, right] = [values[a] ?? null, values[b] ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return direction * (typeof left === "number" && typeof right === "number" ? left - right : collated(left, right));
  });
}

const collated = (left: string | number, right: string | number) =>
  String(left).localeCompare(String(right), "en", { numeric: true, sensitivity: "base" });

const isRich = (value: Value): value is Rich => typeof value === "object" && value !== null;

const plain = (value: Value): string | number | null => (isRich(value) ? value.value : (value ?? null));

function cell(value: Value, index: number, column: Column | undefined, isText: boolean): HTMLElement {
  const content = isRich(value)
    ? value.content
    : typeof value === "number"
      ? element("data", { value: String(value) }, shown(value * (column?.scale ?? 1)))
      : (value ?? "–");
  return index === 0 ? element("th", { scope: "row" }, content) : element("td", { class: isText ? "text" : null }, content);
}

function shown(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 100 ? 3 : 1 });
}
