// Analytics workflows: report 002's figures as curves over workflows, what limited each level, and who was in which step.

import { CURVES_HEIGHT, curvesOption, type Curve, type CurvePoint, type Curves } from "../charts/curves";
import { lanesEnd, lanesHeight, lanesOption, type Lanes } from "../charts/lanes";
import { element, type Child } from "../element";
import { figureElement, type Figure, type LegendEntry } from "../figure";
import { bandwidth, digits, exact, megabytes, percent, rate, seconds } from "../format";
import type { AnalyticsWorkflows, Estimate, Report, WorkflowLevel, WorkflowSide } from "../model";
import { configurationColour, type Palette } from "../palette";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

const STEPS = ["data-step", "iterate", "format", "index", "sort", "summary"];

export const analyticsWorkflows: DriverSection<AnalyticsWorkflows> = {
  title: "Analytics workflows",
  draw: (found, report) => [
    element("p", { class: "note" }, `${found.banner[0]?.toUpperCase()}${found.banner.slice(1)}.`),
    ...found.sides.flatMap((side) => said(side, found, report)),
    element("div", { class: "pair" }, ...curves(found, report).map(figureElement)),
    timesTable(found, report),
    blocksTable(found, report),
    ...found.sides.flatMap((side) => timelines(side, found, report)),
  ],
};

const label = ({ configuration }: WorkflowSide, report: Report) => report.configurations[configuration]?.label ?? "";

function name(side: WorkflowSide, report: Report): string {
  const settings = settingsText(side.settings);
  return settings ? `${label(side, report)}, ${settings}` : label(side, report);
}

const several = ({ sides }: AnalyticsWorkflows) => sides.length > 1;
const workflows = (count: number) => `${count} workflow${count === 1 ? "" : "s"}`;
const capital = (words: string) => `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`;

const cell = (value: number | null | undefined, shown: (value: number) => string, unit = ""): Rich => ({
  content: value == null ? "–" : element("data", { value: String(value), title: exact(value, unit) }, shown(value)),
  value: value ?? null,
});

const estimated = (found: Estimate | null, shown: (value: number) => string, unit: string): Rich => {
  if (!found) return cell(null, shown);
  // Of two iterations an interval reaches from nothing to a multiple, and says nothing.
  const telling = found.low !== null && found.high !== null && found.low > 0 && found.high <= 4 * found.low;
  const bounds = telling ? ` [${shown(found.low as number)}, ${shown(found.high as number)}]` : "";
  return { content: element("data", { value: String(found.value), title: exact(found.value, unit) }, `${shown(found.value)}${bounds}`), value: found.value };
};

/** What the curves of a side say, and what is wrong with them. */
function said(side: WorkflowSide, found: AnalyticsWorkflows, report: Report): Child[] {
  const where = several(found) ? `${name(side, report)}: ` : "";
  const ended = side.levels.find(({ workflows: count }) => count === side.ended_at);
  const last = side.levels[side.levels.length - 1];
  const growth = ended
    ? `throughput grows up to ${workflows(ended.workflows)}; there it is limited by ${ended.limited_by ?? "what is not known"}.`
    : `throughput was still growing at ${workflows(last?.workflows ?? 0)}, limited by ${last?.limited_by ?? "what is not known"}.`;
  const law = side.fit
    ? ` Universal Scalability Law: contention ${share(side.fit.contention)}, coherency ${share(side.fit.coherency)}${
        side.fit.peak === null ? "" : `, peak near ${workflows(Math.round(side.fit.peak))}`
      }.`
    : ` ${side.fit_note ?? ""}`;
  const failed = side.levels.filter((level) => level.failed > 0 || level.wrong > 0);
  return [
    element("p", {}, `${capital(`${where}${side.levels.length > 1 ? growth : ""}`)}${law}`.trim()),
    ...failed.map((level) =>
      element(
        "p",
        { class: "note" },
        `${where}${workflows(level.workflows)}: ${level.failed} failed${level.wrong > 0 ? `, ${level.wrong} found WRONG DATA` : ""}; figures are of the others.`,
      ),
    ),
  ];
}

