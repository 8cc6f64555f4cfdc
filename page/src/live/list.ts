// The stored runs: found by words, chosen for comparison, opened.
//
// Model: a row is made anew only when its run changed, so that ten thousand runs can be told every second; `STEP` rows are in the page at once.

import { modelledBadge } from "../badge";
import { element, type Child } from "../element";
import { counted, instant } from "../format";
import type { Entry } from "../model";

/** Rows that are shown at first, and added by each click on "more". */
const STEP = 100;

export interface List {
  element: HTMLElement;
  show: (entries: Entry[]) => void;
}

/** What stays in the history of the browser: it is there again when one comes back from a report or a comparison. */
interface Remembered {
  words: string;
  status: string;
  chosen: string[];
}

interface Row {
  said: string;
  row: HTMLElement;
}

export function runList(): List {
  let entries: Entry[] = [];
  let most = STEP;
  const rows = new Map<string, Row>();
  const before = (history.state as Remembered | null) ?? { words: "", status: "", chosen: [] };
  const chosen = new Set<string>(before.chosen);
  const words = element("input", { type: "search", id: "words", placeholder: "label, workload, target …", autocomplete: "off" });
  const status = element("select", { id: "status" }, ...STATUSES.map(([value, name]) => element("option", { value }, name)));
  const compare = element("button", { type: "button", class: "action", disabled: true }, "Compare");
  const count = element("p", { class: "note", role: "status" });
  words.value = before.words;
  status.value = before.status;
  const body = element("tbody");
  const more = element("button", { type: "button", class: "action" }, "Show more");

  function remember(): void {
    const now: Remembered = { words: words.value, status: status.value, chosen: [...chosen] };
    history.replaceState(now, "");
    draw();
  }

  function draw(): void {
    const found = entries.filter((entry) => matches(entry, words.value, status.value));
    const shown = found.slice(0, most);
    body.replaceChildren(...shown.map((entry) => rowOf(entry)));
    more.hidden = found.length <= most;
    count.textContent =
      entries.length === 0
        ? "No run is stored here yet; make one with 'plimsoll check' or 'plimsoll run'."
        : `${counted(found.length, "run")}${found.length < entries.length ? ` of ${entries.length.toLocaleString("en-US")}` : ""}`;
    compare.disabled = chosen.size < 2;
    compare.textContent = chosen.size < 2 ? "Compare: choose two or more" : `Compare ${chosen.size}`;
  }

  function rowOf(entry: Entry): HTMLElement {
    const said = JSON.stringify(entry);
    const known = rows.get(entry.name);
    if (known?.said === said) return known.row;
    const row = entryRow(entry, chosen, remember);
    rows.set(entry.name, { said, row });
    return row;
  }

  words.addEventListener("input", () => {
    most = STEP;
    remember();
  });
  status.addEventListener("change", remember);
  more.addEventListener("click", () => {
    most += STEP;
    draw();
  });
  compare.addEventListener("click", () => {
    // The oldest is the baseline.
    const inOrder = entries.filter(({ name }) => chosen.has(name)).reverse();
    location.assign(`/compare?${inOrder.map(({ name }) => `run=${encodeURIComponent(name)}`).join("&")}`);
  });
  const table = element(
    "table",
    { class: "numbers runs" },
    element("caption", {}, "Stored runs, the newest first"),
    element("thead", {}, element("tr", {}, ...HEADINGS.map((heading) => element("th", { scope: "col", class: heading === POINTS ? "" : "text" }, heading)))),
    body,
  );
  return {
    element: element(
      "section",
      { id: "runs", "aria-labelledby": "runs-heading" },
      element("h2", { id: "runs-heading" }, "Runs"),
      element(
        "div",
        { class: "controls" },
        element("label", { class: "list" }, element("span", {}, "Find"), words),
        element("label", { class: "list" }, element("span", {}, "Status"), status),
        compare,
      ),
      count,
      element("div", { class: "scroll card-table", tabindex: 0, role: "region", "aria-label": "Stored runs" }, table),
      more,
    ),
    show: (said) => {
      entries = said;
      const there = new Set(said.map(({ name }) => name));
      for (const name of chosen) if (!there.has(name)) chosen.delete(name);
      for (const name of rows.keys()) if (!there.has(name)) rows.delete(name);
      draw();
    },
  };
}

const POINTS = "Points";
const HEADINGS = ["", "Run", "Target", POINTS, "Found", "Begun"];
const STATUSES: [string, string][] = [
  ["", "all"],
  ["running", "running"],
  ["complete", "complete"],
  ["interrupted", "interrupted"],
  ["failed", "failed"],
  ["incomplete", "cut short"],
  ["unreadable", "unreadable"],
];

/** Whether every word occurs somewhere in what is known of the run. */
export function matches(entry: Entry, words: string, status: string): boolean {
  if (status && entry.status !== status) return false;
  const text = [entry.name, entry.label ?? "", entry.what, entry.command, ...entry.targets, ...entry.found].join("\n").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function entryRow(entry: Entry, chosen: Set<string>, changed: () => void): HTMLElement {
  const title = entry.label ?? entry.what;
  const box = element("input", { type: "checkbox", "aria-label": `Compare ${title || entry.name}` });
  box.checked = chosen.has(entry.name);
  box.disabled = entry.points === 0;
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(entry.name);
    else chosen.delete(entry.name);
    changed();
  });
  return element(
    "tr",
    { "data-run": entry.name },
    element("td", { class: "text" }, box),
    element("th", { scope: "row", class: "text" }, nameOf(entry, title)),
    element("td", { class: "text" }, entry.targets.join(", "), modelledBadge(entry.modelled)),
    element("td", {}, points(entry)),
    element("td", { class: "text found" }, entry.problem ?? foundText(entry)),
    element("td", { class: "text" }, instant(entry.created)),
  );
}

function nameOf(entry: Entry, title: string): HTMLElement {
  const address = entry.status === "running" ? `#${encodeURIComponent(entry.name)}` : `/runs/${encodeURIComponent(entry.name)}/report`;
  const name = title || entry.name;
  return element(
    "span",
    {},
    entry.status === "unreadable" ? name : element("a", { href: address }, name),
    entry.status !== "complete" && element("span", { class: `badge ${entry.status}` }, STATUSES.find(([value]) => value === entry.status)?.[1]),
    Boolean(entry.doubts) && element("span", { class: "badge doubt", title: "Points with a flag that is more than a note" }, counted(entry.doubts ?? 0, "doubt")),
    element("span", { class: "where" }, entry.label && entry.what ? `${entry.what} · ${entry.name}` : entry.name),
  );
}

const points = ({ points: ended, planned, status }: Entry): string =>
  status === "unreadable" ? "–" : planned === null || (status === "complete" && planned === ended) ? String(ended) : `${ended} of ${planned}`;

function foundText({ found }: Entry): Child {
  if (found.length === 0) return "";
  return found.length === 1 ? (found[0] as string) : `${found[0]} And ${counted(found.length - 1, "other finding")}.`;
}
