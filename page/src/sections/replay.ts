// How faithfully traces were replayed: per stream what was asked, what was achieved, and how late requests left.

import { element } from "../element";
import { digits, duration, percent, seconds } from "../format";
import type { Point, Replay } from "../model";
import { tableElement } from "../table";

export function replayTables({ replay, modelled }: Point): HTMLElement | null {
  if (replay.length === 0) return null;
  return element("div", { class: "replay" }, ...replay.map((found) => replayTable(found, modelled)));
}

function replayTable(found: Replay, modelled: boolean): HTMLElement {
  const { source, requests, speed, pace } = found;
  const origin = source.format ? `${source.name} (${source.format})` : source.name || found.stream;
  const quick = speed === null || speed === 1 ? "" : `, ${digits(speed)} times as fast`;
  const issued = `${requests.completed.toLocaleString("en-US")} of ${requests.asked.toLocaleString("en-US")} requests`;
  return tableElement({
    caption: `Replay of ${origin}, ${pace}${quick}: ${issued}${modelled ? " (modelled)" : ""}`,
    columns: [{ heading: "Figure" }, { heading: "Asked" }, { heading: "Achieved" }],
    rows: [...lateness(found), ...gaps(found), ...others(found), ...changes(found)],
  });
}

type Row = [string, string, string];

function lateness({ lateness_ns, late, waited }: Replay): Row[] {
  if (!lateness_ns || !late) return [];
  return [
    ...(["p50", "p99", "max"] as const).map((name): Row => [`Lateness ${name}`, duration(0), duration(lateness_ns[name])]),
    ["Later than 100 µs", percent(0), percent(100 * late["100us"])],
    ["Later than 1 ms", percent(0), percent(100 * late["1ms"])],
    ["Later than a tenth of the gap", percent(0), percent(100 * late.tenth_of_gap)],
    ["Waited for a free slot", percent(0), percent(100 * (waited ?? 0))],
  ];
}

function gaps({ gaps: found }: Replay): Row[] {
  if (!found) return [];
  const { asked, achieved, distance } = found;
  return [
    ...(["mean", "p50", "p99"] as const).map((name): Row => [`Gap ${name}`, duration(asked[name]), duration(achieved[name])]),
    ["Distance of the gaps (0 to 1)", digits(0), digits(distance)],
  ];
}

function others({ outstanding, response_ns, seconds: lasted }: Replay): Row[] {
  const known = (value: number | null, shown: (value: number) => string) => (value === null ? "not known" : shown(value));
  return [
    ["Outstanding, mean", known(outstanding.asked, digits), known(outstanding.achieved, digits)],
    ["Response, mean (recorded)", known(response_ns.recorded, duration), known(response_ns.achieved, duration)],
    ["Lasted", known(lasted.asked, seconds), known(lasted.achieved, seconds)],
  ];
}

function changes({ changes: found }: Replay): Row[] {
  const named: [keyof Replay["changes"], string][] = [
    ["moved", "Requests at another address"],
    ["rounded", "Requests rounded to blocks"],
    ["shortened", "Requests shortened"],
  ];
  return named.filter(([key]) => found[key] > 0).map(([key, name]): Row => [name, "0", found[key].toLocaleString("en-US")]);
}
