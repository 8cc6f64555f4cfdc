// One point: a line when closed, everything about it when opened. What is inside is built when it is first opened.

import { isMixed, modelledBadge } from "../badge";
import { element, type Child } from "../element";
import { verdictOf } from "../charts/loadLine";
import { sparkline } from "../charts/sparkline";
import { bounded, duration, rate, seconds, instant, counted } from "../format";
import { figureElement } from "../figure";
import type { ByOp, ObjectiveVerdict, Op, Point, Report, Total } from "../model";
import { ratePhrase } from "../rates";
import { tableElement } from "../table";
import { flagMark, flagNotes, statusBadge } from "./flags";
import { placeText } from "../settings";
import { anchor } from "./place";
import { pointFigures } from "./pointFigures";
import { replayTables } from "./replay";

/** More points than this stand folded by workload. */
const MANY = 48;

export function pointSection(report: Report): HTMLElement {
  const points = report.points.length > MANY ? folded(report) : report.points.map((point) => pointDetails(point, report));
  return element(
    "section",
    { id: "points", "aria-labelledby": "points-heading" },
    element("h2", { id: "points-heading" }, "Points", modelledBadge(report.verdict.modelled > 0 && !isMixed(report))),
    element(
      "p",
      { class: "note" },
      "One line per measured point, with its throughput over time. Open a line for its latency distribution, its course, and what the host did meanwhile.",
    ),
    ...points,
  );
}

/** A line per workload, which holds its points. */
function folded(report: Report): HTMLElement[] {
  const titles = [...new Set(report.points.map(({ title }) => title))];
  return titles.map((title) => {
    const own = report.points.filter((point) => point.title === title);
    const details = element("details", { class: "workload" }, element("summary", {}, element("h3", {}, title), ` ${counted(own.length, "point")}`));
    details.append(...own.map((point) => pointDetails(point, report)));
    return details;
  });
}

function pointDetails(point: Point, report: Report): HTMLElement {
  const details = element("details", { class: `point ${point.status}`, id: anchor(point) }, pointLine(point, report));
  details.addEventListener("toggle", () => {
    if (details.open) fill(details);
  });
  fillers.set(details, () => pointBody(point, report));
  return details;
}

const fillers = new WeakMap<HTMLDetailsElement, () => HTMLElement>();

function fill(details: HTMLDetailsElement): void {
  const build = fillers.get(details);
  fillers.delete(details);
  if (build) details.append(build());
}

/** Open a point at once, with its content built: before jumping to it and before printing. */
export function openPoint(details: HTMLDetailsElement): void {
  fill(details);
  details.open = true;
}

function pointLine(point: Point, report: Report): HTMLElement {
  const totals = Object.values(point.totals);
  const worst = Math.max(...totals.map(({ latency_ns }) => latency_ns?.p99 ?? 0));
  const atLeast = totals.some(({ latency_ns, at_least }) => latency_ns?.p99 === worst && at_least?.includes("p99"));
  const several = report.configurations.length > 1;
  return element(
    "summary",
    {},
    element(
      "span",
      { class: "name" },
      element("h3", {}, point.title),
      placeText(point) && element("span", { class: "where" }, placeText(point)),
      several && element("span", { class: "where" }, report.configurations[point.configuration]?.label ?? ""),
      point.repeat > 1 && point.place?.role !== "round" && element("span", { class: "where" }, `repeat ${point.repeat}`),
      statusBadge(point.status),
      verdictBadge(point),
      isMixed(report) && modelledBadge(point.modelled),
      ...point.flags.map(flagMark),
    ),
    element("span", { class: "course" }, point.timeline && sparkline(point.timeline)),
    element("span", { class: "figure" }, point.together.iops !== undefined && ratePhrase(point.together.iops * point.rate_factor, point.rate_noun)),
    element("span", { class: "figure" }, worst > 0 && `p99 ${bounded(worst, atLeast)}`),
  );
}

const perSecond = ({ rate_noun }: Point) => (rate_noun === "IOPS" ? "IOPS" : "per second");

/** Whether the objective of the experiment held here; its words are for screen readers and hover. */
function verdictBadge({ verdict }: Point): HTMLElement | null {
  const word = verdictOf(verdict);
  if (!word || !verdict) return null;
  const words = `Objective ${verdict.objective}: ${word}${verdict.failed_by ? ` (${verdict.failed_by})` : ""}`;
  return element("span", { class: `badge verdict-${word}`, title: words }, word);
}

