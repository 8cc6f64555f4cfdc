// What the subjects of an experiment are called wherever several are shown.

import type { Experiment, Report, Subject } from "../model";

/** `workload, configuration` of a subject, as far as they tell it from the others of the experiment. */
export function subjectName(subject: Subject, { subjects }: Experiment, report: Report): string {
  const severalWorkloads = new Set(subjects.map(({ workload }) => workload)).size > 1;
  const label = configurationName(subject, report);
  if (!severalWorkloads) return report.configurations.length > 1 ? label : subject.title;
  return report.configurations.length > 1 ? `${subject.title}, ${label}` : subject.title;
}

export function configurationName({ configuration, modelled }: Subject, report: Report): string {
  const label = report.configurations[configuration]?.label ?? "";
  return modelled ? `${label} (modelled)` : label;
}
