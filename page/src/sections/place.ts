// Where a point stands in the report: its link, and whether it has siblings.

import type { Point, Report } from "../model";
import { placeText } from "../settings";

/** The id of a point's section, unique also when several runs use the same number. */
export function anchor(point: Pick<Point, "index" | "id">): string {
  return `point-${point.index}-${point.id}`;
}

/** Whether the same workload was measured more than once in the same configuration, and at the same place of an experiment. */
export function isRepeated(point: Point, { points }: Report): boolean {
  return points.some(
    (other) =>
      other !== point &&
      other.workload === point.workload &&
      other.configuration === point.configuration &&
      other.place?.experiment === point.place?.experiment &&
      placeText(other) === placeText(point),
  );
}

/** A point in words: workload, settings, configuration, repeat, as far as they distinguish it. */
export function whereWords(point: Point, report: Report): string {
  return [
    point.title,
    placeText(point),
    report.configurations.length > 1 && report.configurations[point.configuration]?.label,
    isRepeated(point, report) && `repeat ${point.repeat}`,
  ]
    .filter(Boolean)
    .join(", ");
}
