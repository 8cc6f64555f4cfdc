// The load lines of an experiment: one chart per workload, with a choice of response and rate for all of them.

import { isSpokenInBytes, isWide, loadLineOption, SIGNS, verdictOf, type LoadLineSpec, type LoadLineSubject, type Rate } from "../charts/loadLine";
import { element } from "../element";
import { discardFigures, figureElement, type Figure, type LegendEntry } from "../figure";
import { counted } from "../format";
import type { Experiment, LoadLine, Report, Subject } from "../model";
import { configurationColour, type Palette } from "../palette";
import { optionWords, valueText } from "../settings";
import { inNoun, nounOf } from "../rates";
import type { Table } from "../table";
import { check, list, segments } from "./choices";
import { configurationName } from "./names";
import { LONG } from "./overview";

const HEIGHT = 340;
const WIDE_HEIGHT = 420;
const SEGMENTS = 4;
/** More charts than this are folded, and drawn when they are opened; of a long report half as many. */
const MOST = 4;
/** Published figures are drawn up to this multiple of the highest throughput. */
const REACH = 2;

interface Chosen {
  rate: Rate;
  response: number;
  logarithmic: boolean;
}

const metricWords = (metric: string) => (metric === "p999" ? "p99.9" : metric === "mean" ? "mean latency" : metric);

/** `read p99`, or without the operation where all are meant. */
export const responseWords = ({ op, metric }: Pick<LoadLine, "op" | "metric">) =>
  op === "all" ? metricWords(metric) : `${op} ${metricWords(metric)}`;

/** The responses that any subject has a line of, those of the objective first. */
function responses(experiment: Experiment): string[] {
  const lines = experiment.subjects.flatMap((subject) => subject.lines);
  const limited = lines.filter(({ limit_ns }) => limit_ns !== null);
  return [...new Set([...limited, ...lines].map(responseWords))];
}

export function loadLineView(experiment: Experiment, report: Report): HTMLElement | null {
  const subjects = experiment.subjects.map(inNoun).filter(({ lines }) => lines.some(({ points }) => points.length > 0));
  const choices = responses(experiment);
  if (subjects.length === 0 || choices.length === 0) return null;
  const workloads = [...new Set(subjects.map(({ workload }) => workload))];
  const wide = isWide(subjects.flatMap(({ lines }) => lines.filter((line) => responseWords(line) === choices[0])));
  const large = isSpokenInBytes(subjects);
  const chosen: Chosen = { rate: large ? "bytes_per_s" : "iops", response: 0, logarithmic: wide };
  const first = report.points.length > LONG ? MOST / 2 : MOST;
  const [holder, rest] = [element("div", { class: "pair" }), element("div", { class: "pair" })];
  const draw = () => {
    discardFigures(holder);
    discardFigures(rest);
    const response = choices[chosen.response] as string;
    const figures = workloads.map((workload) => {
      const own = subjects.filter((subject) => subject.workload === workload);
      const shown = responseFor(own, response);
      return loadLineFigure({ experiment, report, subjects: own, response: shown, asked: response, chosen, wide: workloads.length === 1 });
    });
    const elements = figures.map(figureElement);
    holder.replaceChildren(...elements.slice(0, first));
    rest.replaceChildren(...elements.slice(first));
  };
  draw();
  const more = element("details", { class: "data more" }, element("summary", {}, `${counted(workloads.length - first, "more workload")}`), rest);
  return element("div", { class: "load-lines" }, controls(experiment, choices, chosen, draw), holder, workloads.length > first && more);
}

/** The response that was chosen, or where these subjects have none, the first that they have: a workload that only writes has no read latency. */
export function responseFor(subjects: Pick<Subject, "lines">[], response: string): string {
  const own = subjects.flatMap(({ lines }) => lines.filter(({ points }) => points.length > 0).map(responseWords));
  return own.includes(response) ? response : (own[0] ?? response);
}

function controls(experiment: Experiment, choices: string[], chosen: Chosen, draw: () => void): HTMLElement {
  const respond = (index: number) => {
    chosen.response = index;
    draw();
  };
  const choice =
    choices.length > SEGMENTS
      ? list("Response", choices, respond)
      : segments(`response of ${experiment.name}`, "Response", choices, respond);
  return element(
    "form",
    { class: "controls", "aria-label": `What the load lines of ${experiment.name} show` },
    choices.length > 1 && choice,
    segments(
      `rate of ${experiment.name}`,
      "Throughput",
      [nounOf(experiment.subjects), "MB/s"],
      (index) => {
        chosen.rate = index === 0 ? "iops" : "bytes_per_s";
        draw();
      },
      chosen.rate === "iops" ? 0 : 1,
    ),
    check(
      "logarithmic response",
      (on) => {
        chosen.logarithmic = on;
        draw();
      },
      chosen.logarithmic,
    ),
  );
}

interface Drawing {
  experiment: Experiment;
  report: Report;
  subjects: Subject[];
  response: string;
  /** The response that the reader chose, which these subjects need not have. */
  asked: string;
  chosen: Chosen;
  wide: boolean;
}

