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
  /** What the kinds of experiments that points belong to are called, by their names. */
  kinds: Record<string, string>;
  published: Published[];
  comparison: Comparison | null;
  prices: Prices | null;
  /** Where Plimsoll laid the storage out. */
  layouts: Layout[];
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

export type Op = "read" | "write" | "trim" | "flush" | FileOp | QueryOp | TransactionOp | MailOp | StoreOp | StepOp;

/** Operations on files, in the order of every table. */
export const FILE_OPS = ["create", "open", "close", "access", "stat", "setattr", "rename", "copy", "move", "delete", "mkdir", "rmdir", "deliver"] as const;
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

/** Requests of a mail store that are not its databases' own, in the order of every table. */
export const STORE_OPS = ["log-read", "log-write", "maintenance-read", "replication-read"] as const;
export type StoreOp = (typeof STORE_OPS)[number];

/** Analytics workflows, and their steps in order. */
export type StepOp = "workflow" | "data-step" | "iterate" | "format" | "index" | "sort" | "summary";

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
  /** What people call the rate of this load, and in how many seconds of it one is done: `IOPS` and 1. */
  rate_noun: string;
  rate_factor: number;
  /** The time that the totals cover; null when nothing was measured. */
  measured_s: number | null;
  streams: Record<string, ByOp<Total>>;
  parts: Record<string, ByOp<Total>>;
  /** The hosts that measured together; empty for a point of one host. */
  hosts: Host[];
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
  place: Coordinates | null;
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

