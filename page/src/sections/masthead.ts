// The head of the report: the mark, what was measured, and the first sentences a reader needs before any number.

import { element, svg, type Child } from "../element";
import { counted, instant } from "../format";
import type { Card, Report } from "../model";
import { anchor } from "./place";
import { sentenceList } from "./sentences";

/** A ship's load line: the circle, and the waterline through it. */
export function mark(): SVGElement {
  return svg(
    "svg",
    { class: "mark", viewBox: "0 0 64 64", "aria-hidden": "true" },
    svg("circle", { cx: 32, cy: 32, r: 22 }),
    svg("line", { x1: 0, y1: 32, x2: 64, y2: 32 }),
  );
}

export function masthead(report: Report): HTMLElement {
  const { title } = report.answer;
  const targets = [...new Set(report.configurations.map(({ target }) => target))];
  const facts = [
    report.suite?.title,
    instant(report.runs[0]?.created ?? report.points[0]?.started ?? null),
    counted(report.points.length, "point"),
    targets.length > LISTED ? counted(targets.length, "target") : listed(targets),
    version(report),
  ].filter((fact): fact is string => Boolean(fact) && fact !== title);
  return head(title, facts, extentBadge(report));
}

/** The top of a page: the mark on its waterline, the title above it, and facts below. */
export function head(title: string, facts: string[], ...more: Child[]): HTMLElement {
  return element(
    "header",
    { class: "masthead" },
    element("div", { class: "hull" }, element("p", { class: "wordmark" }, "Plimsoll"), element("h1", {}, title)),
    element("div", { class: "waterline" }, mark()),
    element("div", { class: "sea" }, element("p", {}, facts.join("  ·  ")), ...more),
  );
}

/** More targets than this are counted in the head; the environment names them all. */
const LISTED = 2;

function version(report: Report): string | undefined {
  const stored = report.runs[0]?.versions.plimsoll;
  return typeof stored === "string" ? `Plimsoll ${stored}` : undefined;
}

function extentBadge(report: Report): Child {
  const { modelled, points } = report.verdict;
  if (modelled === 0) return null;
  return element(
    "p",
    { class: "badge modelled" },
    modelled === points ? "modelled: no hardware was measured" : `${modelled} of ${points} points are modelled`,
  );
}

function listed(names: string[]): string {
  return names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The answer in one sentence, its figures, and how far they can be used. */
export function answer(report: Report): HTMLElement {
  return element(
    "section",
    { class: "verdict", id: "answer", "aria-labelledby": "answer-heading" },
    element("h2", { id: "answer-heading" }, "Answer"),
    element("p", { class: "lead" }, report.answer.sentence),
    element("dl", { class: "extremes" }, ...report.answer.cards.map((card) => cardElement(card, report))),
    element("p", { class: "trust" }, trust(report)),
    ...further(report).map((sentence) => element("p", {}, sentence)),
    sentenceList(
      report.verdict.limits.map((sentence) => element("li", {}, sentence)),
      "What limited each configuration",
    ),
  );
}

function cardElement({ label, value, detail, point }: Card, report: Report): HTMLElement {
  const from = point === null ? undefined : report.points[point];
  return element(
    "div",
    {},
    element("dt", {}, label),
    element("dd", { class: "value" }, from ? element("a", { href: `#${anchor(from)}` }, value) : value),
    detail && element("dd", {}, detail),
  );
}

const share = (count: number, of: number) => (of === 1 ? "it is" : count === 1 ? "1 is" : count === of ? "all are" : `${count} are`);

const finished = (points: number, broken: number) =>
  broken ? `${points - broken} of ${points} measurements finished` : points === 1 ? "The measurement finished" : `All ${points} measurements finished`;

/** How far the numbers can be used: the first sentence. */
export function trust({ verdict: { points, status, flagged, unflagged } }: Report): string {
  if (points === 0) return "Nothing was measured.";
  const broken = points - (status.complete ?? 0);
  const whole = points === 1 && broken ? "The measurement did not finish" : finished(points, broken);
  const doubts = [
    flagged.invalid && `${share(flagged.invalid, points)} invalid`,
    flagged.doubt && `${share(flagged.doubt, points)} in doubt`,
  ].filter(Boolean);
  if (doubts.length) return `${whole}; ${doubts.join(" and ")}: read the flags before you quote those numbers.`;
  const noted = points - unflagged;
  if (broken) return `${whole}.${noted ? ` ${counted(noted, "measurement")} with notes.` : ""}`;
  return `${whole} without warnings${noted ? ` (${points === 1 ? "" : `${noted} `}with notes)` : ""}.`;
}

function further(report: Report): string[] {
  const { errors, modelled, points } = report.verdict;
  const repeats = Math.max(
    ...report.groups.flatMap(({ profiles }) => profiles.flatMap(({ cells }) => cells.map((cell) => cell?.points.length ?? 0))),
    0,
  );
  const sentences: string[] = [];
  if (modelled && modelled < points)
    sentences.push("Modelled points come from a model of an array, not from hardware; they are marked wherever they appear.");
  if (errors) sentences.push(`${counted(errors, "I/O error")} occurred; each point lists its own.`);
  if (report.configurations.length > 1 && !report.comparison) {
    const again = report.points.some(({ repeat }) => repeat > 1);
    const spread = repeats > 1 ? `bars are means of up to ${repeats} repeats, error bars their extremes` : again ? "repeats stand beside each other" : `each was ${modelled === points ? "modelled" : "measured"} once`;
    sentences.push(
      `${counted(report.configurations.length, "configuration")} side by side (${spread}). This report does not test whether their differences are more than chance.`,
    );
  }
  return sentences;
}
