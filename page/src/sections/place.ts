// Where a point stands in the report: its link, and whether it has siblings.

import type { Point, Report } from "../model";

/** The id of a point's section, unique also when several runs use the same number. */
export function anchor(point: Pick<Point, "index" | "id">): string {
  return `point-${point.index}-${point.id}`;
}

/** Whether the same workload was measured more than once in the same configuration. */
export function isRepeated(point: Point, { points }: Report): boolean {
  return points.some((other) => other !== point && other.workload === point.workload && other.configuration === point.configuration);
}