const share = ({ value, low, high }: Estimate) => {
  const percents = (number: number) => `${digits(100 * number)} %`;
  return low === null || high === null ? percents(value) : `${percents(value)} [${percents(low)}, ${percents(high)}]`;
};

const point = (level: WorkflowLevel, value: Estimate | number | null): CurvePoint[] => {
  if (value === null) return [];
  const shown = typeof value === "number" ? { value, low: null, high: null } : value;
  const limited = level.limited_by ? [{ name: "limited by", value: level.limited_by.split(":")[0] as string }] : [];
  return [{ level: level.workflows, value: shown, more: limited }];
};

interface Wanted {
  title: string;
  note: string;
  unit: string;
  format: (value: number) => string;
  limits?: Curves["limits"];
  curves: (side: WorkflowSide, named: string) => Curve[];
}

function curves(found: AnalyticsWorkflows, report: Report): Figure[] {
  const whole = (side: WorkflowSide, named: string, of: (level: WorkflowLevel) => Estimate | number | null): Curve => ({
    name: named,
    configuration: side.configuration,
    points: side.levels.flatMap((level) => point(level, of(level))),
  });
  const wanted: Wanted[] = [
    {
      title: "Throughput",
      note: "Workflows that came to their end, per hour. Dashed: ideal scaling from the first point. Curve and band: Universal Scalability Law, where it fits.",
      unit: "workflows per hour",
      format: (value) => rate(value),
      curves: (side, named) => [
        { ...whole(side, named, ({ per_hour }) => per_hour), ideal: true, ...(side.fit ? { fit: side.fit.curve } : {}) },
      ],
    },
    {
      title: "MB/s per core",
      note: `What the devices read and wrote, over physical cores. Asked of a file system: ${found.asked_per_core.map(([what, value]) => `${megabytes(value)} for ${what}`).join(", ")}.`,
      unit: "MB/s per core",
      format: (value) => megabytes(value),
      limits: found.asked_per_core.map(([what, value]) => ({ name: `${megabytes(value)}, ${what}`, value })),
      curves: (side, named) => [whole(side, named, ({ per_core }) => per_core)],
    },
    {
      title: "Time of a workflow",
      note: "Real time (whole line) and processor time (dashed), the mean of the workflows at each level.",
      unit: "seconds",
      format: (value) => rate(value),
      curves: (side, named) => [
        whole(side, `${named}, real`, ({ workflow_real_s }) => workflow_real_s),
        { ...whole(side, `${named}, CPU`, ({ workflow_cpu_s }) => workflow_cpu_s), dashed: true },
      ],
    },
    {
      title: "Processors",
      note: "Of all processors of the host, means over the iterations.",
      unit: "percent",
      format: (value) => digits(value),
      curves: (side, named) =>
        (["user", "system", "wait", "idle"] as const).map((state, place) => ({
          ...whole(side, several(found) ? `${named}, ${state}` : state, (level) => level[`${state}_percent`]),
          tone: (palette: Palette) => palette.cpu[place] ?? palette.ink,
          dashed: found.sides.indexOf(side) > 0,
        })),
    },
    {
      title: `Blocks in and out per ${found.summary_s} s`,
      note: "Blocks of 4,096 bytes that the devices read (in) and wrote (out).",
      unit: `blocks per ${found.summary_s} s`,
      format: (value) => rate(value),
      curves: (side, named) =>
        (["in", "out"] as const).map((way) => ({
          ...whole(side, several(found) ? `${named}, ${way}` : way, (level) => level[`blocks_${way}`]),
          tone: (palette: Palette) => palette.op[way === "in" ? "read" : "write"],
          dashed: found.sides.indexOf(side) > 0,
        })),
    },
    {
      title: "Stretch",
      note: "How many times as long a workflow took as one alone.",
      unit: "times",
      format: (value) => digits(value),
      curves: (side, named) => [whole(side, named, ({ stretch }) => stretch)],
    },
  ];
  return wanted.flatMap((each) => {
    const drawn = found.sides.flatMap((side) => each.curves(side, name(side, report)));
    return drawn.some(({ points }) => points.length > 0) ? [figure(each, drawn)] : [];
  });
}