function pointBody(point: Point, report: Report): HTMLElement {
  const figures = pointFigures(point, report);
  return element(
    "div",
    { class: "body" },
    point.error && element("p", { class: "failure", role: "note" }, point.error),
    point.limit && told("Bottleneck", `${point.limit.said}; ${point.limit.busy}.`, point),
    point.incidents && told("Failures", `${point.incidents}.`, point),
    flagNotes(point.flags),
    point.purpose && element("p", { class: "purpose" }, point.purpose, point.expect && ` Expected: ${point.expect}`),
    facts(point, report),
    totalsTable(point),
    hostTable(point),
    replayTables(point),
    intervalTable(point),
    figures.length > 0 && element("div", { class: "pair" }, ...figures.map(figureElement)),
    breakdown("Per part of the target", point.parts, point, 1),
    breakdown("Per stream", point.streams, point, 2),
    componentTable(point),
    errorList(point),
    definition(point),
  );
}

/** What the model tells of its own course, in the words of the terminal. */
const told = (term: string, words: string, { modelled }: Point) =>
  element("p", { class: "told" }, element("strong", {}, `${term}: `), words, modelledBadge(modelled));

function facts(point: Point, report: Report): HTMLElement {
  const backend = point.engine.backend as { used?: string } | undefined;
  const rows: [string, Child][] = [
    ["Target", point.target],
    [
      "Concurrency",
      `${counted(point.threads, "thread")} × ${point.queue_depth === null ? "a depth per stream" : `depth ${point.queue_depth}`}`,
    ],
    ["Arrival", point.arrival === "closed" ? "closed loop" : `open loop, ${point.arrival}`],
    ["Offered", point.offered_per_s === null ? null : `${ratePhrase(point.offered_per_s * point.rate_factor, point.rate_noun)}, achieved ${rate(point.together.iops ?? 0)}`],
    ["Measured", point.measured_s === null ? "nothing" : `${seconds(point.measured_s)} after ${seconds(point.warmup_s)} of warm-up`],
    ["Ended by", point.ended.by === "duration" && !point.ended.how ? null : [point.ended.by, point.ended.how].filter(Boolean).join(": ")],
    [
      "Caches",
      point.cache.state === "as found" && !point.cache.how ? null : [point.cache.state, point.cache.how].filter(Boolean).join(": "),
    ],
    ["Experiment", point.place && `${point.place.experiment}, ${report.kinds[point.place.kind]}`],
    ["Objective", point.verdict && objectiveWords(point.verdict)],
    ["Backend", backend?.used ?? null],
    ["Seed, repeat", `${point.seed}, ${point.repeat}`],
    ["Started", instant(point.started)],
  ];
  return element(
    "dl",
    { class: "facts" },
    ...rows.filter(([, value]) => value).map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value))),
  );
}

function objectiveWords(verdict: ObjectiveVerdict): string {
  const word = verdictOf(verdict);
  if (verdict.undecided) return `${verdict.objective}: ${word}, ${verdict.failed_by}`;
  const undecided = word === "undecided" ? ` (by value it ${verdict.holds ? "held" : "failed"}; the interval spans the limit)` : "";
  return `${verdict.objective}: ${word}${undecided}${verdict.failed_by ? `, failed by ${verdict.failed_by}` : ""}`;
}

/** The 95 % intervals of a point, where it has any. */
function intervalTable(point: Point): HTMLElement | null {
  const { estimates, modelled } = point;
  const rows = Object.entries(estimates).flatMap(([op, metrics]) =>
    Object.entries(metrics).flatMap(([metric, { value, low, high }]) => {
      if (low === null || high === null) return [];
      const [scale, unit] = metric === "iops" ? [1, perSecond(point)] : metric === "bytes_per_s" ? [1e-6, "MB/s"] : [1e-3, "µs"];
      const share = (end: number) => (value === 0 ? null : (100 * (end - value)) / Math.abs(value));
      const name = metric === "iops" || metric === "bytes_per_s" ? unit : `${metric === "p999" ? "p99.9" : metric}, ${unit}`;
      return [[op === "all" ? "all together" : op, name, value * scale, low * scale, high * scale, share(low), share(high)]];
    }),
  );
  if (rows.length === 0) return null;
  const headings = ["Operation", "Metric", "Value", "Low", "High", "Low, %", "High, %"];
  const table = tableElement({
    caption: `95 % confidence intervals${modelled ? " (modelled)" : ""}`,
    columns: headings.map((heading) => ({ heading })),
    rows,
  });
  return element("details", { class: "data" }, element("summary", {}, "Confidence intervals"), table);
}

const LATENCY_KEYS = ["mean", "stddev", "min", "p50", "p90", "p95", "p99", "p999", "max"] as const;

