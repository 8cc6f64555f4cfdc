// Numbers into words, at the edge only: nanoseconds, bytes per second and rates come in, a reader's units go out.
// Three significant digits are shown; `exact` forms, for hover and tables, keep every digit that was stored.
//
//   duration(1_277_789)   "1.28 ms"        bandwidth(3.76e9)  "3,760 MB/s"        rate(68_312)  "68.3 k"

const NARROW = "\u202f";
const DASH = "–";

/** Three significant digits, thousands grouped: 1.50 says that the third digit is known. */
export function digits(value: number, significant = 3): string {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(significant)))) + 1e-9);
  const decimals = Math.min(Math.max(0, significant - 1 - magnitude), 12);
  // A tie goes to the even digit, as in the sentences that Python writes: 1592.5 is 1,592 in both.
  const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, roundingMode: "halfEven" };
  return value.toLocaleString("en-US", format as Intl.NumberFormatOptions);
}

/** The same format for the ticks of an axis, whose values are round: no trailing zeros, and zero without a unit. */
export function tick(format: (value: number) => string): (value: number) => string {
  return (value) =>
    value === 0
      ? "0"
      : format(value)
          .replace(/(\.\d*?)0+(?!\d)/, "$1")
          .replace(/\.(?!\d)/, "");
}

/** Nanoseconds as ns, µs, ms or s. */
export function duration(ns: number | null | undefined): string {
  if (ns == null) return DASH;
  const [divisor, unit] = ns < 999.5 ? [1, "ns"] : ns < 999_500 ? [1e3, "µs"] : ns < 999_500_000 ? [1e6, "ms"] : [1e9, "s"];
  return `${digits(ns / (divisor as number))}${NARROW}${unit}`;
}

/** A latency that may be a lower bound: `≥ 16.0 s`. */
export const bounded = (ns: number | null | undefined, atLeast: boolean | undefined) => (atLeast ? `≥${NARROW}${duration(ns)}` : duration(ns));

/** A rate with the prefixes k and M, before a unit if there is one: `68.3 k`, `68.3 kIOPS`. */
export function rate(value: number | null | undefined, unit = ""): string {
  if (value == null) return DASH;
  if (value >= 999_500) return `${digits(value / 1e6)}${NARROW}M${unit}`;
  if (value >= 9_999.5) return `${digits(value / 1e3)}${NARROW}k${unit}`;
  return `${digits(value, value < 1000 ? 3 : 4)}${unit && NARROW}${unit}`;
}

/** Bytes per second in MB/s of 10^6 bytes, never with another prefix, so that a column can be compared by eye. */
export function megabytes(value: number | null | undefined): string {
  return value == null ? DASH : digits(value / 1e6, value >= 1e9 ? 4 : 3);
}

export const bandwidth = (value: number | null | undefined) => (value == null ? DASH : `${megabytes(value)}${NARROW}MB/s`);

/** Bytes with binary prefixes, as sizes of memory and devices are meant. */
export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [size, unit] = [value, 0];
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${tick((exactly) => digits(exactly, 4))(size)}${NARROW}${units[unit]}`;
}

/** Seconds since the start of a point. */
export function seconds(value: number): string {
  return `${value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : 1 })}${NARROW}s`;
}

export function percent(value: number | null | undefined): string {
  return value == null ? DASH : `${digits(value)}${NARROW}%`;
}

/** A percentile given in nines: 0 is the minimum, 1 is 90, 2 is 99, 3 is 99.9. */
export function nines(value: number): string {
  const share = 100 * (1 - 10 ** -value);
  return share.toFixed(value <= 1 ? 0 : Math.min(6, Math.ceil(value - 1e-9) - (Number.isInteger(value) ? 2 : 1)));
}

/** Every stored digit, thousands grouped. */
export function exact(value: number, unit: string): string {
  return `${value.toLocaleString("en-US", { maximumFractionDigits: 6 })}${unit ? ` ${unit}` : ""}`;
}

/** `2026-11-21T03:44:10+00:00` as `21 November 2026, 03:44`, in the zone it was written in. */
export function instant(iso: string | null): string {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(iso ?? "");
  if (!match) return iso ?? DASH;
  const months = "January February March April May June July August September October November December".split(" ");
  return `${Number(match[3])} ${months[Number(match[2]) - 1]} ${match[1]}, ${match[4]}`;
}

/** `1 point`, `2 points`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
