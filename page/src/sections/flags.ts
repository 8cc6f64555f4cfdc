// Flags: doubts about numbers, the worst first, each with advice. A flag stands wherever its number stands.

import { element } from "../element";
import { counted } from "../format";
import type { Flag, FlagKind, Report, Severity, Status } from "../model";
import { tableElement } from "../table";
import { anchor, whereWords } from "./place";

const SYMBOL: Record<Severity, string> = { invalid: "✕", doubt: "!", note: "i" };

const SPELT: Record<string, string> = { io: "I/O", littles: "Little's", uring: "io_uring", cpu: "CPU", iops: "IOPS", numa: "NUMA", os: "OS" };

/** A name from the data, such as `cpu-governor`, as words. */
export function sentence(name: string): string {
  const words = name
    .split(/[-_]/)
    .map((word) => SPELT[word.toLowerCase()] ?? word)
    .join(" ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A small mark for tables and headings; its words are for screen readers and hover. */
export function flagMark(flag: Flag): HTMLElement {
  const words = `${flag.severity}: ${sentence(flag.name)}. ${flag.message} ${flag.advice}`;
  return element("span", { class: `flag ${flag.severity}`, title: words, role: "img", "aria-label": words }, SYMBOL[flag.severity]);
}

export function statusBadge(status: Status): HTMLElement | null {
  return status === "complete" ? null : element("span", { class: `badge status ${status}` }, status);
}

/** What a point's own section says about each of its flags. */
export function flagNotes(flags: Flag[]): HTMLElement | null {
  if (flags.length === 0) return null;
  return element(
    "ul",
    { class: "flags" },
    ...flags.map((flag) =>
      element(
        "li",
        { class: flag.severity },
        flagMark(flag),
        element(
          "div",
          {},
          element("strong", {}, `${sentence(flag.name)} (${flag.severity}). `),
          flag.message,
          " ",
          element("em", {}, flag.advice),
        ),
      ),
    ),
  );
}

export function flagSection(report: Report): HTMLElement | null {
  if (report.flags.length === 0) return null;
  return element(
    "section",
    { id: "flags", "aria-labelledby": "flags-heading" },
    element("h2", { id: "flags-heading" }, "Flags"),
    report.flags.length > 1 && overview(report),
    element("ul", { class: "flags" }, ...report.flags.map((kind) => kindItem(kind, report))),
  );
}

/** How many points each rule doubts. */
function overview(report: Report): HTMLElement {
  const { points, unflagged } = report.verdict;
  return element(
    "div",
    { class: "flag-counts" },
    element("p", { class: "note" }, `${counted(points - unflagged, "point")} of ${points} carry a flag; ${unflagged} carry none.`),
    tableElement({
      caption: "Flags by rule",
      columns: ["Rule", "Severity", "Points", "Share of all, %", "Workloads"].map((heading) => ({ heading })),
      rows: report.flags.map((kind) => {
        const flagged = new Set(kind.points.map(({ point }) => point));
        const workloads = new Set([...flagged].map((index) => report.points[index]?.workload));
        return [
          { content: element("a", { href: `#${kindId(kind)}` }, sentence(kind.name)), value: sentence(kind.name) },
          { content: element("span", {}, signOf(kind.severity), ` ${kind.severity}`), value: ORDER.indexOf(kind.severity) },
          flagged.size,
          Math.round((1000 * flagged.size) / points) / 10,
          workloads.size,
        ];
      }),
    }),
  );
}

const ORDER: Severity[] = ["invalid", "doubt", "note"];

const kindId = ({ name, severity }: FlagKind) => `flag-${severity}-${name}`;

const signOf = (severity: Severity) => element("span", { class: `flag ${severity}`, "aria-hidden": "true" }, SYMBOL[severity]);

function kindItem(kind: FlagKind, report: Report): HTMLElement {
  const advice = new Set(kind.points.map((place) => place.advice));
  const places = kind.points.map(({ point, message, advice: own }) => {
    const flagged = report.points[point];
    if (!flagged) return null;
    const where = whereWords(flagged, report);
    return element(
      "li",
      {},
      element("a", { href: `#${anchor(flagged)}` }, where),
      ": ",
      message,
      advice.size > 1 && element("em", {}, ` ${own}`),
    );
  });
  const list = element("ul", { class: "places" }, ...places);
  return element(
    "li",
    { class: kind.severity, id: kindId(kind) },
    signOf(kind.severity),
    element(
      "div",
      {},
      element("strong", {}, `${sentence(kind.name)} (${kind.severity}). `),
      advice.size === 1 && element("em", {}, ...advice),
      places.length > 4 ? element("details", {}, element("summary", {}, counted(places.length, "point")), list) : list,
    ),
  );
}
