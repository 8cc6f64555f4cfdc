// The view model as `python/plimsoll/reports/view.py` writes it: plain numbers, units in the names. Keep both in step.

export type Op = "read" | "write" | "trim" | "flush";
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
  groups: Group[];
  points: Point[];
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
  highest_iops: Extreme | null;
  highest_bytes_per_s: Extreme | null;
  lowest_p99_ns: Extreme | null;
  highest_p99_ns: Extreme | null;
}

export interface Extreme {
  value: number;
  point: number;
  op?: Op;
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

/** Mean and extremes of n repeats. */
export interface Spread {
  mean: number;
  min: number;
  max: number;
  n: number;
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
  streams: Record<string, ByOp<Total>>;
  parts: Record<string, ByOp<Total>>;
  flags: Flag[];
  timeline: Timeline | null;
  host: HostTimeline | null;
  definition: { [key: string]: Json };
  options: { [key: string]: Json };
  engine: { [key: string]: Json };
}

export interface Total {
  count: number;
  iops: number;
  bytes: number;
  bytes_per_s: number;
  errors: number;
  latency_ns: Latency | null;
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
