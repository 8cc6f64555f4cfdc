// Draws the report from the data in the page: read the view model, build the sections, then follow the reader.
//
// Limits: the page never fetches anything; what is not in its data does not exist for it.

import { driverSections, driverTitles } from "./drivers/list";
import { element } from "./element";
import { drawAll, drawNear, redraw } from "./figure";
import { unpacked } from "./inflate";
import type { Report } from "./model";
import { comparisonSection } from "./sections/comparison";
import { environmentSection } from "./sections/environment";
import { experimentSection } from "./sections/experiments";
import { flagSection } from "./sections/flags";
import { answer, masthead } from "./sections/masthead";
import { notesSection } from "./sections/notes";
import { openPoint, pointSection } from "./sections/point";
import { pricesSection } from "./sections/prices";
import { GROUP_TITLES, groupNames, profileSection } from "./sections/profiles";
import { publishedSection } from "./sections/published";
import { summarySection } from "./sections/summary";

function build(report: Report, page: HTMLElement): void {
  const main = element("main", { id: "main" });
  page.append(element("a", { class: "skip", href: "#main" }, "Skip to the report"), masthead(report), contents(report), main);
  const sections = [
    answer(report),
    comparisonSection(report),
    pricesSection(report),
    experimentSection(report),
    ...driverSections(report),
    profileSection(report),
    flagSection(report),
    summarySection(report),
    pointSection(report),
    publishedSection(report),
    environmentSection(report),
    notesSection(),
  ];
  main.append(...sections.filter((section) => section !== null));
  page.append(
    element("footer", {}, element("p", {}, "Made by Plimsoll. This file is complete: it works offline and sends nothing anywhere.")),
  );
}

function contents(report: Report): HTMLElement {
  const links: [string, string][] = [
    ...part(report.comparison !== null, "comparison", "Comparison"),
    ...part(report.prices !== null, "prices", "Prices"),
    ...part(report.experiments.length > 0, "experiments", "Experiments"),
    ...driverTitles(report),
    ...groupNames(report).map((name): [string, string] => [name, GROUP_TITLES[name].replace(" access", "")]),
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

/** A link to a point opens it. */
function follow(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
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
    if (on) drawAll();
    else drawNear();
  };
}

function start(): void {
  const held = document.getElementById("data");
  const text = held?.textContent ?? "";
  const data = held?.dataset.length ? unpacked(text, Number(held.dataset.length)) : text;
  const page = document.getElementById("report");
  if (!page) throw new Error("the page has no #report");
  build(JSON.parse(data) as Report, page);
  follow();
  addEventListener("hashchange", follow);
  // Before the colours: a printed page is a light one, and what is given up after printing needs no colours.
  const print = printing();
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

start();
