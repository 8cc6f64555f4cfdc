// The experiments of a report, each with its findings on every workload and configuration, and the chart that its kind calls for.

import { isMixed, modelledBadge } from "../badge";
import { element, type Child } from "../element";
import { isSpokenInBytes } from "../charts/loadLine";
import { bandwidth, exact, megabytes, rate } from "../format";
import type { Experiment, Report } from "../model";
import { optionWords, valueText } from "../settings";
import { inNoun, nounOf } from "../rates";
import { tableElement, type Rich, type Value } from "../table";
import { hostUseView } from "./hostUse";
import { loadLineView } from "./loadLines";
import { matrixView } from "./matrix";
import { subjectHeading, subjectName } from "./names";
import { scalingView } from "./scaling";
import { sentenceList } from "./sentences";
import { steadyView } from "./steady";

export const experimentId = (report: Report, experiment: Experiment) => `experiment-${report.experiments.indexOf(experiment)}`;

/** Null where nothing of the report belongs to an experiment that has more to show than its points. */
export function experimentSection(report: Report): HTMLElement | null {
  if (report.experiments.length === 0) return null;
  return element(
    "section",
    { id: "experiments", "aria-labelledby": "experiments-heading" },
    element("h2", { id: "experiments-heading" }, report.suite?.title ?? "Experiments"),
    report.suite?.purpose && element("p", { class: "purpose" }, report.suite.purpose),
    report.suite?.source && element("p", { class: "note" }, `Source: ${report.suite.source}`),
    ...report.experiments.map((experiment) => experimentView(experiment, report)),
  );
}

function experimentView(experiment: Experiment, report: Report): HTMLElement {
  return element(
    "div",
    { class: "experiment", id: experimentId(report, experiment) },
    element(
      "h3",
      {},
      experiment.name,
      element("span", { class: "kind" }, report.kinds[experiment.kind]),
      modelledBadge(!isMixed(report) && experiment.subjects.some(({ modelled }) => modelled)),
    ),
    experiment.objective && element("p", { class: "objective" }, "Objective: ", element("code", {}, experiment.objective)),
    sentences(experiment, report),
    markTable(experiment, report),
    loadLineView(experiment, report),
    scalingView(experiment, report),
    hostUseView(experiment, report),
    steadyView(experiment, report),
    matrixView(experiment, report),
  );
}

function sentences(experiment: Experiment, report: Report): HTMLElement | null {
  const items = experiment.subjects.flatMap((subject) => {
    const said = [...subject.sentences, ...subject.notes];
    if (said.length === 0) return [];
    if (experiment.subjects.length === 1) return [element("li", {}, said.join(" "), isMixed(report) && modelledBadge(subject.modelled))];
    return [element("li", {}, element("strong", {}, subjectHeading(subject, experiment, report), ": "), said.join(" "))];
  });
  return sentenceList(items, "Conclusions in sentences");
}

const between = (interval: [number, number] | null, format: (value: number) => string) =>
  interval ? ` [${format(interval[0])}, ${format(interval[1])}]` : "";

function figure(value: number | undefined, shown: string, unit: string): Rich {
  const content: Child = value === undefined ? "–" : element("data", { value: String(value), title: exact(value, unit) }, shown);
  return { content, value: value ?? null };
}

/** A knee at the end of the line may lie beyond it. */
const EDGES: Record<string, string> = { lowest: "≤ ", highest: "≥ " };

/** Longer tables are folded. */
const MANY = 16;

/** Marks, knees and saturation of every subject that has any. */
function markTable(experiment: Experiment, report: Report): HTMLElement | null {
  const found = experiment.subjects.map(inNoun).filter(({ mark, knee, saturation }) => mark || knee || saturation);
  const noun = nounOf(found);
  if (found.length === 0) return null;
  const { axis, objective } = experiment;
  const level = (value: number | null | undefined): Rich => ({
    content: value == null ? "–" : valueText(axis, value),
    value: value ?? null,
  });
  const large = isSpokenInBytes(found);
  const kind = large ? "bytes_per_s" : "iops";
  const [shown, unit, heading] = large ? [megabytes, "B/s", "MB/s"] : [(value: number | null | undefined) => rate(value), noun, noun];
  // Transactions, queries and tasks are counted without their bytes.
  const inBytes = noun === "IOPS" || found.some(({ mark }) => (mark?.bytes_per_s ?? 0) > 0);
  const rows = found.map((subject): Value[] => {
    const { mark, knee, saturation } = subject;
    const highest = large ? saturation?.bytes_per_s : saturation?.iops.value;
    const marked: Value[] = objective
      ? [
          figure(mark?.iops, mark ? `${rate(mark.iops)}${between(mark.interval, (value) => rate(value))}` : "", noun),
          ...(inBytes ? [figure(mark?.bytes_per_s, bandwidth(mark?.bytes_per_s), "B/s")] : []),
          level(mark?.level),
          mark ? (mark.failed_by ?? "nothing failed") : "no level held",
        ]
      : [];
    return [
      { content: subjectHeading(subject, experiment, report), value: subjectName(subject, experiment, report) },
      ...marked,
      figure(knee?.[kind], `${EDGES[knee?.at_edge ?? ""] ?? ""}${shown(knee?.[kind])}`, unit),
      level(knee?.level),
      figure(highest, `${shown(highest)}${saturation && !saturation.reached ? " or more" : ""}`, unit),
    ];
  });
  const marked = objective
    ? [
        { heading: `Mark, ${noun} [95 %]` },
        ...(inBytes ? [{ heading: "Mark, MB/s" }] : []),
        { heading: axis ? `at ${optionWords(axis)}` : "at level" },
        { heading: "Failed first above it" },
      ]
    : [];
  const columns = [
    { heading: report.configurations.length > 1 ? "Workload and configuration" : "Workload" },
    ...marked,
    { heading: `Knee, ${heading}` },
    { heading: axis ? `at ${optionWords(axis)}` : "at level" },
    { heading: `Saturation, ${heading}` },
  ];
  const caption = objective ? "Marks, knees, saturation" : "Knees and saturation";
  const modelled = found.some((subject) => subject.modelled);
  const table = tableElement({ caption: modelled ? `${caption}${isMixed(report) ? "; modelled ones are marked" : " (modelled)"}` : caption, columns, rows });
  const folded = rows.length > MANY;
  return element(
    "div",
    { class: "marks-table" },
    folded ? element("details", { class: "data more" }, element("summary", {}, `Knees and saturation of ${rows.length} loads`), table) : table,
  );
}
