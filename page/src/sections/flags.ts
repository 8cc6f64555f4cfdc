// Flags: doubts about numbers, the worst first, each with advice. A flag stands wherever its number stands.

import { element } from "../element";
import { counted } from "../format";
import type { Flag, FlagKind, Report, Severity, Status } from "../model";
import { anchor } from "./masthead";

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
      element("li", { class: flag.severity }, flagMark(flag), element("div", {}, element("strong", {}, `${sentence(flag.name)} (${flag.severity}). `), flag.message, " ", element("em", {}, flag.advice))),
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
  const places = kind.points.map(({ point, message }) => {
    const flagged = report.points[point];
    if (!flagged) return null;
    const where = report.configurations.length > 1 ? `${flagged.title}, ${report.configurations[flagged.configuration]?.label}` : flagged.title;
    return element("li", {}, element("a", { href: `#${anchor(flagged)}` }, where), ": ", message);
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
      element("em", {}, kind.advice),
      places.length > 4 ? element("details", {}, element("summary", {}, counted(places.length, "point")), list) : list,
    ),
  );
}
