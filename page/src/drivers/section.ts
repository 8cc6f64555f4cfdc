// What a driver has to say of its own in the report: a title, and what stands below it.

import type { Child } from "../element";
import type { Report } from "../model";

export interface DriverSection<Found> {
  title: string;
  /** What stands below the heading. */
  draw: (found: Found, report: Report) => Child[];
}
