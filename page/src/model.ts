// The view model, made by dev/page_model.py from the records of python/plimsoll/reports/view: edit those, then `make bless`.
// Plain numbers, units in the names.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type ByOp<T> = Partial<Record<Op, T>>;

/** The whole report. */
export interface Report {
  schema: "plimsoll.report/1";
  runs: Run[];
  configurations: Configuration[];
  answer: Answer;
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
  prices: Prices | null;
  drivers: DriverSections;
}

/** One run. */
export interface Run {
  label: string;
  status: string;
  created: string | null;
  command: string[] | string | null;
  host: Record<string, Json>;
  targets: Record<string, Json>;
  versions: Record<string, Json>;
  calibration: Json;
}

/** One of the things that the report shows side by side. */
export interface Configuration {
  label: string;
  run: number;
  target: string;
  modelled: boolean;
}

/** What the page begins with. */
export interface Answer {
  title: string;
  sentence: string;
  cards: Card[];
}

/** A figure of the answer, and the point that it was read from. */
export interface Card {
  label: string;
  value: string;
  detail: string;
  point: number | null;
}

/** What the first sentences of the report are made of. */
export interface Verdict {
  points: number;
  status: Partial<Record<Status, number>>;
  modelled: number;
  errors: number;
  flagged: Flagged;
  unflagged: number;
  highest_iops: Extreme | null;
  highest_bytes_per_s: Extreme | null;
  lowest_p99_ns: Extreme | null;
  highest_p99_ns: Extreme | null;
  /** A sentence per modelled configuration: which components limited its points. */
  limits: string[];
}

export type Status = "complete" | "interrupted" | "failed" | "incomplete";

/** Points with a flag of each severity. */
export interface Flagged {
  invalid: number;
  doubt: number;
  note: number;
}

/** Which point holds an extreme. */
export interface Extreme {
  value: number;
  point: number;
  op?: Op;
  /** A lower bound: requests had no answer when the measured time ended. */
  at_least?: boolean;
}

export type Op = "read" | "write" | "trim" | "flush" | FileOp | QueryOp | TransactionOp | MailOp;

/** Operations on files, in the order of every table. */
export const FILE_OPS = ["create", "open", "close", "access", "stat", "setattr", "rename", "copy", "move", "delete", "mkdir", "rmdir"] as const;
export type FileOp = (typeof FILE_OPS)[number];

/** Queries and refresh functions of decision support, by their numbers. */
export const QUERY_OPS = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17", "q18", "q19", "q20", "q21", "q22", "rf1", "rf2"] as const;
export type QueryOp = (typeof QUERY_OPS)[number];

/** Transactions of order entry, in the order of every table. */
export const TRANSACTION_OPS = ["new-order", "payment", "order-status", "delivery", "stock-level"] as const;
export type TransactionOp = (typeof TRANSACTION_OPS)[number];

/** Tasks of mail users, but for those whose words are operations on files as well. */
export const MAIL_OPS = ["login", "check-inbox", "send", "reply", "reply-all", "forward", "search", "calendar", "resolve"] as const;
export type MailOp = (typeof MAIL_OPS)[number];

/** A flag, with all points that carry it. */
export interface FlagKind {
  name: string;
  severity: Severity;
  points: FlaggedPoint[];
}

export type Severity = "invalid" | "doubt" | "note";

/** What a flag says of one point. */
export interface FlaggedPoint {
  point: number;
  message: string;
  advice: string;
}

/** The workloads of one access pattern. */
export interface Group {
  name: GroupName;
  profiles: Profile[];
}

export type GroupName = "sequential" | "random" | "combined" | "other";

/** One workload. */
export interface Profile {
  workload: string;
  title: string;
  /** One per configuration. */
  cells: (Cell | null)[];
}

/** The bars of one workload in one configuration. */
export interface Cell {
  points: number[];
  status: Status;
  ops: ByOp<Bars>;
  /** Of all operations together. */
  all: Rates;
}

