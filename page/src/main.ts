// Draws the report from the data in the page: read the view model, build the sections, then follow the reader.
//
// Limits: the page never fetches anything; what is not in its data does not exist for it.

import { driverSections, driverTitles } from "./drivers/list";
import { element } from "./element";
import { drawAll, drawNear, redraw } from "./figure";
import { unpacked } from "./inflate";
import type { ChoicePage, Report } from "./model";
import { choicePage } from "./sections/candidates";
import { comparisonSection } from "./sections/comparison";
import { environmentSection } from "./sections/environment";
import { experimentSection } from "./sections/experiments";
import { flagSection } from "./sections/flags";
import { layoutsSection } from "./sections/layouts";
import { answer, masthead } from "./sections/masthead";
import { notesSection } from "./sections/notes";
import { openPoint, pointSection } from "./sections/point";
import { pricesSection } from "./sections/prices";
import { groupNames, groupTitle, profileSection } from "./sections/profiles";
import { publishedSection } from "./sections/publishedFigures";
import { reveal, shortened, unfold } from "./sections/overview";
import { summarySection } from "./sections/summary";

/** The top of the page, with the answer: what the reader sees first is there before the rest is built. */
function begin(report: Report, page: HTMLElement): HTMLElement {
  const main = element("main", { id: "main" }, answer(report));
  page.append(element("a", { class: "skip", href: "#main" }, "Skip to the report"), masthead(report), contents(report), main);
  return main;
}

function build(report: Report, page: HTMLElement, main: HTMLElement): void {
  const compared = [comparisonSection(report), pricesSection(report)];
  const sections = [
    ...(showsMark(report) ? [experimentSection(report), ...compared] : [...compared, experimentSection(report)]),
    ...driverSections(report),
    pictured(report) ? shortened(report, profileSection(report)) : profileSection(report),
    layoutsSection(report),
    flagSection(report),
    shortened(report, summarySection(report)),
    pointSection(report),
    shortened(report, publishedSection(report)),
    shortened(report, environmentSection(report)),
    shortened(report, notesSection()),
  ];
  main.append(...sections.filter((section) => section !== null));
  page.append(
    element("footer", {}, element("p", {}, "Made by Plimsoll. This file is complete: it works offline and sends nothing anywhere.")),
  );
}

/** Whether one load was raised until an objective failed: then its load lines are the picture that shows the answer, and stand first. */
function showsMark({ experiments }: Report): boolean {
  const [only] = experiments;
  return experiments.length === 1 && Boolean(only?.objective) && (only?.subjects.some(({ lines }) => lines.length > 0) ?? false);
}

/** Whether a comparison or an experiment has a picture of its own, so that the bars of its points are more of the same. */
const pictured = ({ comparison, experiments }: Report) => comparison !== null || experiments.length > 0;

function contents(report: Report): HTMLElement {
  const compared = [...part(report.comparison !== null, "comparison", "Comparison"), ...part(report.prices !== null, "prices", "Prices")];
  const measured = part(report.experiments.length > 0, "experiments", "Experiments");
  const links: [string, string][] = [
    ...(showsMark(report) ? [...measured, ...compared] : [...compared, ...measured]),
    ...driverTitles(report),
    ...groupNames(report).map((name): [string, string] => [name, groupTitle(name, report)]),
    ...part(report.layouts.length > 0, "layouts", "Layouts"),
    ...part(report.flags.length > 0, "flags", "Flags"),
    ["summary", "Summary"],
    ["points", "Points"],
    ...part(report.published.length > 0, "published", "Published"),
    ["environment", "Environment"],
    ["notes", "Meaning"],
  ];
  return element("nav", { "aria-label": "Sections" }, ...links.map(([id, name]) => element("a", { href: `#${id}` }, name)));
}

const part = (isThere: boolean, id: string, name: string): [string, string][] => (isThere ? [[id, name]] : []);

/** A link to a point opens it, and one to what is folded unfolds it. */
function follow(): void {
  const name = decodeURIComponent(location.hash.slice(1));
  reveal(name);
  const target = document.getElementById(name);
  if (target instanceof HTMLDetailsElement) {
    for (let around = target.parentElement?.closest("details"); around; around = around.parentElement?.closest("details")) around.open = true;
    openPoint(target);
    target.scrollIntoView();
  }
}

/** Paper gets the answer, its pictures, the doubts and the summary, and every point that the reader has opened, in light colours. */
function printing(): (on: boolean) => void {
  return (on) => {
    const root = document.documentElement;
    if (on === root.classList.contains("printing")) return;
    root.classList.toggle("printing", on);
    unfold(on);
    if (on) drawAll();
    else drawNear();
  };
}

/** Once the answer is on the screen; a page in the background is never painted, and before printing everything has to be there. */
function painted(rest: () => void): void {
  let left = true;
  const once = () => {
    if (!left) return;
    left = false;
    rest();
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, 500);
  addEventListener("beforeprint", once);
}

/** The top of a report at once; what is left to do is returned. */
function reported(report: Report, page: HTMLElement): () => void {
  const main = begin(report, page);
  return () => build(report, page, main);
}

/** The page of a choice, which is short. */
function chosen(choice: ChoicePage, page: HTMLElement): () => void {
  page.append(element("a", { class: "skip", href: "#main" }, "Skip to the answer"), ...choicePage(choice));
  return () => {};
}

function start(): void {
  const held = document.getElementById("data");
  const text = held?.textContent ?? "";
  const data = held?.dataset.length ? unpacked(text, Number(held.dataset.length)) : text;
  const page = document.getElementById("report");
  if (!page) throw new Error("the page has no #report");
  const shown = JSON.parse(data) as Report | ChoicePage;
  const rest = shown.schema === "plimsoll.choice-page/1" ? chosen(shown, page) : reported(shown, page);
  painted(() => {
    rest();
    document.documentElement.dataset.complete = "true";
    follow();
  });
  addEventListener("hashchange", follow);
  // Before the colours: a printed page is a light one, and what is given up after printing needs no colours.
  const print = printing();
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

start();