function figure({ title, note, unit, format, limits }: Wanted, drawn: Curve[]): Figure {
  const spec: Curves = { axis: "workflows", noun: "workflow", unit, format, curves: drawn, limits: limits ?? [] };
  const entry = (curve: Curve, palette: Palette): LegendEntry => ({
    name: curve.name,
    colour: curve.tone?.(palette) ?? configurationColour(palette, curve.configuration),
    mark: curve.dashed ? "dashed" : "line",
    hides: curve.name,
  });
  const levels = [...new Set(drawn.flatMap(({ points }) => points.map(({ level }) => level)))].sort((one, other) => one - other);
  return {
    title,
    label: `${title} over workflows.`,
    note,
    height: CURVES_HEIGHT,
    option: (palette, _, hidden) => curvesOption(spec, palette, hidden),
    legend: (palette) => (drawn.length > 1 ? drawn.map((curve) => entry(curve, palette)) : []),
    table: () => ({
      caption: `${title}, ${unit}`,
      columns: ["Workflows", ...drawn.map((curve) => curve.name)].map((heading) => ({ heading })),
      rows: levels.map((level): Value[] => [
        level,
        ...drawn.map(({ points }) => cell(points.find((each) => each.level === level)?.value.value, format)),
      ]),
    }),
    modelled: false,
  };
}

/** The resource; how it is known stands in its title, and of the level that ended the growth in the sentence above. */
function limited({ limited_by }: WorkflowLevel): Value {
  const resource = limited_by?.split(":")[0];
  return resource ? { content: element("span", { title: limited_by }, resource), value: resource } : "not known";
}

const TIMES = ["Workflows", "CPU of each", "Real of each", "CPU of all", "Real of all", "Stretch", "User", "System", "Idle", "Wait", "Limited by"];

function timesTable(found: AnalyticsWorkflows, report: Report): HTMLElement {
  return tableElement({
    caption: "Workflow iteration average and total, each in both meanings, and processors",
    columns: [...(several(found) ? ["Side"] : []), ...TIMES].map((heading) => ({ heading })),
    rows: levels(found, report, (level) => [
      ...[level.workflow_cpu_s, level.workflow_real_s, level.total_cpu_s, level.total_real_s].map((value) => cell(value, seconds, "s")),
      cell(level.stretch, (value) => `${digits(value)} ×`),
      ...[level.user_percent, level.system_percent, level.idle_percent, level.wait_percent].map((value) => cell(value, percent)),
      limited(level),
    ]),
  });
}

function blocksTable(found: AnalyticsWorkflows, report: Report): HTMLElement {
  const whose = found.sides.some((side) => side.levels.some(({ of_devices }) => !of_devices)) ? "the host" : "the devices";
  const headings = ["Workflows", `Blocks in per ${found.summary_s} s`, "Blocks out", "MB/s in", "MB/s out", "MB/s", "Per core"];
  const asked = found.asked_per_core.map(([what, value]) => `${megabytes(value)}: ${what}`);
  return tableElement({
    caption: `Blocks of 4,096 bytes and bandwidth of ${whose}, and what a core got of what is asked`,
    columns: [...(several(found) ? ["Side"] : []), ...headings, ...asked, "Programs' MB/s", "Workflows/h"].map((heading) => ({ heading })),
    rows: levels(found, report, (level) => [
      ...[level.blocks_in, level.blocks_out].map((value) => cell(value, (shown) => rate(shown))),
      ...[level.bytes_in_per_s, level.bytes_out_per_s].map((value) => cell(value, megabytes, "B/s")),
      estimated(level.bytes_per_s, megabytes, "B/s"),
      estimated(level.per_core, megabytes, "B/s"),
      ...found.asked_per_core.map((_, index) => level.verdicts[index] ?? "–"),
      cell((level.moved_in_per_s ?? 0) + (level.moved_out_per_s ?? 0), megabytes, "B/s"),
      estimated(level.per_hour, rate, "per hour"),
    ]),
  });
}

