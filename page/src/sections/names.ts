// What the subjects of an experiment are called wherever several are shown.

import { isMixed, modelledBadge } from "../badge";
import { element } from "../element";
import type { Experiment, Report, Subject } from "../model";

/** `workload, configuration` of a subject, as far as they tell it from the others of the experiment. */
export function subjectName(subject: Subject, experiment: Experiment, report: Report): string {
  return named(subject, experiment, report, configurationName(subject, report));
}

/** The same for a heading, with the badge where it is modelled. */
export function subjectHeading(subject: Subject, experiment: Experiment, report: Report): HTMLElement {
  return element("span", {}, named(subject, experiment, report, labelOf(subject, report)), isMixed(report) && modelledBadge(subject.modelled));
}

export function configurationName(subject: Subject, report: Report): string {
  const label = labelOf(subject, report);
  return subject.modelled && isMixed(report) ? `${label} (modelled)` : label;
}

const labelOf = ({ configuration }: Subject, report: Report) => report.configurations[configuration]?.label ?? "";

function named(subject: Subject, { subjects }: Experiment, report: Report, label: string): string {
  const severalWorkloads = new Set(subjects.map(({ workload }) => workload)).size > 1;
  if (!severalWorkloads) return report.configurations.length > 1 ? label : subject.title;
  return report.configurations.length > 1 ? `${subject.title}, ${label}` : subject.title;
}