/** What of one operation has bars. */
export interface Bars {
  iops: Spread | null;
  bytes_per_s: Spread | null;
  mean_ns: Spread | null;
  p50_ns: Spread | null;
  p99_ns: Spread | null;
  p999_ns: Spread | null;
  max_ns: Spread | null;
}

/** Mean and extremes of n repeats; a single measurement has the 95 % interval it was stored with, if any. */
export interface Spread {
  mean: number;
  min: number;
  max: number;
  n: number;
  interval?: [number, number];
}

/** Rates of all operations together. */
export interface Rates {
  iops: Spread | null;
  bytes_per_s: Spread | null;
}

/** The bars of one set of settings. */
export interface Slice {
  settings: Settings;
  /** Above 0 where another experiment measured the same workloads under the same settings. */
  layer: number;
  groups: Group[];
}

/** What an experiment gave a point, by option. */
export type Settings = Record<string, Json>;

/** One stored result. */
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
  cache: CacheState;
  ended: Ended;
  /** One entry for each stream that replays a trace. */
  replay: Replay[];
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
  group: GroupName;
  purpose: string | null;
  expect: string | null;
  totals: ByOp<Total>;
  /** Rates of all operations together, without those that merely come with others; empty when nothing was measured. */
  together: Together;
  /** The time that the totals cover; null when nothing was measured. */
  measured_s: number | null;
  streams: Record<string, ByOp<Total>>;
  parts: Record<string, ByOp<Total>>;
  flags: Flag[];
  timeline: Timeline | null;
  host: HostTimeline | null;
  definition: Record<string, Json>;
  options: Record<string, Json>;
  engine: Record<string, Json>;
  /** Of a modelled array: equal components put together, the busiest first. */
  components: ComponentSet[];
  /** Null of storage. */
  limit: Limit | null;
  /** What failed in a modelled array, when, and how long it was rebuilt, in words. */
  incidents: string | null;
  /** The same for lines in its time charts. */
  incident_labels: IncidentLabel[];
  /** By operation (`all` for all together) and metric. */
  estimates: Record<string, Record<string, Estimate>>;
  place: Place | null;
  verdict: ObjectiveVerdict | null;
}

/** What the caches held when the point began. */
export interface CacheState {
  state: string;
  how: string;
}

/** Why the measured time ended where it did. */
export interface Ended {
  by: string;
  how: string;
  /** What was to be reached before the limit, and how long it took to settle. */
  goal?: string;
  settled_s?: number;
}

/** How faithfully the trace of one stream was replayed; shares are of 1. What was not asked for, or is not known, is null. */
export interface Replay {
  stream: string;
  source: TraceSource;
  devices: string[];
  device_count: number;
  pace: string;
  speed: number | null;
  requests: RequestCounts;
  changes: Changes;
  lateness_ns: Quantiles | null;
  late: LateShares | null;
  waited: number | null;
  gaps: Gaps | null;
  outstanding: Outstanding;
  response_ns: ResponseTimes;
  seconds: Seconds;
  report: Record<string, Json> | null;
}

/** The file that a trace was read from. */
export interface TraceSource {
  name: string;
  format: string;
  sha256: string;
}

/** Of the requests of a trace. */
export interface RequestCounts {
  asked: number;
  issued: number;
  completed: number;
  failed: number;
}

/** How many requests the target made different from the trace. */
export interface Changes {
  moved: number;
  rounded: number;
  shortened: number;
}

/** Quantiles in nanoseconds. */
export interface Quantiles {
  mean: number;
  p50: number;
  p99: number;
  max: number;
}

/** Shares of the requests that left later than a limit; that of a tenth of the gap is of the requests that had a gap before them. */
export interface LateShares {
  "100us": number;
  "1ms": number;
  tenth_of_gap: number;
}

/** Times between requests. */
export interface Gaps {
  asked: Quantiles;
  achieved: Quantiles;
  distance: number;
}

/** Requests outstanding on average. */
export interface Outstanding {
  asked: number | null;
  achieved: number;
}

/** Mean service times in nanoseconds. */
export interface ResponseTimes {
  recorded: number | null;
  achieved: number | null;
}