const levels = (found: AnalyticsWorkflows, report: Report, figures: (level: WorkflowLevel) => Value[]): Value[][] =>
  found.sides.flatMap((side) =>
    side.levels.map((level) => [...(several(found) ? [name(side, report)] : []), level.workflows, ...figures(level)]),
  );

/** Who was in which step: a lane for each workflow, levels below each other, folded but for the last. */
function timelines(side: WorkflowSide, found: AnalyticsWorkflows, report: Report): Child[] {
  const drawn = side.levels.filter(({ lanes }) => lanes.length > 0);
  if (drawn.length === 0) return [];
  const heading = `Who was in which step${several(found) ? ` on ${name(side, report)}` : ""}`;
  return [
    element("h3", {}, heading),
    ...drawn.map((level, index) => {
      const make = () => figureElement(timeline(level, side, report));
      if (index === drawn.length - 1) return make();
      const folded = element("details", { class: "data more" }, element("summary", {}, summary(level)));
      folded.addEventListener("toggle", () => folded.children.length === 1 && folded.append(make()));
      return folded;
    }),
  ];
}

const summary = ({ workflows: count, total_real_s, bytes_per_s, limited_by }: WorkflowLevel) =>
  [workflows(count), total_real_s === null ? "" : seconds(total_real_s), bytes_per_s ? bandwidth(bytes_per_s.value) : "", limited_by?.split(":")[0] ?? ""]
    .filter(Boolean)
    .join(", ");

const stepColour = (step: string, palette: Palette) => {
  const place = STEPS.indexOf(step);
  return (place < 0 ? palette.muted : palette.configurations[place % palette.configurations.length]) as string;
};

function timeline(level: WorkflowLevel, side: WorkflowSide, report: Report): Figure {
  const host = report.points[level.points[0] as number]?.host ?? null;
  const seen = side.devices.filter((device) => host?.devices[device]?.read_bytes_per_s);
  const spec: Lanes = {
    lanes: level.lanes.map((lane) => ({ ...lane, name: `workflow ${lane.name}` })),
    marks: [],
    devices: host && seen.length > 0 ? { time: host, names: seen } : null,
    colours: stepColour,
  };
  const steps = STEPS.filter((step) => level.lanes.some(({ spans }) => spans.some((span) => span.name === step)));
  return {
    title: `${workflows(level.workflows)} over time`,
    label: `What each of ${workflows(level.workflows)} did over ${seconds(lanesEnd(spec))}, a lane for each.`,
    note: `A bar is a step; the first of ${level.iterations} iteration${level.iterations === 1 ? "" : "s"}.${
      spec.devices ? ` Below: reads and writes of ${seen.join(", ")}.` : ""
    }`,
    height: lanesHeight(spec),
    wide: true,
    option: (palette) => lanesOption(spec, palette),
    legend: (palette) => steps.map((step) => ({ name: step, colour: stepColour(step, palette), mark: "solid" as const })),
    table: () => ({
      caption: "Steps in the order in which they began",
      columns: ["Workflow", "Step", "From, s", "To, s", "Took, s", "Failed"].map((heading) => ({ heading })),
      rows: level.lanes.flatMap((lane) =>
        lane.spans.map((span, index): Value[] => [
          Number(lane.name),
          span.name,
          span.start_s,
          span.end_s,
          span.end_s - span.start_s,
          index === lane.spans.length - 1 ? lane.ended : "",
        ]),
      ),
    }),
    modelled: false,
  };
}
