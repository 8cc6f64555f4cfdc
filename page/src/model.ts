// The view model as `python/plimsoll/reports/view/report.py` writes it: plain numbers, units in the names. Keep both in step.

/** Operations on files, in the order of every table. */
export const FILE_OPS = ["create", "open", "close", "access", "stat", "setattr", "rename", "copy", "move", "delete", "mkdir", "rmdir"] as const;
export type Op = "read" | "write" | "trim" | "flush" | (typeof FILE_OPS)[number];
export type Severity = "invalid" | "doubt" | "note";
export type Status = "complete" | "interrupted" | "failed" | "incomplete";
export type ByOp<T> = Partial<Record<Op, T>>;
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Report {
  schema: "plimsoll.report/1";
  runs: Run[];
  configurations: Configuration[];
  verdict: Verdict;
  flags: FlagKind[];
  /** The bar charts at first sight: those of the slice that holds the most points. */
  groups: Group[];
  /** One per set of settings that experiments gave the points of bars; a single one without settings elsewhere. */
  slices: Slice[];
  points: Point[];
  suite: Suite | null;
  experiments: Experiment[];
  published: Published[];
  comparison: Comparison | null;
}

export interface Slice {
  settings: Settings;
  /** Above 0 where another experiment measured the same workloads under the same settings. */
  layer: number;
  groups: Group[];
}

export type Settings = { [name: string]: Json };

export interface Suite {
  title: string;
  purpose: string | null;
  source: string | null;
}

/** A figure with its 95 % confidence interval, where there is one. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
  /** Whether the value is a lower bound, because requests had no answer. */
  at_least?: boolean;
}

export interface Run {
  label: string;
  status: Status | "running";
  created: string | null;
  command: string[] | string | null;
  host: { [key: string]: Json };
  targets: { [target: string]: Json };
  versions: { [key: string]: Json };
  calibration: Json;
}

export interface Configuration {
  label: string;
  run: number;
  target: string;
  modelled: boolean;
}

export interface Verdict {
  points: number;
  status: Partial<Record<Status, number>>;
  modelled: number;
  errors: number;
  flagged: Record<Severity, number>;
  unflagged: number;
  /** A sentence per modelled configuration: which components limited its points. */
  limits: string[];
  highest_iops: Extreme | null;
  highest_bytes_per_s: Extreme | null;
  lowest_p99_ns: Extreme | null;
  highest_p99_ns: Extreme | null;
}

export interface Extreme {
  value: number;
  point: number;
  op?: Op;
  /** A lower bound: requests had no answer when the measured time ended. */
  at_least?: boolean;
}

export interface FlagKind {
  name: string;
  severity: Severity;
  points: { point: number; message: string; advice: string }[];
}

export interface Flag {
  name: string;
  severity: Severity;
  message: string;
  advice: string;
}

export interface Group {
  name: "sequential" | "random" | "combined" | "other";
  profiles: Profile[];
}

export interface Profile {
  workload: string;
  title: string;
  /** One per configuration. */
  cells: (Cell | null)[];
}

export interface Cell {
  points: number[];
  status: Status;
  ops: ByOp<Bars>;
  /** Of all operations together. */
  all: Record<"iops" | "bytes_per_s", Spread | null>;
}

export type Measure = "iops" | "bytes_per_s" | "mean_ns" | "p50_ns" | "p99_ns" | "p999_ns" | "max_ns";
export type Bars = Record<Measure, Spread | null>;

/** Mean and extremes of n repeats; a single measurement has the 95 % interval it was stored with, if any. */
export interface Spread {
  mean: number;
  min: number;
  max: number;
  n: number;
  interval?: [number, number] | null;
}

/** Quantiles in nanoseconds. */
export interface Quantiles {
  mean: number;
  p50: number;
  p99: number;
  max: number;
}

/** How faithfully the trace of one stream was replayed; shares are of 1. What was not asked for, or is not known, is null. */
export interface Replay {
  stream: string;
  source: { name: string; format: string; sha256: string };
  pace: string;
  speed: number | null;
  requests: { asked: number; issued: number; completed: number; failed: number };
  changes: { moved: number; rounded: number; shortened: number };
  lateness_ns: Quantiles | null;
  late: { "100us": number; "1ms": number; tenth_of_gap: number } | null;
  waited: number | null;
  gaps: { asked: Quantiles; achieved: Quantiles; distance: number } | null;
  outstanding: { asked: number | null; achieved: number };
  response_ns: { recorded: number | null; achieved: number | null };
  seconds: { asked: number | null; achieved: number };
}

