// Hosts that measure together: a line for each with its newest interval, or with what is wrong with it, and one for all of them.

import { element } from "../element";
import { counted, duration, megabytes, rate } from "../format";
import type { HostAt } from "../model";

const HEADINGS = ["Host", "State", "Per second", "MB/s", "Mean"];

export function hostTable(hosts: HostAt[]): HTMLElement {
  const sum = (of: (host: HostAt) => number | null) => hosts.reduce((total, host) => total + (of(host) ?? 0), 0);
  const measuring = hosts.filter(({ state }) => state === "measuring").length;
  const all = [`${measuring} of ${counted(hosts.length, "host")} measuring`, rate(sum(({ per_s }) => per_s)), megabytes(sum(({ bytes_per_s }) => bytes_per_s)), ""];
  return element(
    "div",
    { id: "hosts", class: "scroll card-table", tabindex: 0, role: "region", "aria-label": "Hosts" },
    element(
      "table",
      { class: "numbers" },
      element("caption", {}, "Hosts, in the newest interval of each"),
      element("thead", {}, element("tr", {}, ...HEADINGS.map((heading, place) => element("th", { scope: "col", class: place < 2 ? "text" : "" }, heading)))),
      element("tbody", {}, row("All hosts", all, false), ...hosts.map((host) => row(host.name, figures(host), host.why !== null))),
    ),
  );
}

/** Figures of a host that has told none yet, or tells no more, are dashes. */
function figures({ state, why, per_s, bytes_per_s, mean_ns }: HostAt): string[] {
  return [why ?? state, rate(per_s), megabytes(bytes_per_s), duration(mean_ns)];
}

function row(name: string, [state, ...numbers]: string[], unwell: boolean): HTMLElement {
  return element(
    "tr",
    { "data-host": name, ...(unwell ? { class: "unwell" } : {}) },
    element("th", { scope: "row", class: "text" }, name),
    element("td", { class: "text" }, state ?? ""),
    ...numbers.map((shown) => element("td", {}, shown)),
  );
}
