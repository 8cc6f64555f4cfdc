// Rounds towards steady state of an experiment: one chart per subject, with the words attained or not attained.

import { steadyOption, type SteadySpec } from "../charts/steady";
import { element } from "../element";
import { figureElement, type Figure } from "../figure";
import { bandwidth, digits, duration, rate } from "../format";
import type { Experiment, Report, Steady, Subject } from "../model";
import { subjectName } from "./names";

const HEIGHT = 300;

export function steadyView(experiment: Experiment, report: Report): HTMLElement | null {
  const figures = experiment.subjects.flatMap((subject) =>
    subject.steady && subject.steady.rounds.length > 0 ? [steadyFigure(subject, subject.steady, experiment, report)] : [],
  );
  if (figures.length === 0) return null;
  if (figures.length === 1 && figures[0]) figures[0].wide = true;
  return element("div", { class: "pair" }, ...figures.map(figureElement));
}

const METRICS: Record<string, { heading: string; format: (value: number) => string; scale: number; unit: string }> = {
  iops: { heading: "IOPS", format: (value) => rate(value), scale: 1, unit: "IOPS" },
  bytes_per_s: { heading: "bandwidth", format: bandwidth, scale: 1e-6, unit: "MB/s" },
};
const LATENCY = (metric: string) => ({ heading: `${metric} latency`, format: duration, scale: 1e-3, unit: "µs" });

function steadyFigure(subject: Subject, steady: Steady, experiment: Experiment, report: Report): Figure {
  const metric = METRICS[steady.metric] ?? LATENCY(steady.metric);
  const heading = steady.op === "all" ? metric.heading : `${steady.op} ${metric.heading}`;
  const spec: SteadySpec = { steady, heading, format: metric.format };
  const name = subjectName(subject, experiment, report);
  return {
    title: `${name}: ${steady.attained ? `steady state attained after round ${steady.window?.last}` : "steady state not attained"}`,
    label: `${heading} of ${name} by round, with the window that was judged.`,
    note: judgement(steady),
    height: HEIGHT,
    option: (palette) => steadyOption(spec, palette),
    legend: (palette) => [
      { name: "round", colour: palette.accent, mark: "line" },
      ...(steady.window
        ? [
            { name: `within ${percents(steady.window.range_allowed / 2)} of the mean`, colour: palette.accent, mark: "light" as const },
            { name: "fitted line", colour: palette.ink, mark: "dashed" as const },
          ]
        : []),
    ],
    table: () => ({
      caption: `${heading} by round`,
      columns: [{ heading: "Round" }, { heading: `${heading}, ${metric.unit}`, scale: metric.scale }, { heading: "Judged" }],
      rows: steady.rounds.map(({ round, value }) => [
        round,
        value,
        steady.window && round >= steady.window.first && round <= steady.window.last ? "yes" : "no",
      ]),
    }),
    modelled: subject.modelled,
  };
}

const percents = (share: number) => `${digits(100 * share)} %`;

function judgement({ window: judged, attained, rounds }: Steady): string {
  if (!judged) return `${rounds.length} rounds are too few to judge.`;
  const what = `Rounds ${judged.first} to ${judged.last}: range ${percents(judged.range)} of the mean (allowed: ${percents(judged.range_allowed)}), `;
  const rise = `the fitted line changes by ${percents(Math.abs(judged.rise))} (allowed: ${percents(judged.rise_allowed)})`;
  return `${what}${rise}: ${attained ? "attained" : "not attained"}.`;
}