export interface Point {
  index: number;
  run: number;
  configuration: number;
  id: string;
  status: Status;
  error: string | null;
  started: string;
  modelled: boolean;
  offered_per_s: number | null;
  errors: Record<string, Record<string, number>>;
  workload: string;
  title: string;
  target: string;
  seed: number;
  repeat: number;
  duration_s: number;
  warmup_s: number;
  threads: number;
  queue_depth: number | null;
  arrival: string;
  group: Group["name"];
  purpose: string | null;
  expect: string | null;
  totals: ByOp<Total>;
  /** Rates of all operations together, without those that merely come with others; empty when nothing was measured. */
  together: { iops?: number; bytes_per_s?: number };
  /** The time that the totals cover; null when nothing was measured. */
  measured_s: number | null;
  streams: Record<string, ByOp<Total>>;
  parts: Record<string, ByOp<Total>>;
  flags: Flag[];
  timeline: Timeline | null;
  host: HostTimeline | null;
  definition: { [key: string]: Json };
  options: { [key: string]: Json };
  engine: { [key: string]: Json };
  /** Of a modelled array: equal components put together, the busiest first. */
  components: ComponentSet[];
  /** What limited a modelled array and how busy its components were, in words; null of storage. */
  limit: { said: string; busy: string } | null;
  /** What failed in a modelled array, when, and how long it was rebuilt, in words. */
  incidents: string | null;
  /** The same for lines in its time charts. */
  incident_labels: IncidentLabel[];
  /** By operation (`all` for all together) and metric. */
  estimates: Record<string, Record<string, Estimate>>;
  place: Place | null;
  cache: { state: string; how: string };
  ended: { by: string; how: string };
  verdict: ObjectiveVerdict | null;
  /** One entry for each stream that replays a trace. */
  replay: Replay[];
}

/** What failed, or became of it, at an instant, in a few words. */
export interface IncidentLabel {
  /** Seconds after the warm-up began. */
  time_s: number;
  label: string;
}

/** What equal components of a modelled array did. */
export interface ComponentSet {
  name: string;
  kind: string;
  count: number;
  utilisation: number;
  busiest: number;
  operations_per_s: number;
  bytes_per_s: number;
  queue: number;
  hit_share: number | null;
  /** Of flash that was written to: what its cells were programmed with over what was written to it. */
  write_amplification: number | null;
}

/** Where a point stands in its experiment. */
export interface Place {
  experiment: string;
  kind: Kind;
  role: "point" | "maximum" | "precondition" | "round";
  level: number | null;
  settings: Settings;
}

export interface ObjectiveVerdict {
  objective: string;
  holds: boolean;
  /** Whether the 95 % interval lies on one side of the limit. */
  settled: boolean;
  failed_by: string | null;
  /** Whether nothing keeps it from holding but what is not known: requests without an answer, or too few of them. */
  undecided?: boolean;
}

export interface Total {
  count: number;
  iops: number;
  bytes: number;
  bytes_per_s: number;
  errors: number;
  latency_ns: Latency | null;
  /** The latencies that are lower bounds, because requests had no answer when the measured time ended. */
  at_least?: string[];
  service_ns: Latency | null;
}

export type Latency = Record<"mean" | "min" | "p50" | "p90" | "p95" | "p99" | "p999" | "max" | "stddev", number>;

export interface Timeline {
  /** Intervals that make one column. */
  merged: number;
  start_s: number[];
  end_s: number[];
  warmup_end_s: number | null;
  measure_end_s: number | null;
  ops: ByOp<Series>;
  /** Per column `[first band, count, count, …]`; band b covers 10^(b/12) to 10^((b+1)/12) ns. */
  heat: ByOp<number[][]>;
  lag_p99_ns: (number | null)[] | null;
  curves: Curve[];
}

export interface Series {
  /** None for a column too short to have a rate. */
  iops: (number | null)[];
  bytes_per_s: (number | null)[];
  p50_ns: (number | null)[];
  p99_ns: (number | null)[];
  max_ns: (number | null)[];
  errors: number[];
}

export interface Curve {
  op: Op;
  kind: "latency" | "service";
  count: number;
  /** `[nines, ns]`: 1 nine is the 90th percentile, 2 the 99th; the last is the maximum. */
  nines: [number, number][];
  /** `[percent, ns]`, ending with the maximum at 100. */
  levels: [number, number][];
}

export interface HostTimeline {
  start_s: number[];
  end_s: number[];
  cpu: Record<string, (number | null)[]>;
  devices: Record<string, Record<string, (number | null)[]>>;
}

export type Kind = "single" | "steps" | "matrix" | "ramp" | "search" | "curve" | "scaling" | "steady" | "precondition";

/** One experiment, with every workload and configuration it was carried out on. */
export interface Experiment {
  name: string;
  kind: Kind;
  objective: string | null;
  /** The option that makes the level, `queue_depth` for instance; null where there is none. */
  axis: string | null;
  subjects: Subject[];
}