/** How long all requests took. */
export interface Seconds {
  asked: number | null;
  achieved: number;
}

/** One operation over the measured time. */
export interface Total {
  count: number;
  iops: number;
  bytes: number;
  bytes_per_s: number;
  errors: number;
  latency_ns: Latency | null;
  service_ns: Latency | null;
  /** The latencies that are lower bounds, because requests had no answer when the measured time ended. */
  at_least?: string[];
}

/** A distribution of times, in nanoseconds. */
export interface Latency {
  mean: number;
  min: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  p999: number;
  max: number;
  stddev: number;
}

/** Rates of all operations together. */
export interface Together {
  iops?: number;
  bytes_per_s?: number;
}

/** A doubt about a point. */
export interface Flag {
  name: string;
  severity: Severity;
  message: string;
  advice: string;
}

/** A point over time, in columns. */
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

/** Figures of one operation, column by column; null for a column too short to have a rate. */
export interface Series {
  iops: (number | null)[];
  bytes_per_s: (number | null)[];
  p50_ns: (number | null)[];
  p99_ns: (number | null)[];
  max_ns: (number | null)[];
  errors: number[];
}

/** The distribution of the measured latencies of one operation. */
export interface Curve {
  op: Op;
  kind: "latency" | "service";
  count: number;
  /** `[nines, ns]`: 1 nine is the 90th percentile, 2 the 99th; the last is the maximum. */
  nines: [number, number][];
  /** `[percent, ns]`, ending with the maximum at 100. */
  levels: [number, number][];
}

/** CPU shares and device counters over time. */
export interface HostTimeline {
  start_s: number[];
  end_s: number[];
  cpu: Record<string, (number | null)[]>;
  devices: Record<string, Record<string, (number | null)[]>>;
}

/**
 * `count` equal components. `utilisation` is their mean, `busiest` their maximum; `queue` how many requests were at all of them together in
 * the mean; `hit_share` is of caches only, `write_amplification` of flash that was written to.
 */
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
  write_amplification: number | null;
}

/** What limited a modelled array, and how busy its components were, in words. */
export interface Limit {
  said: string;
  busy: string;
}

/** What failed, or became of it, at an instant, in a few words. */
export interface IncidentLabel {
  /** After the warm-up began. */
  time_s: number;
  label: string;
}

/** A figure with its 95 % confidence interval, where there is one. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
  /** The value is a lower bound, because requests had no answer. */
  at_least?: boolean;
}

/** Where a point stands in its experiment. */
export interface Place {
  experiment: string;
  kind: string;
  role: string;
  level: number | null;
  settings: Settings;
  /** How often the level was measured anew, in place of what it was. */
  again?: number;
}

/** Whether an objective holds. */
export interface ObjectiveVerdict {
  objective: string;
  holds: boolean;
  /** Whether the 95 % interval lies on one side of the limit. */
  settled: boolean;
  failed_by: string | null;
  /** Nothing keeps it from holding but what is not known: requests without an answer, or too few of them. */
  undecided?: boolean;
}

/** What was run. */
export interface Suite {
  title: string;
  purpose: string | null;
  source: string | null;
}

/** One experiment, with every workload and configuration it was carried out on. */
export interface Experiment {
  name: string;
  kind: string;
  objective: string | null;
  /** The option that makes the level, `queue_depth` for instance; null where there is none. */
  axis: string | null;
  subjects: Subject[];
}

/** A workload in a configuration. */
export interface Subject {
  lines: LoadLine[];
  mark: Mark | null;
  notes: string[];
  knee: Knee | null;
  saturation: Saturation | null;
  workload: string;
  title: string;
  group: GroupName;
  configuration: number;
  modelled: boolean;
  points: number[];
  sentences: string[];
  scaling: Scaling | null;
  steady: Steady | null;
  cells: MatrixCell[];
  /** Of storage, not of models; empty with fewer than two levels. */
  host: HostLevel[];
}

