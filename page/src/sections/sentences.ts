// Sentences as a list; many are opened on demand.

import { element } from "../element";

const FEW = 4;

/** Null without sentences; `title` stands in their place where they are folded. */
export function sentenceList(items: HTMLElement[], title: string): HTMLElement | null {
  if (items.length === 0) return null;
  const shown = element("ul", { class: "sentences" }, ...items);
  if (items.length <= FEW) return shown;
  return element("details", { class: "data" }, element("summary", {}, `${title} (${items.length})`), shown);
}
