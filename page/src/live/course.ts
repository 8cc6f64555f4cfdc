// A run as it goes on: how far it is, the point that is being measured, and what the points that ended came to.
//
// Model: charts of the point are those of the report, given new data as it comes; the answer, the load lines and the comparison are the
// report's own sections over the points that ended, built anew when one ends.

import { element } from "../element";
import { discardFigures, figureElement, renewFigure, type Figure } from "../figure";
import { counted, seconds } from "../format";
import type { Live, LivePoint, Report } from "../model";
import { comparisonSection } from "../sections/comparison";
import { experimentSection } from "../sections/experiments";
import { flagSection } from "../sections/flags";
import { answer } from "../sections/masthead";
import { pointFigures } from "../sections/pointFigures";
import { summarySection } from "../sections/summary";
import { stopButton } from "./control";
import { hostTable } from "./hosts";

export interface Course {
  element: HTMLElement;
  show: (live: Live) => void;
  /** The report of the points that ended. */
  report: (report: Report) => void;
  /** The server lets whoever looks at it stop the run. */
  allowStop: () => void;
}

export function runCourse(name: string): Course {
  const progress = element("div", { class: "progress" });
  const stopping = element("div", {});
  let running = false;
  const going = element("section", { id: "going", "aria-labelledby": "going-heading", hidden: true });
  const ended = element("div", { id: "ended" });
  let drawn: { id: string; figures: Map<string, HTMLElement>; box: HTMLElement; line: HTMLElement; hosts: HTMLElement } | null = null;
  let known: Report | null = null;
  let last: LivePoint | null = null;

  function showPoint(live: LivePoint): void {
    const { point } = live;
    const figures = known ? pointFigures(point, { ...known, points: [], configurations: [] }) : [];
    if (drawn?.id !== point.id) {
      discardFigures(going);
      const box = element("div", { class: "figures" });
      const line = element("p", { class: "note" });
      const hosts = element("div", {});
      drawn = { id: point.id, figures: new Map(), box, line, hosts };
      going.replaceChildren(element("h2", { id: "going-heading" }, "Now: ", point.title), line, hosts, box);
    }
    drawn.line.textContent = pointLine(live);
    drawn.hosts.replaceChildren(...(live.hosts.length ? [hostTable(live.hosts)] : []));
    for (const [place, figure] of figures.entries()) renew(drawn, figure, place);
  }

  return {
    element: element("div", {}, progress, stopping, going, ended),
    allowStop: () => {
      if (!stopping.firstChild) stopping.append(stopButton(name));
      stopping.hidden = !running;
    },
    show: (live) => {
      running = live.status === "running";
      stopping.hidden = !running;
      progress.replaceChildren(...progressOf(live));
      going.hidden = live.point === null;
      last = live.point;
      if (last) showPoint(last);
    },
    report: (report) => {
      known = report;
      discardFigures(ended);
      ended.replaceChildren(...sections(report));
      // The point was told before the report came, and is not told again while it stands still.
      if (last) showPoint(last);
    },
  };
}

/** A figure gets new data; one that is new stands in the order of the report. */
function renew(drawn: { figures: Map<string, HTMLElement>; box: HTMLElement }, figure: Figure, place: number): void {
  const there = drawn.figures.get(figure.title);
  if (there) renewFigure(there, figure);
  const shown = there ?? figureElement(figure);
  drawn.figures.set(figure.title, shown);
  if (drawn.box.children[place] !== shown) drawn.box.insertBefore(shown, drawn.box.children[place] ?? null);
}

function sections(report: Report): HTMLElement[] {
  if (report.points.length === 0) return [];
  const found = [answer(report), experimentSection(report), comparisonSection(report), flagSection(report), summarySection(report)];
  return found.filter((section): section is HTMLElement => section !== null);
}

function progressOf(live: Live): HTMLElement[] {
  const { ended, planned, status, point, left_s } = live;
  const within = point && point.planned_s > 0 ? Math.min(1, point.passed_s / point.planned_s) : 0;
  const of = planned === null ? "" : ` of ${planned}`;
  const bar = element("progress", { max: String(planned ?? 1), "aria-label": "Points measured" });
  bar.value = planned === null ? within : ended + within;
  const words = [
    status === "running" ? `Point ${ended + 1}${of}` : `${counted(ended, "point")}${of && planned !== ended ? of : ""}, ${WORDS[status] ?? status}`,
    left_s !== null && status === "running" && `about ${seconds(Math.ceil(left_s))} left`,
  ].filter((word): word is string => Boolean(word));
  const report = element("a", { href: `/runs/${encodeURIComponent(live.name)}/report` }, "Full report");
  return [element("p", { role: "status" }, words.join("  ·  ")), bar, ...(ended > 0 ? [element("p", {}, report)] : [])];
}

const WORDS: Record<string, string> = { incomplete: "cut short" };

function pointLine({ point, settings, phase, passed_s, planned_s, errors }: LivePoint): string {
  const words = [
    point.target,
    settings,
    phase === "warmup" ? "warm-up" : phase === "measure" ? "measuring" : (phase ?? "about to begin"),
    `${seconds(passed_s)} of ${seconds(planned_s)}`,
    errors > 0 && counted(errors, "error"),
  ];
  return words.filter(Boolean).join("  ·  ");
}
