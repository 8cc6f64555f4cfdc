// Long reports begin with an overview: what is not needed to understand the answer stands folded below its heading until the reader, or a
// link to something inside, opens it. Paper has it all.

import { element } from "../element";
import type { Report } from "../model";

/** More points than this make a long report. */
export const LONG = 48;

const folds: HTMLDetailsElement[] = [];
let closed: HTMLDetailsElement[] = [];

/** The section, in a long report with all but its heading folded. */
export function shortened({ points }: Report, section: HTMLElement | null): HTMLElement | null {
  const heading = section?.querySelector("h2");
  if (!section || !heading || points.length <= LONG) return section;
  const rest = [...section.childNodes].filter((node) => node !== heading);
  const details = element("details", { class: "data part" }, element("summary", {}, "Show"), ...rest);
  section.append(details);
  printed(details);
  return section;
}

/** What is unfolded on paper. */
export function printed(details: HTMLDetailsElement): HTMLDetailsElement {
  folds.push(details);
  return details;
}

/** Unfold the section that has this name, or holds what has it. */
export function reveal(name: string): void {
  const target = name ? document.getElementById(name) : null;
  const details = folds.find((each) => target && (each.parentElement === target || each.contains(target)));
  if (details && !details.open) {
    details.open = true;
    target?.scrollIntoView();
  }
}

/** All of them for printing; what was folded before is folded afterwards. */
export function unfold(on: boolean): void {
  if (on) closed = folds.filter(({ open }) => !open);
  for (const details of closed) details.open = on;
}