/** Response against throughput, by rising level. */
export interface LoadLine {
  op: string;
  metric: string;
  /** What the objective allows of this response. */
  limit_ns: number | null;
  points: LoadPoint[];
}

/** One level of a load line. */
export interface LoadPoint {
  level: number;
  iops: Estimate;
  bytes_per_s: Estimate;
  response: Estimate;
  offered_per_s: number | null;
  points: number[];
  verdict: ObjectiveVerdict | null;
}

/** A mark as `--json` and the page have it. */
export interface Mark {
  iops: number;
  bytes_per_s: number;
  level: number;
  /** Of the throughput in IOPS at which the response crosses the limit. */
  interval: [number, number] | null;
  objective: string;
  failed_by: string | null;
  next_level: number | null;
  crossing: number | null;
  notes: string[];
}

/** Where throughput over response is largest. */
export interface Knee {
  level: number;
  iops: number;
  /** Where the knee lies at an end of the line, or beyond it: that end. */
  at_edge: "lowest" | "highest" | null;
  bytes_per_s: number;
  method: string;
}

/** The throughput that more load does not raise. */
export interface Saturation {
  level: number | null;
  iops: Estimate;
  bytes_per_s: number;
  reached: boolean;
  method: string;
}

/** Speed-up with concurrency. */
export interface Scaling {
  points: ScalingPoint[];
  fit: ScalingFit | null;
  note: string | null;
}

/** One level against the lowest. */
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
  r_squared: number | null;
  peak: Peak | null;
  /** `[workers, IOPS, lowest, highest]`; the last two are null where the fit has no band. */
  curve: [number, number, number | null, number | null][];
}

/** Where the fitted curve is highest. */
export interface Peak {
  workers: number;
  iops: number;
}

/** Rounds until the storage was steady. */
export interface Steady {
  metric: string;
  op: string;
  rounds: Round[];
  attained: boolean;
  /** Null before there are enough rounds. */
  window: SteadyWindow | null;
}

/** The value of one round. */
export interface Round {
  round: number;
  value: number;
  point: number;
}

/** The rounds judged last: their mean and fitted line, and what the rule allows. */
export interface SteadyWindow {
  first: number;
  last: number;
  mean: number;
  /** Range of the values over the window, as a share of the mean. */
  range: number;
  /** Rise of the fitted line over the window, as a share of the mean. */
  rise: number;
  range_allowed: number;
  rise_allowed: number;
  /** The fitted line at the first and the last round. */
  fit: [number, number];
}

/** One combination of settings. */
export interface MatrixCell {
  settings: Settings;
  points: number[];
  /** By metric: iops, bytes_per_s, mean, p99 of all operations together. */
  values: Record<string, Estimate | null>;
}

/** What a point at a level cost the host: percent of CPU time, blocks of 4,096 bytes per second, seconds of real time. */
export interface HostLevel {
  level: number;
  user_percent: number | null;
  system_percent: number | null;
  idle_percent: number | null;
  wait_percent: number | null;
  steal_percent: number | null;
  blocks_in_per_s: number | null;
  blocks_out_per_s: number | null;
  real_s: number | null;
}

/** A source of published figures. */
export interface Published {
  name: string;
  title: string;
  source: string;
  note: string | null;
  claims: string[];
  rows: PublishedRow[];
}

/** A published figure, with what was measured. */
export interface PublishedRow {
  label: string;
  metric: string;
  op: string;
  /** In the unit in which results are stored: per second, bytes per second, nanoseconds. */
  value: number | null;
  /** As it was published. */
  text: string;
  workload: string | null;
  title: string | null;
  settings: Settings;
  configuration: number | null;
  measured: Estimate | null;
  points: number[];
}

/** A comparison as `compare --json` and the page have it. */
export interface Comparison {
  sides: Side[];
  baseline: string;
  /** One sentence: which side, how much, how sure; empty where nothing could be compared. */
  answer: string;
  points: ComparedPoint[];
  marks: ComparedMark[];
  findings: string[];
  notes: string[];
}

