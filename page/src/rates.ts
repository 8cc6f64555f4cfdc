// Rates in what people call them: I/Os and transactions in a second, queries in an hour.
//
// Model: a point or subject says its noun and how many of its unit a rate of one per second is. Charts and tables of subjects show rates in
// that unit, so that axes have round numbers of it.

import { rate } from "./format";
import type { Estimate, Subject } from "./model";

export const IOPS = "IOPS";

/** `68.3 kIOPS`, `63.7 k queries per hour`; `value` is in the unit of the noun. */
export const ratePhrase = (value: number | null | undefined, noun: string) =>
  noun === IOPS ? rate(value, IOPS) : `${rate(value)} ${noun}`;

/** What the rates of these are called; loads that are called differently are no I/Os for that. */
export function nounOf(subjects: { rate_noun: string }[]): string {
  const nouns = [...new Set(subjects.map(({ rate_noun }) => rate_noun))];
  return nouns.length === 1 ? (nouns[0] as string) : IOPS;
}

/** The subject with its rates in the unit of its noun. */
export function inNoun(subject: Subject): Subject {
  const factor = subject.rate_factor;
  if (factor === 1) return subject;
  const times = (found: Estimate): Estimate => ({
    ...found,
    value: found.value * factor,
    low: found.low === null ? null : found.low * factor,
    high: found.high === null ? null : found.high * factor,
  });
  const { lines, mark, knee, saturation } = subject;
  return {
    ...subject,
    rate_factor: 1,
    lines: lines.map((line) => ({ ...line, points: line.points.map((point) => ({ ...point, iops: times(point.iops) })) })),
    mark: mark && {
      ...mark,
      iops: mark.iops * factor,
      interval: mark.interval && [mark.interval[0] * factor, mark.interval[1] * factor],
      crossing: mark.crossing === null ? null : mark.crossing * factor,
    },
    knee: knee && { ...knee, iops: knee.iops * factor },
    saturation: saturation && { ...saturation, iops: times(saturation.iops) },
  };
}
