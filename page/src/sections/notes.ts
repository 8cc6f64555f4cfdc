// What each number means and how it can mislead: the short form of METHODOLOGY.

import { element } from "../element";

const NOTES: [string, string][] = [
  [
    "IOPS and MB/s",
    "I/Os completed per second of the measured phase, and their bytes (1 MB = 1,000,000 bytes). Results can differ 1000 × with block size and queue depth; compare like with like.",
  ],
  [
    "Latency",
    "From the instant an I/O was meant to start until its completion. In an open loop that includes waiting behind a stalled device; service time, shown beside it then, starts at submission and hides such waits. In a closed loop both are the same, and a slow device also lowers the load it is given.",
  ],
  [
    "Percentiles",
    "p99 is the latency that 99 of 100 I/Os did not exceed. Percentiles of repeats or intervals cannot be averaged; here they come from merged histograms, exact to 1/256 of their value.",
  ],
  ["Slowest", "One I/O. It tells that something happened, not how often, and grows with the length of the measurement."],
  ["Warm-up", "Recorded, shaded in the charts, and left out of every total."],
  [
    "Heat map",
    "Two separate stripes are two kinds of I/O, for instance hits and misses of a cache. A mean between them describes no I/O at all.",
  ],
  [
    "await, queue, util",
    "The kernel's view below the file system, with iostat's definitions. util near 100 % does not mean a full device when it serves requests in parallel. iowait is idle CPU time with I/O outstanding, not a cost.",
  ],
  [
    "Error bars",
    "Of repeats: the lowest and the highest; these are not confidence intervals, and three repeats bound little. Of a single measurement: its 95 % interval.",
  ],
  [
    "95 % interval",
    "Made from the course of one measurement, or from its repeats. It covers what varied while it was measured, not what would be different tomorrow or on another machine of the same kind.",
  ],
  [
    "Load line and mark",
    "Response against throughput by rising load. The mark is the highest throughput at which the objective held; its interval is that of the throughput at which the response crosses the limit.",
  ],
  [
    "Knee and saturation",
    "The knee is where further load begins to cost more response than it gives throughput; saturation is the throughput that more load no longer raises. Both depend on the levels that were measured.",
  ],
  [
    "Faster, slower, no difference shown",
    "A verdict is given only where the interval of the ratio excludes 1 after correction for the number of comparisons. No difference shown does not mean that there is none.",
  ],
  [
    "Published",
    "Figures from a source that is named, obtained on other hardware and mostly other software. They show what to expect, not what was measured.",
  ],
  ["Flags", "Invalid: the number does not mean what it says. Doubt: it may not. Note: know this when comparing."],
  [
    "Modelled",
    "Computed by a model of an array in virtual time. Nothing was measured, and it is never mixed with measurements without being marked.",
  ],
];

export function notesSection(): HTMLElement {
  return element(
    "section",
    { id: "notes", "aria-labelledby": "notes-heading" },
    element("h2", { id: "notes-heading" }, "What the numbers mean, and how they mislead"),
    element(
      "dl",
      { class: "glossary" },
      ...NOTES.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text))),
    ),
  );
}