/** What one host of several had to do with a point. */
export interface Host {
  name: string;
  status: string;
  error: string | null;
  target: string;
  totals: ByOp<Total>;
  /** How long after the common instant its last thread began. */
  skew_ns: number | null;
  /** How far its clock is ahead of the one that started all, and how far from the truth that can be. */
  offset_ns: number | null;
  offset_bound_ns: number | null;
  /** What carrying the gang cost it meanwhile: percent of one processor, and memory. */
  gang_cpu_percent: number | null;
  gang_memory_bytes: number | null;
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
 * the mean; `hit_share` is of caches only, `wasted_share` of those into which was read ahead: the part that gave way before anybody asked
 * for it; `write_amplification` is of flash that was written to.
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
  wasted_share: number | null;
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
export interface Coordinates {
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
  /** Whether people speak of it in MB/s. */
  in_bytes: boolean;
  /** What its rate is called otherwise, and how many of that unit one per second is: `IOPS` and 1. */
  rate_noun: string;
  rate_factor: number;
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
  user_percent: number | null;
  system_percent: number | null;
  idle_percent: number | null;
  wait_percent: number | null;
  steal_percent: number | null;
  blocks_in_per_s: number | null;
  blocks_out_per_s: number | null;
  real_s: number | null;
  level: number;
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
  /** Of workloads that are modelled on a published benchmark, what their figures are not comparable with. */
  derived: Record<string, string>;
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
  /** How often each point would have to be measured to tell, where it asks for a list once and more time gives nothing. */
  needed_repeats: number | null;
  /** What an experiment gave the point, by option. */
  settings: Record<string, Json>;
  level: number | null;
  metric: string;
  op: string;
  /** A latency of a load that was not carried on some side: it says how long the load lasted. */
  rate_not_achieved: boolean;
  /** The baseline's and the side's. */
  values: [ComparedValue, ComparedValue];
  /** Between what the ratio lies given what nobody has looked up of modelled sides; null without draws of both. */
  interval: DrawnRatio | null;
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

/** As programs read it. */
export interface DrawnRatio {
  low: number;
  high: number;
  level: number;
  draws: number;
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
  /** How often each point would have to be measured to tell, where it asks for a list once and more time gives nothing. */
  needed_repeats: number | null;
  objective: string;
  note: string;
  /** What people speak of these loads in. */
  noun: string;
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

/** One layout, with the sides that were measured on it. */
export interface Layout {
  sides: string[];
  name: string;
  title: string;
  members: string[];
  /** A text for each way in which its volumes are striped; none of what is not. */
  stripes: string[];
  /** What its file asks for, a line per layer and table. */
  options: string[];
  /** What was made, in its order. */
  made: string[];
  /** What does not fit, with what would. */
  remarks: string[];
}

/** The sections of drivers, by the name that the key `driver` of a workload has, with `_` for `-`. */
export interface DriverSections {
  files?: FileOperations;
  analytics?: AnalyticsWorkflows;
  io_test?: IoTest;
  mail?: MailUsers;
  mailstore?: MailStores;
  decision_support?: DecisionSupport;
  order_entry?: OrderEntry;
  database_durability?: DatabaseDurability;
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

/** Analytics workflows on all sides; `banner` has to stand wherever their figures do. */
export interface AnalyticsWorkflows {
  banner: string;
  /** What is asked of a file system for each core: what for, and bytes per second. */
  asked_per_core: [string, number][];
  /** Blocks are told per so many seconds. */
  summary_s: number;
  sides: WorkflowSide[];
}

/** One configuration at one setting. */
export interface WorkflowSide {
  configuration: number;
  title: string;
  settings: Settings;
  /** Of the workflows: rows, memory, buffer and what else was asked for, as texts. */
  asked: [string, string][];
  cores: number | null;
  levels: WorkflowLevel[];
  fit: WorkflowFit | null;
  /** Why there is no fit. */
  fit_note: string | null;
  ended_at: number | null;
  /** Kernel names of the target's devices. */
  devices: string[];
}

/** A number of workflows: means over its iterations; null where nothing counts. */
export interface WorkflowLevel {
  workflows: number;
  /** The points of its iterations, the drawn one first. */
  points: number[];
  iterations: number;
  failed: number;
  wrong: number;
  workflow_cpu_s: number | null;
  workflow_real_s: number | null;
  total_cpu_s: number | null;
  total_real_s: number | null;
  user_percent: number | null;
  system_percent: number | null;
  idle_percent: number | null;
  wait_percent: number | null;
  /** Of 4,096 bytes, per 2 seconds. */
  blocks_in: number | null;
  blocks_out: number | null;
  bytes_in_per_s: number | null;
  bytes_out_per_s: number | null;
  /** What the programs moved, the page cache included. */
  moved_in_per_s: number | null;
  moved_out_per_s: number | null;
  per_hour: Estimate;
  bytes_per_s: Estimate | null;
  per_core: Estimate | null;
  /** Against each of the published figures, in their order. */
  verdicts: string[];
  stretch: number | null;
  limited_by: string | null;
  /** Whether blocks are of the target's devices, and not of the whole host. */
  of_devices: boolean;
  lanes: WorkflowLane[];
}

/** What one workflow did. `ended` says what became of it where that was not its end. */
export interface WorkflowLane {
  name: string;
  spans: WorkflowSpan[];
  ended: string;
}

/** A step under way, in seconds from the start of the point. */
export interface WorkflowSpan {
  name: string;
  start_s: number;
  end_s: number;
}

/** The Universal Scalability Law over workflows. */
export interface WorkflowFit {
  contention: Estimate;
  coherency: Estimate;
  peak: number | null;
  /** `[workflows, workflows per hour, lowest, highest]`; the last two are null without a band. */
  curve: [number, number, number | null, number | null][];
}

/** The I/O test on all sides. */
export interface IoTest {
  /** What is asked of a file system for each core: what for, and bytes per second. */
  asked_per_core: [string, number][];
  sides: IoTestSide[];
}

/** One configuration with one set of files. */
export interface IoTestSide {
  configuration: number;
  cores: number;
  streams: number;
  file_bytes: number;
  memory_bytes: number;
  content: string;
  write: IoTestPhase | null;
  read: IoTestPhase | null;
}

/** One phase on one side; rates are bytes per second. */
export interface IoTestPhase {
  per_core: Estimate;
  together_bytes_per_s: number;
  fastest_s: number;
  slowest_s: number;
  repeats: number;
  /** Against each of the published figures, in their order. */
  verdicts: string[];
}

/** Mail users on all sides. */
export interface MailUsers {
  sides: MailSide[];
}

/** One configuration at one setting. */
export interface MailSide {
  configuration: number;
  points: number[];
  settings: Settings;
  users: number;
  score: Estimate | null;
  per_s: Estimate | null;
  tasks: MailTask[];
  letters: number;
  handover_p95_ns: number | null;
  deliveries_per_s: number | null;
  delay_p50_ns: number | null;
  delay_p95_ns: number | null;
  way: MailWay[];
  queue_mean: number | null;
  queue_max: number | null;
  /** Seconds from the start, and letters in the queue; of the first repeat. */
  queue_course: [number, number][];
  storage: MailStorage | null;
  kills: number;
  /** Of the first repeat. */
  kill_course: MailKill[];
  seconds: number;
  account: MailAccount;
  taken: number;
  repeated: number;
  /** What became of letters that are not where they belong; null when all are. */
  astray: string | null;
  facts: [string, string][];
}

/** A task: how often, how long, how much it counts, and how often it failed. */
export interface MailTask {
  op: Op;
  weight: number;
  per_s: number;
  mean: Estimate | null;
  p95: Estimate | null;
  errors: number;
}

/** A part of a letter's way and how long it took on average, in nanoseconds. */
export interface MailWay {
  what: string;
  mean_ns: number;
}

/** What the devices below the mailboxes did, summed; `write_ns` is the mean time of a write. */
export interface MailStorage {
  writes_per_s: number;
  write_bytes_per_s: number;
  flushes_per_s: number;
  reads_per_s: number;
  write_ns: number | null;
}

/** A kill of a server: seconds from the start, how long until it answered again, and letters in the queue then. */
export interface MailKill {
  server: string;
  at_s: number;
  down_s: number;
  queued: number;
}

/** What became of deliveries that were accepted. */
export interface MailAccount {
  taken: number;
  found: number;
  lost: number;
  repeated: number;
  copied: number;
  /** Doubled without a reason, damaged, or in a mailbox that they were not sent to. */
  wrong: number;
}

/** Mail stores, by workload. */
export interface MailStores {
  derived: string;
  rule: string;
  workloads: StoreWorkload[];
}

/** One workload: its marks, a bar each, and its sheets. */
export interface StoreWorkload {
  title: string;
  modelled: boolean;
  marks: StoreMark[];
  sheets: StoreSheet[];
}

/** What one configuration carries; `at_least` where no level was too much. */
export interface StoreMark {
  configuration: number;
  transfers_per_s: number;
  interval: [number, number] | null;
  threads: number;
  crossed_first: string | null;
  at_least: boolean;
  reads_per_s: number;
  writes_per_s: number;
  read_mean_ns: number | null;
  write_mean_ns: number | null;
}

/** One point as the original reports it. */
export interface StoreSheet {
  configuration: number;
  point: number;
  settings: Settings;
  passed: boolean | null;
  limits_source: string;
  checks: StoreCheck[];
  summary: StoreFact[];
  sizing: StoreFact[];
  parameters: StoreFact[];
  transactional: StoreRow[];
  maintenance: BackgroundRow[];
  replication: BackgroundRow[];
  together: StoreRow[];
  host: StoreFact[];
  /** What a recovery or tuning found. */
  recovered: string[];
  warnings: string[];
}

/** One limit of the generation, and what was found. */
export interface StoreCheck {
  database: string;
  op: string;
  figure: string;
  limit_ns: number;
  value_ns: number | null;
  holds: boolean;
}

/** A name and a value in words. */
export interface StoreFact {
  name: string;
  value: string;
}

/** The twelve columns of one database, or of all. */
export interface StoreRow {
  name: string;
  read_mean_ns: number | null;
  write_mean_ns: number | null;
  reads_per_s: number;
  writes_per_s: number;
  read_bytes: number | null;
  write_bytes: number | null;
  log_read_mean_ns: number | null;
  log_write_mean_ns: number | null;
  log_reads_per_s: number;
  log_writes_per_s: number;
  log_read_bytes: number | null;
  log_write_bytes: number | null;
}

/** Reads in the background of one database, or of all. */
export interface BackgroundRow {
  name: string;
  reads_per_s: number;
  read_bytes: number | null;
}

/** Decision support on all sides; `banner` has to stand wherever its figures do. */
export interface DecisionSupport {
  banner: string;
  /** What each metric says. */
  meanings: Record<string, string>;
  sides: DecisionSide[];
}

/** One configuration at one setting. */
export interface DecisionSide {
  configuration: number;
  /** The point that is reported. */
  point: number;
  settings: Settings;
  scale: number;
  streams: number;
  metrics: DecisionMetrics;
  /** Of the other run; null where there was one. */
  other: DecisionMetrics | null;
  queries_per_hour: number | null;
  mean_ns: number | null;
  p95_ns: number | null;
  load_s: number | null;
  load_bytes: number | null;
  data_bytes: number | null;
  memory_bytes: number | null;
  queries: DecisionQuery[];
  lanes: DecisionLane[];
  /** Streams that are not drawn. */
  left_out: number;
  phases: DecisionPhase[];
  /** Kernel names of the target's devices. */
  devices: string[];
}

/** At the scale of the side; null for a test that was not carried out to its end. */
export interface DecisionMetrics {
  power: number | null;
  throughput: number | null;
  composite: number | null;
}

/** A query or a refresh. */
export interface DecisionQuery {
  name: string;
  asks: string;
  alone_s: number | null;
  /** The mean of all streams. */
  beside_s: number | null;
  /** While it was alone. */
  storage: DecisionStorage;
  /** User, system, iowait: percent of all processors' time. */
  cpu: [number, number, number] | null;
  /** Null where nobody compared the answer. */
  right: boolean | null;
}

/** What the target's devices did meanwhile; null where nobody saw it. */
export interface DecisionStorage {
  bytes_read: number | null;
  bytes_written: number | null;
  spill_bytes: number | null;
  read_request_bytes: number | null;
  write_request_bytes: number | null;
  r_await_ms: number | null;
  w_await_ms: number | null;
  queue_mean: number | null;
  /** Of the time in which some task stood waiting for storage. */
  waiting_share: number | null;
}

/** What one stream did, one query after the other. */
export interface DecisionLane {
  name: string;
  spans: DecisionSpan[];
}

/** A query under way. */
export interface DecisionSpan {
  name: string;
  start_s: number;
  end_s: number;
}

/** A test as a whole. */
export interface DecisionPhase {
  name: string;
  seconds: number;
  storage: DecisionStorage;
  /** Of the time of sessions in which they waited for locks; null where the engine does not tell. */
  locks_share: number | null;
  /** Of all processors' time. */
  busy_share: number | null;
  limited_by: string | null;
}

/** Order entry on all sides; `banner` has to stand wherever its figures do. */
export interface OrderEntry {
  banner: string;
  sides: OrderSide[];
  /** The configurations whose settings are known. */
  engines: number[];
  settings: OrderSetting[];
}

/** One configuration at one setting. */
export interface OrderSide {
  configuration: number;
  points: number[];
  settings: Settings;
  terminals: number;
  new_orders_per_min: Estimate | null;
  per_s: Estimate | null;
  kinds: OrderKind[];
  waits: OrderWait[];
  limited_by: string | null;
  retries: number;
  commits: number;
  /** New orders that asked for an item that does not exist. */
  rolled_back: number;
  wal_bytes: number | null;
  wal_bytes_per_s: number | null;
  /** How long making a commit durable took, in nanoseconds. */
  flush_mean_ns: number | null;
  flush_p99_ns: number | null;
  /** How often the log was written into the tables, and old rows were cleared away. */
  checkpoints: number | null;
  vacuums: number | null;
  /** Null where nobody could look. */
  consistent: boolean | null;
}

/** A kind of transaction. */
export interface OrderKind {
  op: Op;
  per_min: number;
  mean: Estimate | null;
  p90: Estimate | null;
  p99: Estimate | null;
}

/** What transactions spent a share of their time on. */
export interface OrderWait {
  what: string;
  words: string;
  share: number;
}

/** A setting of the engines: its value on each of `OrderEntry.engines`, in their order; null where an engine has no such setting. */
export interface OrderSetting {
  name: string;
  values: (string | null)[];
}

/** Database durability on all sides. */
export interface DatabaseDurability {
  sides: DurabilitySide[];
}

/** One trial. */
export interface DurabilitySide {
  configuration: number;
  point: number;
  repeat: number;
  engine: string;
  kills: number;
  kills_asked: number;
  acknowledged: number;
  found: number;
  lost: number;
  halves: number;
  /** The shortest and the longest restart; null where it never opened again. */
  recovery_s: [number, number] | null;
  /** What was wrong, each in a few words; none when it kept everything. */
  faults: string[];
  rounds: DurabilityRound[];
  /** Version and settings that decide on it. */
  settings: [string, string][];
}

/** From a start of the database to its restart; instants are seconds from the start of the point. */
export interface DurabilityRound {
  number: number;
  begin_s: number | null;
  kill_s: number | null;
  /** Null where it did not open again. */
  open_s: number | null;
  recovery_s: number | null;
  /** In this round. */
  acknowledged: number;
  /** Of all rounds so far. */
  acknowledged_so_far: number;
  found: number;
  lost: number;
  under_way: string | null;
  became: string | null;
  /** In words; null when everything is there. */
  wrong: string | null;
}

/** The page of a choice. */
export interface ChoicePage {
  schema: "plimsoll.choice-page/1";
  title: string;
  sentence: string;
  /** What was asked, and what else is known of the choice: a label and words. */
  facts: Fact[];
  /** `price` or `drives`. */
  cost: "price" | "drives";
  currency: string;
  demanded_per_s: number;
  considered: number;
  rows: ChoiceRow[];
  fallen: FallenOut[];
}

/** A line of the answer. */
export interface Fact {
  label: string;
  words: string;
}

/** A candidate that was simulated. */
export interface ChoiceRow {
  name: string;
  carries: boolean;
  /** In the unit of the page's `cost`. */
  cost: number | null;
  drives: number;
  price: number | null;
  /** What it carries healthy, between what that lies given what nobody has looked up, and what that mostly follows from. */
  mark_per_s: number | null;
  low_per_s: number | null;
  high_per_s: number | null;
  mostly: string;
  /** Whether it carries the mark or more. */
  at_least: boolean;
  /** Whether no other candidate carries as much for less. */
  front: boolean;
  line: CandidatePoint[];
  /** The condition nearest to its limit in each state, in words. */
  healthy: string;
  degraded: string;
  rebuilding: string;
  rebuild: string;
  loss: string;
  limited_by: string;
  rejected: string;
}

/** A point of a load line: `over_limit` is the worst latency over its limit, None where the objective has none. */
export interface CandidatePoint {
  rate_per_s: number;
  over_limit: number | null;
  holds: boolean;
}

/** Candidates that fell out in one way. */
export interface FallenOut {
  how: string;
  candidates: NamedReason[];
}

/** A candidate and why it is not chosen. */
export interface NamedReason {
  name: string;
  reason: string;
}

/** A stored run in the list. */
export interface Entry {
  name: string;
  label: string | null;
  /** `unreadable` is a run of which something is damaged; `problem` says what. */
  status: RunStatus;
  problem: string | null;
  /** What it measured: a suite's title, else its workloads. */
  what: string;
  targets: string[];
  command: string;
  created: string | null;
  finished: string | null;
  /** Points that ended, and how many there are to be; None where results decide that. */
  points: number;
  planned: number | null;
  /** What its experiments found, in their own sentences. */
  found: string[];
  /** Points with a doubt or worse; None until they were counted. */
  doubts: number | null;
  modelled: boolean;
}

export type RunStatus = "running" | "complete" | "interrupted" | "failed" | "incomplete" | "unreadable";

/** A run as far as it has come. */
export interface Live {
  name: string;
  label: string;
  status: string;
  /** Points that ended, and how many there are to be; None where results decide that. */
  ended: number;
  planned: number | null;
  /** Seconds until its end, as far as that is known. */
  left_s: number | null;
  point: LivePoint | null;
}

/** The point that goes on. */
export interface LivePoint {
  /** As the report shows it, with its course over the newest intervals. */
  point: Point;
  /** What the experiment set for it: `queue_depth 4`. */
  settings: string;
  phase: Phase | null;
  passed_s: number;
  planned_s: number;
  errors: number;
  /** How far each of several hosts is; empty where one measures. */
  hosts: HostAt[];
}

export type Phase = "warmup" | "measure" | "drain" | "after";

/**
 * How far one of several hosts is in a point that goes on: getting ready, ready, measuring, ended, failed or lost; figures are those of its
 * newest interval.
 */
export interface HostAt {
  name: string;
  state: string;
  /** What is wrong, where something is. */
  why: string | null;
  passed_s: number;
  per_s: number | null;
  bytes_per_s: number | null;
  mean_ns: number | null;
}

/** What can be started, and what was. */
export interface ControlState {
  suites: ShippedSuite[];
  targets: GivenTarget[];
  started: StartedSuite[];
}

/** A suite that can be started, and how long its forms take. */
export interface ShippedSuite {
  name: string;
  title: string;
  full: string;
  quick: string;
}

/** A target that was given at start. */
export interface GivenTarget {
  name: string;
  /** Whether what is on it may be overwritten. */
  destroys: boolean;
  /** Whether it is being measured. */
  busy: boolean;
}

/** A suite that the page started; `said` is why it did not come to its end. */
export interface StartedSuite {
  number: number;
  suite: string;
  target: string;
  status: string;
  said: string | null;
}