export interface Subject {
  workload: string;
  title: string;
  group: Group["name"];
  configuration: number;
  modelled: boolean;
  points: number[];
  sentences: string[];
  lines: LoadLine[];
  mark: Mark | null;
  knee: Knee | null;
  saturation: Saturation | null;
  scaling: Scaling | null;
  steady: Steady | null;
  cells: MatrixCell[];
  notes: string[];
}

/** Response against throughput, by rising level. */
export interface LoadLine {
  op: Op | "all";
  metric: string;
  /** What the objective allows of this response. */
  limit_ns: number | null;
  points: LoadPoint[];
}

export interface LoadPoint {
  level: number;
  iops: Estimate;
  bytes_per_s: Estimate;
  response: Estimate;
  offered_per_s: number | null;
  points: number[];
  verdict: ObjectiveVerdict | null;
}

export interface Mark {
  iops: number;
  bytes_per_s: number;
  level: number;
  /** Of the throughput in IOPS at which the response crosses the limit. */
  interval: [number, number] | null;
  objective: string;
  failed_by: string | null;
  next_level: number | null;
}

export interface Knee {
  level: number;
  iops: number;
  bytes_per_s: number;
  method: string;
  /** Where the knee lies at an end of the line, or beyond it: that end. */
  at_edge: "lowest" | "highest" | null;
}

export interface Saturation {
  level: number | null;
  iops: Estimate;
  bytes_per_s: number;
  reached: boolean;
  method: string;
}

export interface Scaling {
  points: ScalingPoint[];
  fit: ScalingFit | null;
  note: string | null;
}

export interface ScalingPoint {
  workers: number;
  iops: Estimate;
  speedup: number;
  /** Speed-up over workers: 1 is ideal. */
  efficiency: number;
  points: number[];
}

/** The Universal Scalability Law: X(N) = λ N / (1 + σ (N − 1) + κ N (N − 1)). */
export interface ScalingFit {
  contention: Estimate;
  coherency: Estimate;
  per_worker: Estimate;
  peak: { workers: number; iops: number } | null;
  /** `[workers, IOPS, lowest, highest]`; the last two are null where the fit has no band. */
  curve: [number, number, number | null, number | null][];
}

export interface Steady {
  metric: string;
  op: string;
  rounds: { round: number; value: number; point: number }[];
  attained: boolean;
  /** The rounds judged last: their mean and fitted line, and what the rule allows. Null before there are enough rounds. */
  window: SteadyWindow | null;
}

export interface SteadyWindow {
  first: number;
  last: number;
  mean: number;
  /** Range of the values and rise of the fitted line over the window, as shares of the mean. */
  range: number;
  rise: number;
  range_allowed: number;
  rise_allowed: number;
  /** The fitted line at the first and the last round. */
  fit: [number, number];
}

export interface MatrixCell {
  settings: Settings;
  points: number[];
  /** By metric: iops, bytes_per_s, mean, p99 of all operations together. */
  values: Record<string, Estimate | null>;
}

export interface Published {
  name: string;
  title: string;
  source: string;
  note: string | null;
  claims: string[];
  rows: PublishedRow[];
}

export interface PublishedRow {
  label: string;
  title: string | null;
  settings: Settings;
  op: string;
  metric: string;
  /** In the unit in which results are stored: per second, bytes per second, nanoseconds. */
  value: number | null;
  /** As it was published. */
  text: string;
  workload: string | null;
  configuration: number | null;
  measured: Estimate | null;
  points: number[];
}

export type ComparisonVerdict = "faster" | "slower" | "no difference shown";

/** The comparison as `python/plimsoll/analysis/comparison/comparison.py` writes it. */
export interface Comparison {
  sides: string[];
  baseline: string;
  points: ComparedPoint[];
  marks: ComparedMark[];
  findings: string[];
  notes: string[];
}

export interface ComparedPoint {
  workload: string;
  title: string;
  group: string;
  settings: Settings;
  level: number | null;
  metric: string;
  op: string;
  side: string;
  experiment: string;
  /** The side's figure over the baseline's; null where there is none. */
  ratio: number | null;
  low: number | null;
  high: number | null;
  /** Null where there is no ratio. */
  verdict: ComparisonVerdict | null;
  p_adjusted: number | null;
  /** A latency of a load that was not carried on some side: it says how long the load lasted. Absent in earlier reports. */
  rate_not_achieved?: boolean;
  /** The baseline's and the side's. */
  values: [Estimate, Estimate];
}

export interface ComparedMark {
  workload: string;
  title: string;
  side: string;
  experiment: string;
  objective: string;
  note: string;
  ratio: number | null;
  low: number | null;
  high: number | null;
  /** Null where there is no ratio. */
  verdict: ComparisonVerdict | null;
  p_adjusted: number | null;
  values: [Mark | null, Mark | null];
}
