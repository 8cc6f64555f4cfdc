// Where it was measured: every fact the run stored about its host, as it was stored.

import { element } from "../element";
import { bytes, instant } from "../format";
import type { Json, Report, Run } from "../model";
import { sentence } from "./flags";

export function environmentSection(report: Report): HTMLElement {
  return element(
    "section",
    { id: "environment", "aria-labelledby": "environment-heading" },
    element("h2", { id: "environment-heading" }, "Environment"),
    ...report.runs.map((run) => runFacts(run, report.runs.length > 1)),
  );
}

/** The run and so many targets stand open; the facts of the host are looked up. */
const SHOWN = 3;

function runFacts(run: Run, several: boolean): HTMLElement {
  const command = Array.isArray(run.command) ? run.command.join(" ") : run.command;
  const groups: [string, Json][] = [
    ["Run", { name: run.label, status: run.status, created: instant(run.created), command: command ?? null, versions: run.versions }],
    ...Object.entries(run.targets).map(([target, facts]): [string, Json] => [`Target ${target}`, facts]),
    ...Object.entries(run.host).map(([name, facts]): [string, Json] => [sentence(name), facts]),
    ...(run.calibration ? [["Own cost, calibrated", run.calibration] as [string, Json]] : []),
  ];
  const level = several ? "h4" : "h3";
  const cards = groups.map(([name, facts]) => [name, card(name, facts, level)] as const);
  const first = cards.filter(([name]) => name === "Run" || name.startsWith("Target ")).map(([, made]) => made);
  const rest = cards.filter(([name]) => name !== "Run" && !name.startsWith("Target ")).map(([, made]) => made);
  return element(
    "div",
    { class: "environment" },
    several && element("h3", {}, run.label),
    element("div", { class: "cards" }, ...first.slice(0, SHOWN)),
    element(
      "details",
      { class: "data more" },
      element("summary", {}, "Everything about the host"),
      element("div", { class: "cards" }, ...first.slice(SHOWN), ...rest),
    ),
  );
}

function card(name: string, facts: Json, level: "h3" | "h4"): HTMLElement {
  const rows = flattened(facts, "").map(([term, value]) =>
    element("div", {}, element("dt", {}, term || name), element("dd", { class: value.startsWith("absent") ? "absent" : null }, value)),
  );
  const title = element(level, {}, name);
  return rows.length > 14
    ? element(
        "div",
        { class: "card" },
        title,
        element("dl", {}, ...rows.slice(0, 10)),
        element("details", {}, element("summary", {}, `${rows.length - 10} more`), element("dl", {}, ...rows.slice(10))),
      )
    : element("div", { class: "card" }, title, element("dl", {}, ...rows));
}

/** Nested facts as `[path, value]` lines. */
export function flattened(value: Json, path: string): [string, string][] {
  if (value === null) return [];
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== "object")) return [[words(path), value.join(", ")]];
    return value.flatMap((item, index) => flattened(item, `${path} ${label(item) ?? index + 1}`));
  }
  if (typeof value === "object") {
    return Object.entries(value).flatMap(([key, inner]) => (key === "absent" ? absent(inner, path) : flattened(inner, `${path} ${key}`)));
  }
  return [[words(path), fact(path, value)]];
}

/** Facts that are not there, each with its reason. */
function absent(reasons: Json, path: string): [string, string][] {
  if (reasons === null || typeof reasons !== "object") return [];
  return Object.entries(reasons).map(([name, reason]): [string, string] => [words(`${path} ${name}`), `absent: ${reason}`]);
}

function fact(path: string, value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (path.endsWith("_bytes")) return bytes(value);
  return value.toLocaleString("en-US", { maximumFractionDigits: 2, useGrouping: value >= 10_000 });
}

const label = (item: Json) =>
  item && typeof item === "object" && !Array.isArray(item) && typeof item.name === "string" ? item.name : undefined;

const words = (path: string) =>
  path
    .trim()
    .replace(/_bytes$/, "")
    .replaceAll("_", " ");
