// Scaling of an experiment: one chart per workload, and what the fit says about why it does not scale further.

import { SCALING_HEIGHT, scalingOption, type ScalingSubject } from "../charts/scaling";
import { element } from "../element";
import { figureElement, type Figure, type LegendEntry } from "../figure";
import { digits, rate } from "../format";
import type { Estimate, Experiment, Report, ScalingFit, Subject } from "../model";
import { configurationColour, type Palette } from "../palette";
import { optionWords } from "../settings";
import type { Table } from "../table";
import { configurationName, subjectHeading } from "./names";

export function scalingView(experiment: Experiment, report: Report): HTMLElement | null {
  const subjects = experiment.subjects.filter(({ scaling }) => scaling && scaling.points.length > 0);
  if (subjects.length === 0) return null;
  const workloads = [...new Set(subjects.map(({ workload }) => workload))];
  const figures = workloads.map((workload) =>
    scalingFigure(
      experiment,
      report,
      subjects.filter((subject) => subject.workload === workload),
      workloads.length === 1,
    ),
  );
  const fits = subjects.flatMap((subject) =>
    subject.scaling?.fit && subject.sentences.length === 0
      ? [element("li", {}, subjectHeading(subject, experiment, report), `: ${fitWords(subject.scaling.fit)}`)]
      : [],
  );
  return element(
    "div",
    { class: "scaling" },
    fits.length > 0 && element("ul", { class: "sentences" }, ...fits),
    element("div", { class: "pair" }, ...figures.map(figureElement)),
  );
}

const share = ({ value, low, high }: Estimate) => {
  const percents = (number: number) => `${digits(100 * number)} %`;
  return low === null || high === null ? percents(value) : `${percents(value)} [${percents(low)}, ${percents(high)}]`;
};

function fitWords({ contention, coherency, peak }: ScalingFit): string {
  const most = peak ? `; the fit peaks at ${digits(peak.workers)} workers with ${rate(peak.iops, "IOPS")}` : "; the fit has no peak";
  return `contention ${share(contention)}, coherency ${share(coherency)}${most}.`;
}

function scalingFigure(experiment: Experiment, report: Report, subjects: Subject[], wide: boolean): Figure {
  const axis = optionWords(experiment.axis ?? "workers");
  const drawn: ScalingSubject[] = subjects.flatMap((subject) =>
    subject.scaling ? [{ name: configurationName(subject, report), configuration: subject.configuration, scaling: subject.scaling }] : [],
  );
  const title = subjects[0]?.title ?? "";
  const modelled = subjects.some((subject) => subject.modelled);
  return {
    title: `${title}: throughput by ${axis}`,
    label: `Throughput of ${title} by ${axis}, with the fit of the Universal Scalability Law, and the efficiency.`,
    note: "Dashed: ideal scaling from the first point. Curve and band: Universal Scalability Law with its 95 % band. Bars: 95 % intervals.",
    height: SCALING_HEIGHT,
    wide,
    option: (palette, _, hidden) => scalingOption(axis, drawn, palette, hidden),
    legend: (palette) => legend(drawn, palette),
    table: () => scalingTable(drawn, axis),
    modelled,
  };
}

function legend(drawn: ScalingSubject[], palette: Palette): LegendEntry[] {
  return [
    ...drawn.map(({ name, configuration }): LegendEntry => ({
      name,
      colour: configurationColour(palette, configuration),
      mark: "line",
      hides: name,
    })),
    { name: "ideal", colour: palette.muted, mark: "dashed" },
    ...(drawn.some(({ scaling }) => scaling.fit?.peak)
      ? [{ name: "peak of the fit", colour: palette.ink, mark: "sign" as const, sign: "+" }]
      : []),
  ];
}

function scalingTable(drawn: ScalingSubject[], axis: string): Table {
  return {
    caption: `Throughput, speed-up and efficiency by ${axis}`,
    columns: [
      { heading: "Configuration" },
      { heading: axis },
      { heading: "IOPS" },
      { heading: "low" },
      { heading: "high" },
      { heading: "Speed-up" },
      { heading: "Efficiency, %", scale: 100 },
      { heading: "Iterations" },
    ],
    rows: drawn.flatMap(({ name, scaling }) =>
      scaling.points.map(({ workers, iops, speedup, efficiency, points }) => [
        name,
        workers,
        iops.value,
        iops.low,
        iops.high,
        speedup,
        efficiency,
        points.length,
      ]),
    ),
  };
}