function totalsTable(point: Point): HTMLElement | null {
  const totals = Object.entries(point.totals) as [Op, Total][];
  if (totals.length === 0) return null;
  const differs = totals.some(([, { latency_ns, service_ns }]) => service_ns && latency_ns && service_ns.mean !== latency_ns.mean);
  const kinds = differs ? (["latency_ns", "service_ns"] as const) : (["latency_ns"] as const);
  return tableElement({
    caption: `Totals of the measured phase${differs ? "; latency counts from the intended instant, service time from submission" : ""}${point.modelled ? " (modelled)" : ""}`,
    columns: [
      { heading: "Operation" },
      { heading: point.rate_noun === "IOPS" ? "I/Os" : "Count" },
      { heading: perSecond(point) },
      { heading: "MB/s", scale: 1e-6 },
      { heading: "Errors" },
      ...LATENCY_KEYS.map((key) => ({ heading: `${key === "p999" ? "p99.9" : key}, µs`, scale: 1e-3 })),
    ],
    rows: totals.flatMap(([op, total]) =>
      kinds.map((kind) => [
        kind === "service_ns" ? `${op}, service time` : total.at_least ? `${op} (≥ ${total.at_least.join(", ")})` : op,
        total.count,
        total.iops,
        total.bytes_per_s,
        total.errors,
        ...LATENCY_KEYS.map((key) => total[kind]?.[key]),
      ]),
    ),
  });
}

function breakdown(title: string, shares: Record<string, ByOp<Total>>, point: Point, least: number): HTMLElement | null {
  if (Object.keys(shares).length < least) return null;
  const rows = Object.entries(shares).flatMap(([name, totals]) =>
    (Object.entries(totals) as [Op, Total][]).map(([op, total]) => [
      name,
      op,
      total.iops,
      total.bytes_per_s,
      total.errors,
      total.latency_ns?.mean,
      total.latency_ns?.p50,
      total.latency_ns?.p99,
      total.latency_ns?.max,
    ]),
  );
  const latency = ["mean", "p50", "p99", "max"].map((key) => ({ heading: `${key}, µs`, scale: 1e-3 }));
  return tableElement({
    caption: point.modelled ? `${title} (modelled)` : title,
    columns: [
      { heading: "Name" },
      { heading: "Operation" },
      { heading: perSecond(point) },
      { heading: "MB/s", scale: 1e-6 },
      { heading: "Errors" },
      ...latency,
    ],
    rows,
  });
}

/** Hosts side by side and the sum of those that are chosen, with when each began and how well its clock is known. */
function hostTable(point: Point): HTMLElement | null {
  if (point.hosts.length === 0) return null;
  const chosen = new Set(point.hosts.map((host) => host.name));
  const drawn = element("div");
  const draw = () => drawn.replaceChildren(element("p", { class: "hosts-said" }, saidOfHosts(point, chosen)), hostRows(point, chosen));
  const choices = point.hosts.map((host) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(host.name);
      else chosen.delete(host.name);
      draw();
    });
    return element("label", { class: "host-choice" }, box, ` ${host.name} `);
  });
  draw();
  return element("div", {}, element("fieldset", { class: "host-choices" }, element("legend", {}, "Hosts that count"), ...choices), drawn);
}

/** How far apart the chosen hosts began, and which of them does over 20 % more or less than the median of three or more. */
function saidOfHosts(point: Point, chosen: Set<string>): string {
  const hosts = point.hosts.filter((host) => chosen.has(host.name));
  const began = hosts.flatMap((host) => (host.skew_ns === null ? [] : [host.skew_ns]));
  const rates = hosts.filter((host) => Object.keys(host.totals).length > 0).map((host) => [host.name, rateOf(host.totals)] as const);
  const sorted = rates.map(([, rate]) => rate).sort((a, b) => a - b);
  const median = ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.floor(sorted.length / 2)] ?? 0)) / 2;
  const outliers = sorted.length < 3 ? [] : rates.filter(([, rate]) => Math.abs(rate - median) > 0.2 * median).map(([name]) => name);
  const apart = began.length < 2 ? "" : `; began within ${duration(Math.max(...began) - Math.min(...began))}`;
  const odd = outliers.length === 0 ? "" : `; over 20 % from the median: ${outliers.join(", ")}`;
  return `${hosts.length} of ${point.hosts.length} hosts count${apart}${odd}.`;
}

const rateOf = (totals: Point["hosts"][number]["totals"]) => (Object.values(totals) as Total[]).reduce((sum, total) => sum + total.iops, 0);

