// File operations: what was done per second, and how long it took, by operation; the sides stand beside each other.

import { element } from "../element";
import { bounded, exact, rate } from "../format";
import type { Estimate, FileOperations, FileWorkload, Report } from "../model";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

/** Longer tables are folded. */
const MANY = 24;

export const fileOperations: DriverSection<FileOperations> = {
  title: "File operations",
  draw: ({ workloads }, report) => workloads.map((workload) => workloadTable(workload, report)),
};

function workloadTable({ title, modelled, rows }: FileWorkload, report: Report): HTMLElement {
  const shown = [...new Set(rows.flatMap(({ cells }) => cells.map(({ configuration }) => configuration)))].sort((a, b) => a - b);
  const several = shown.length > 1;
  const steps = rows.some(({ settings }) => Object.keys(settings).length > 0);
  const columns = shown.flatMap((configuration) => {
    const side = several ? `${report.configurations[configuration]?.label ?? ""}: ` : "";
    return ["per second", "mean", "p99"].map((name) => ({ heading: `${side}${name}` }));
  });
  const body = rows.map(({ op, settings, cells }): Value[] => [
    op,
    ...(steps ? [settingsText(settings)] : []),
    ...shown.flatMap((configuration) => {
      const cell = cells.find((each) => each.configuration === configuration);
      return [perSecond(cell?.per_s), time(cell?.mean), time(cell?.p99)];
    }),
  ]);
  const table = tableElement({
    caption: `${title}${modelled ? " (modelled)" : ""}`,
    columns: [{ heading: "Operation" }, ...(steps ? [{ heading: "Settings" }] : []), ...columns],
    rows: body,
  });
  if (rows.length <= MANY) return table;
  return element("details", { class: "data more" }, element("summary", {}, `${title}: ${rows.length} rows`), table);
}

const cell = (found: Estimate | null | undefined, shown: (found: Estimate) => string, unit: string): Rich => ({
  content: found ? element("data", { value: String(found.value), title: exact(found.value, unit) }, shown(found)) : "–",
  value: found?.value ?? null,
});

const perSecond = (found: Estimate | null | undefined) => cell(found, ({ value }) => rate(value), "per second");
const time = (found: Estimate | null | undefined) => cell(found, ({ value, at_least }) => bounded(value, at_least), "ns");