/** A side: what it is called, whether it has results of a model, and what it was measured on. */
export interface Side {
  name: string;
  modelled: boolean;
  targets: string[];
}

/** One figure of one point on one side against the baseline. */
export interface ComparedPoint {
  workload: string;
  title: string;
  group: string;
  experiment: string;
  side: string;
  /** The side's figure over the baseline's; null where there is none. */
  ratio: number | null;
  low: number | null;
  high: number | null;
  /** Null where there is no ratio. */
  verdict: ComparisonVerdict | null;
  p_adjusted: number | null;
  /** How long each point would have to last to tell, where it was too short; null where the scatter does not say. */
  needed_s: number | null;
  /** What an experiment gave the point, by option. */
  settings: Record<string, Json>;
  level: number | null;
  metric: string;
  op: string;
  /** A latency of a load that was not carried on some side: it says how long the load lasted. */
  rate_not_achieved: boolean;
  /** The baseline's and the side's. */
  values: [ComparedValue, ComparedValue];
}

export type ComparisonVerdict = "faster" | "slower" | "no difference shown" | "too short to tell";

/** A figure of one side, with its 95 % confidence interval, where there is one. */
export interface ComparedValue {
  value: number;
  low: number | null;
  high: number | null;
  batches: number;
  at_least: boolean;
}

/** The mark of one subject on one side against the baseline's. */
export interface ComparedMark {
  workload: string;
  title: string;
  group: string;
  experiment: string;
  side: string;
  /** The side's figure over the baseline's; null where there is none. */
  ratio: number | null;
  low: number | null;
  high: number | null;
  /** Null where there is no ratio. */
  verdict: ComparisonVerdict | null;
  p_adjusted: number | null;
  /** How long each point would have to last to tell, where it was too short; null where the scatter does not say. */
  needed_s: number | null;
  objective: string;
  note: string;
  /** The baseline's and the side's. */
  values: [Mark | null, Mark | null];
}

/** What sides cost, as `--json` and the page have it. */
export interface Prices {
  currency: string;
  prices: SidePrice[];
  rows: Priced[];
  findings: string[];
  notes: string[];
}

/** What a side costs. */
export interface SidePrice {
  side: string;
  price: StoredPrice;
}

/** What a side costs: an amount, empty or with its currency, for so many years, and the items that it is the sum of. */
export interface StoredPrice {
  amount: number;
  currency?: string | null;
  years?: number | null;
  items?: PriceItem[];
}

/** A line of a price list; `amount` is that of one piece. */
export interface PriceItem {
  name: string;
  amount: number;
  count: number;
}

/** The price per unit of one side's headline for one load. */
export interface Priced {
  side: string;
  /** Whether the side has results of a model. */
  modelled: boolean;
  experiment: string;
  workload: string;
  title: string;
  /** What the headline is: a mark at its objective, a rate, or what a driver calls it. */
  figure: string;
  /** What one of it is called: IOPS, MB/s, composite@SF. */
  unit: string;
  /** In that unit; null where the side holds no level. */
  value: number | null;
  low: number | null;
  high: number | null;
  /** No level failed, so that the value may be higher and the price per unit lower. */
  at_least: boolean;
  per_unit: number | null;
  per_unit_low: number | null;
  per_unit_high: number | null;
  /** Price per unit over that of the first side with a price: less is better. */
  ratio: number | null;
}

/** The sections of drivers, by the name that the key `driver` of a workload has. */
export interface DriverSections {
  files?: FileOperations;
}

/** File operations, by workload. */
export interface FileOperations {
  workloads: FileWorkload[];
}

/** The operations of one workload. */
export interface FileWorkload {
  title: string;
  modelled: boolean;
  rows: FileOperationRow[];
}

/** An operation at one setting. */
export interface FileOperationRow {
  op: Op;
  settings: Settings;
  cells: FileOperationCell[];
}

/** An operation in one configuration. */
export interface FileOperationCell {
  configuration: number;
  points: number[];
  per_s: Estimate;
  mean: Estimate | null;
  p99: Estimate | null;
}
