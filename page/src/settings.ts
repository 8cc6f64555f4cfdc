// The settings of a point and the levels of an axis in words: `queue depth 8`, `block size 8 KiB`.

import { bytes, digits } from "./format";
import type { Json, Point, Settings } from "./model";

const SIZES = /(^|[._])(block_size|size|region_length|region|align)$/;

/** An option's name as words; the name of a stream before it stays. */
export const optionWords = (name: string) => name.replaceAll("_", " ").replaceAll(".", " ");

/** One value of an option. Sizes get their unit back. */
export function valueText(option: string | null, value: Json): string {
  if (typeof value === "number") {
    if (option && SIZES.test(option) && value >= 512) return bytes(value);
    return Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value, 4);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const levelText = (axis: string | null, level: number) => `${axis ? optionWords(axis) : "level"} ${valueText(axis, level)}`;

export function settingsText(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${optionWords(name)} ${valueText(name, value)}`)
    .join(", ");
}

const ROLES: Record<string, string> = { maximum: "search for the maximum", precondition: "preconditioning" };

/** What distinguishes a point from the others of its workload and configuration, beside its repeat; empty outside experiments. */
export function placeText({ place, repeat }: Pick<Point, "place" | "repeat">): string {
  if (!place) return "";
  const role = place.role === "round" ? `round ${repeat}` : ROLES[place.role];
  return [role, settingsText(place.settings), place.again && "again"].filter(Boolean).join(", ");
}

/** Whether a number comes before another: sizes such as `8k` count as numbers. */
export function comparable(value: Json): number | string {
  if (typeof value === "number") return value;
  const match = /^([\d.]+)\s*([kMGT]?)(i?B)?$/i.exec(String(value));
  if (!match) return String(value);
  return Number(match[1]) * 1024 ** ["", "k", "m", "g", "t"].indexOf((match[2] ?? "").toLowerCase());
}

/** The workload, with its experiment where several measured it. */
export function subjectTitle<Subject extends { workload: string; title: string; experiment: string }>(
  { workload, title, experiment }: Subject,
  all: Subject[],
): string {
  const several = new Set(all.filter((other) => other.workload === workload).map((other) => other.experiment)).size > 1;
  return several && experiment ? `${title} (${experiment})` : title;
}
