// Figures that others published, beside what was measured here: never as if they were measured.

import { modelledBadge } from "../badge";
import { element, type Child } from "../element";
import { bandwidth, digits, duration, exact, megabytes, rate } from "../format";
import type { Published, PublishedRow, Report } from "../model";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";

export function publishedSection(report: Report): HTMLElement | null {
  if (report.published.length === 0) return null;
  return element(
    "section",
    { id: "published", "aria-labelledby": "published-heading" },
    element("h2", { id: "published-heading" }, "Published figures"),
    element("p", { class: "note" }, "Taken from the sources named below, not measured here. Other hardware, other software, another day."),
    ...report.published.map((source) => publishedView(source, report)),
  );
}

function publishedView(published: Published, report: Report): HTMLElement {
  const { title, source, rows, claims, note } = published;
  const here = hereWord(rows, report);
  return element(
    "div",
    { class: "published" },
    element("h3", {}, title, element("span", { class: "badge" }, "published")),
    element("p", { class: "note" }, `Source: ${source}`),
    claims.length > 0 && element("ul", { class: "sentences" }, ...claims.map((claim) => element("li", {}, claim))),
    note && element("p", { class: "note" }, note),
    folded(
      rows,
      here,
      tableElement({
        caption: `${title}: published beside ${here.toLowerCase()}`,
        columns: ["Whose", "Load", "Figure", "Published", `${here} here`, `${here} over published`].map((heading) => ({ heading })),
        rows: rows.map((row) => cells(row, report)),
      }),
    ),
  );
}

const isModelled = ({ points }: PublishedRow, report: Report) => points.some((index) => report.points[index]?.modelled);

/** What the figures of a table are that stand beside the published ones: never measured where a model computed them. */
export function hereWord(rows: PublishedRow[], report: Report): "Measured" | "Modelled" | "Measured or modelled" {
  const found = rows.filter(({ measured }) => measured);
  const modelled = found.filter((row) => isModelled(row, report)).length;
  return modelled === 0 ? "Measured" : modelled === found.length ? "Modelled" : "Measured or modelled";
}

const MANY = 24;

/** A long table is opened on demand. */
function folded(rows: PublishedRow[], here: string, table: HTMLElement): HTMLElement | null {
  if (rows.length === 0) return null;
  if (rows.length <= MANY) return table;
  return element("details", { class: "data" }, element("summary", {}, `${rows.length} published figures beside ${here.toLowerCase()} ones`), table);
}

const SHOWN: Record<string, [string, (value: number | null | undefined) => string, string]> = {
  iops: ["rate", (value) => rate(value, "IOPS"), "IOPS"],
  bytes_per_s: ["bandwidth", bandwidth, "B/s"],
};
const LATENCY: [string, (value: number | null | undefined) => string, string] = ["latency", duration, "ns"];

/** A number without the unit that stands before it. */
const bareOf = (metric: string) => (metric === "iops" ? (value: number) => rate(value) : metric === "bytes_per_s" ? megabytes : duration);

function cells(row: PublishedRow, report: Report): Value[] {
  const [noun, format, unit] = SHOWN[row.metric] ?? LATENCY;
  const bare = bareOf(row.metric);
  const configuration =
    row.configuration === null || report.configurations.length < 2 ? "" : `, ${report.configurations[row.configuration]?.label ?? ""}`;
  const value = (number: number | null | undefined, text: string, mark: Child = null): Rich => ({
    content: number == null ? text : element("span", {}, element("data", { value: String(number), title: exact(number, unit) }, text), mark),
    value: number ?? null,
  });
  const { measured } = row;
  const modelled = isModelled(row, report);
  const interval = measured && measured.low !== null && measured.high !== null ? ` [${bare(measured.low)}, ${bare(measured.high)}]` : "";
  const ratio = measured && row.value ? measured.value / row.value : null;
  return [
    row.label,
    [row.title, settingsText(row.settings)].filter(Boolean).join(", "),
    `${row.op === "all" ? "" : `${row.op} `}${row.metric in SHOWN ? noun : `${row.metric} ${noun}`}${configuration}`,
    value(row.value, row.text || format(row.value)),
    value(measured?.value, measured ? `${format(measured.value)}${interval}` : "not measured", modelledBadge(modelled)),
    { content: ratio === null ? "–" : `${digits(ratio)} ×`, value: ratio },
  ];
}