function loadLineFigure({ experiment, report, subjects, response, asked, chosen, wide }: Drawing): Figure {
  const drawn = subjects.flatMap((subject) => lineOf(subject, response, report, chosen.rate));
  const spec: LoadLineSpec = { subjects: drawn, axis: experiment.axis, rate: chosen.rate, noun: nounOf(subjects), response, logarithmic: chosen.logarithmic };
  const modelled = subjects.some((subject) => subject.modelled);
  const title = subjects[0]?.title ?? "";
  const bands = drawn.some(({ line }) => line.points.some((point) => point.response.low !== null));
  return {
    title: `${title}: ${response} by throughput`,
    label: `Load line of ${title}: ${response} against throughput, by rising ${optionWords(experiment.axis ?? "load")}.`,
    note: `${response === asked ? "" : `There is no ${asked} here, so ${response} is shown. `}${note(drawn, bands)}`,
    height: wide ? WIDE_HEIGHT : HEIGHT,
    wide,
    option: (palette, _, hidden) => loadLineOption(spec, palette, hidden),
    legend: (palette) => legend(drawn, palette),
    table: () => loadLineTable(spec, modelled),
    modelled,
  };
}

function lineOf(subject: Subject, response: string, report: Report, kind: Rate): LoadLineSubject[] {
  const line = subject.lines.find((each) => responseWords(each) === response);
  if (!line || line.points.length === 0) return [];
  // Figures far beyond what was measured would press the line into a corner; they stand in their own table.
  const furthest = REACH * Math.max(...line.points.map((point) => point[kind].value));
  const published = report.published.flatMap(({ rows }) =>
    rows
      .filter(
        (row) =>
          row.metric === kind &&
          row.op === "all" &&
          row.value !== null &&
          row.value <= furthest &&
          row.points.some((point) => subject.points.includes(point)),
      )
      .map(({ label, value }) => ({ label, value: value as number })),
  );
  const { configuration, mark, knee, saturation } = subject;
  // A knee at an end of the line was not found but run into, and a throughput that may still rise is no saturation.
  return [
    {
      name: configurationName(subject, report),
      configuration,
      line,
      mark,
      knee: knee?.at_edge ? null : knee,
      saturation: saturation?.reached ? saturation : null,
      published,
    },
  ];
}

function note(drawn: LoadLineSubject[], bands: boolean): string {
  const verdicts = drawn.flatMap(({ line }) => line.points.map(({ verdict }) => verdictOf(verdict)));
  const shapes = [
    verdicts.includes("held") && "filled: the objective held",
    verdicts.includes("failed") && "hollow: it failed",
    verdicts.includes("undecided") && "diamond: undecided",
  ].filter(Boolean);
  const sentences = ["Each point is one level; the line follows rising load."];
  if (shapes.length) sentences.push(`Points ${shapes.join("; ")}.`);
  if (bands) sentences.push("Band and bars: 95 % intervals.");
  return sentences.join(" ");
}

function legend(drawn: LoadLineSubject[], palette: Palette): LegendEntry[] {
  const sign = (name: string, character: string): LegendEntry => ({ name, colour: palette.ink, mark: "sign", sign: character });
  const published = [...new Set(drawn.flatMap((subject) => subject.published.map(({ label }) => label)))];
  return [
    ...drawn.map(({ name, configuration }): LegendEntry => ({
      name,
      colour: configurationColour(palette, configuration),
      mark: "line",
      hides: name,
    })),
    ...(drawn.some(({ mark }) => mark) ? [sign("mark", SIGNS.mark)] : []),
    ...(drawn.some(({ knee }) => knee) ? [sign("knee", SIGNS.knee)] : []),
    ...(drawn.some(({ saturation }) => saturation) ? [{ name: "saturation", colour: palette.muted, mark: "dotted" as const }] : []),
    ...published.map((label): LegendEntry => ({ name: `published: ${label}`, colour: palette.muted, mark: "dashed" })),
  ];
}

function loadLineTable(spec: LoadLineSpec, modelled: boolean): Table {
  const us = { scale: 1e-3 };
  return {
    caption: `${spec.response} by throughput${modelled ? "; modelled configurations are marked" : ""}`,
    columns: [
      { heading: "Configuration" },
      { heading: optionWords(spec.axis ?? "level") },
      { heading: spec.noun },
      { heading: "low" },
      { heading: "high" },
      { heading: "MB/s", scale: 1e-6 },
      { heading: `${spec.response}, µs`, ...us },
      { heading: "low", ...us },
      { heading: "high", ...us },
      { heading: `Offered, ${spec.noun}` },
      { heading: "Repeats" },
      { heading: "Objective" },
    ],
    rows: spec.subjects.flatMap(({ name, line }) =>
      line.points.map(({ level, iops, bytes_per_s, response, offered_per_s, points, verdict }) => [
        name,
        { content: valueText(spec.axis, level), value: level },
        iops.value,
        iops.low,
        iops.high,
        bytes_per_s.value,
        response.value,
        response.low,
        response.high,
        offered_per_s,
        points.length,
        verdictOf(verdict) ?? "–",
      ]),
    ),
  };
}
