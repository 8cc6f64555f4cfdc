// What each level of an experiment cost the host: CPU time by state, blocks in and out with their size, real time.

import { element } from "../element";
import type { Experiment, HostLevel, Report } from "../model";
import { optionWords, valueText } from "../settings";
import { tableElement, type Value } from "../table";
import { subjectHeading, subjectName } from "./names";

/** Other guests got so much of the CPU that it is worth a column. */
const STOLEN_FROM = 0.5;

/** Null where no levels were measured on storage. */
export function hostUseView(experiment: Experiment, report: Report): HTMLElement | null {
  const subjects = experiment.subjects.filter(({ host }) => host.length > 0);
  if (subjects.length === 0) return null;
  const stolen = subjects.some(({ host }) => host.some(({ steal_percent }) => (steal_percent ?? 0) >= STOLEN_FROM));
  const rows = subjects.flatMap((subject) =>
    subject.host.map((level): Value[] => [
      { content: subjectHeading(subject, experiment, report), value: subjectName(subject, experiment, report) },
      { content: valueText(experiment.axis, level.level), value: level.level },
      ...figures(level, stolen),
    ]),
  );
  const columns = [
    "Workload",
    optionWords(experiment.axis ?? "level"),
    "user, %",
    "system, %",
    "idle, %",
    "wait, %",
    ...(stolen ? ["steal, %"] : []),
    "blocks in/s",
    "blocks out/s",
    "real time, s",
  ].map((heading) => ({ heading }));
  const table = tableElement({ caption: "CPU time of the whole host, all programs together; blocks of 4,096 bytes", columns, rows });
  return element("details", { class: "data host-use" }, element("summary", {}, "What each level cost the host"), table);
}

function figures(level: HostLevel, stolen: boolean): Value[] {
  const shares = [level.user_percent, level.system_percent, level.idle_percent, level.wait_percent];
  const all = stolen ? [...shares, level.steal_percent] : shares;
  return [...all.map(rounded), ...[level.blocks_in_per_s, level.blocks_out_per_s].map(whole), tenths(level.real_s)];
}

const shown = (value: number | null, format: (value: number) => string): Value =>
  value === null ? "–" : { content: format(value), value };

const rounded = (value: number | null) => shown(value, (share) => share.toFixed(0));
const whole = (value: number | null) => shown(value, (rate) => Math.round(rate).toLocaleString("en"));
const tenths = (value: number | null) => shown(value, (seconds) => seconds.toFixed(1));
