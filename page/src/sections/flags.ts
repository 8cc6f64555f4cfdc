// Flags: doubts about numbers, the worst first, each with advice. A flag stands wherever its number stands.

import { element } from "../element";
import { counted } from "../format";
import type { Flag, FlagKind, Report, Severity, Status } from "../model";
import { anchor, isRepeated } from "./place";

const SYMBOL: Record<Severity, string> = { invalid: "✕", doubt: "!", note: "i" };

/** A name from the data, such as `cpu-governor`, as words. */
export function sentence(name: string): string {
  const words = name.replaceAll(/[-_]/g, " ").replace(/\b(cpu|iops|numa|os)\b/gi, (word) => word.toUpperCase());
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
    element("ul", { class: "flags" }, ...report.flags.map((kind) => kindItem(kind, report))),
  );
}

function kindItem(kind: FlagKind, report: Report): HTMLElement {
  const advice = new Set(kind.points.map((place) => place.advice));
  const places = kind.points.map(({ point, message, advice: own }) => {
    const flagged = report.points[point];
    if (!flagged) return null;
    const where = [
      flagged.title,
      report.configurations.length > 1 && report.configurations[flagged.configuration]?.label,
      isRepeated(flagged, report) && `repeat ${flagged.repeat}`,
    ]
      .filter(Boolean)
      .join(", ");
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
    { class: kind.severity },
    element("span", { class: `flag ${kind.severity}`, "aria-hidden": "true" }, SYMBOL[kind.severity]),
    element(
      "div",
      {},
      element("strong", {}, `${sentence(kind.name)} (${kind.severity}). `),
      advice.size === 1 && element("em", {}, ...advice),
      places.length > 4 ? element("details", {}, element("summary", {}, counted(places.length, "point")), list) : list,
    ),
  );
}