function hostRows(point: Point, chosen: Set<string>): HTMLElement {
  const counted = point.hosts.filter((host) => chosen.has(host.name));
  const whole = counted.length === point.hosts.length;
  const sum = (op: Op, value: (total: Total) => number) =>
    counted.reduce((total, host) => total + (host.totals[op] ? value(host.totals[op]) : 0), 0);
  const rate = (op: Op) => (whole ? (point.totals[op]?.iops ?? 0) : sum(op, (total) => total.iops));
  const figures = (total: Total, op: Op, counts: boolean) => [
    op,
    total.iops,
    total.bytes_per_s,
    counts && rate(op) > 0 ? (100 * total.iops) / rate(op) : null,
    total.errors,
    total.latency_ns?.mean,
    total.latency_ns?.p99,
    total.latency_ns?.max,
  ];
  const own = point.hosts.flatMap((host) => {
    const began = [host.skew_ns, host.offset_ns, host.offset_bound_ns, host.gang_cpu_percent, host.gang_memory_bytes];
    const totals = Object.entries(host.totals) as [Op, Total][];
    if (totals.length === 0) return [[host.name, host.status, ...Array<null>(8).fill(null), ...began]];
    return totals.map(([op, total]) => [host.name, host.status, ...figures(total, op, chosen.has(host.name)), ...began]);
  });
  const nothing = Array<null>(5).fill(null);
  // Percentiles of some hosts cannot be had from theirs; rates, errors, means and the largest can.
  const some = (op: Op) => {
    const weighed = sum(op, (total) => total.count * (total.latency_ns?.mean ?? 0)) / Math.max(1, sum(op, (total) => total.count));
    const largest = Math.max(...counted.map((host) => host.totals[op]?.latency_ns?.max ?? 0));
    return [op, sum(op, (t) => t.iops), sum(op, (t) => t.bytes_per_s), 100, sum(op, (t) => t.errors), weighed, null, largest, ...nothing];
  };
  const label = whole ? "all hosts" : `${counted.length} hosts`;
  const sums = (Object.entries(point.totals) as [Op, Total][]).map(([op, total]) =>
    whole ? [label, point.status, ...figures(total, op, true), ...nothing] : [label, point.status, ...some(op)],
  );
  const latency = ["mean", "p99", "max"].map((key) => ({ heading: `${key}, µs`, scale: 1e-3 }));
  return tableElement({
    caption: `Hosts side by side; began counts from the common instant, a clock ahead from that of the host that started all`,
    columns: [
      { heading: "Host" },
      { heading: "Status" },
      { heading: "Operation" },
      { heading: perSecond(point) },
      { heading: "MB/s", scale: 1e-6 },
      { heading: "Share, %" },
      { heading: "Errors" },
      ...latency,
      { heading: "Began after, µs", scale: 1e-3 },
      { heading: "Clock ahead, µs", scale: 1e-3 },
      { heading: "± µs", scale: 1e-3 },
      { heading: "Gang, CPU %" },
      { heading: "Gang, MiB", scale: 1 / (1 << 20) },
    ],
    rows: [...own, ...sums],
  });
}

/** How busy the components of a modelled array were. */
function componentTable({ components }: Point): HTMLElement | null {
  if (components.length === 0) return null;
  const percent = (share: number | null) => (share === null ? null : 100 * share);
  const amplified = components.some((one) => one.write_amplification !== null);
  return tableElement({
    caption: "Components of the array, the busiest first (modelled)",
    columns: [
      { heading: "Component" },
      { heading: "Kind" },
      { heading: "Busy, %" },
      { heading: "Busiest, %" },
      { heading: "Operations/s" },
      { heading: "MB/s", scale: 1e-6 },
      { heading: "Present" },
      { heading: "Hits, %" },
      ...(amplified ? [{ heading: "Write amplification" }] : []),
    ],
    rows: components.map((one) => {
      const cache = one.hit_share !== null;
      const [busy, busiest, present] = cache ? [null, null, null] : [percent(one.utilisation), percent(one.busiest), one.queue];
      const name = one.count > 1 ? `${one.count} × ${one.name}` : one.name;
      const own = amplified ? [one.write_amplification] : [];
      return [name, one.kind, busy, busiest, one.operations_per_s, one.bytes_per_s, present, percent(one.hit_share), ...own];
    }),
  });
}

function errorList(point: Point): HTMLElement | null {
  const rows = Object.entries(point.errors).flatMap(([op, kinds]) => Object.entries(kinds).map(([kind, count]) => [kind, op, count]));
  return rows.length === 0
    ? null
    : tableElement({ caption: "I/O errors", columns: [{ heading: "Error" }, { heading: "Operation" }, { heading: "Count" }], rows });
}

function definition(point: Point): HTMLElement {
  const text = JSON.stringify({ workload: point.definition, job: point.options, engine: point.engine }, null, 2);
  return element("details", { class: "data" }, element("summary", {}, "Job definition"), element("pre", { tabindex: 0 }, text));
}
