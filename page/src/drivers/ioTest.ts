// The published I/O test: what a core got in each phase, a bar for each side, beside what is asked.

import { rowsHeight, rowsOption, type Rows } from "../charts/rows";
import { element, type Child } from "../element";
import { figureElement, type Figure } from "../figure";
import { bandwidth, bytes, digits, exact, megabytes } from "../format";
import type { IoTestPhase, IoTestSide, IoTest, Report } from "../model";
import { configurationColour } from "../palette";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

const PHASES = ["write", "read"] as const;

export const ioTests: DriverSection<IoTest> = {
  title: "I/O test",
  draw: (found, report) => [
    element(
      "p",
      { class: "note" },
      `Asked of a file system for each core: ${found.asked_per_core.map(([what, value]) => `${megabytes(value)} MB/s for ${what}`).join(", ")}. ` +
        "A core's figure is the size of a file over the mean time of a stream, its flush included.",
    ),
    figureElement(bars(found, report)),
    table(found, report),
  ],
};

const name = ({ configuration }: IoTestSide, report: Report) => report.configurations[configuration]?.label ?? "";

const cell = (value: number, shown: (value: number) => string, unit: string): Rich => ({
  content: element("data", { value: String(value), title: exact(value, unit) }, shown(value)),
  value,
});

function perCore({ per_core: { value, low, high } }: IoTestPhase): Rich {
  const bounds = low === null || high === null ? "" : ` [${megabytes(low)}, ${megabytes(high)}]`;
  const content: Child = element("data", { value: String(value), title: exact(value, "B/s") }, `${megabytes(value)}${bounds}`);
  return { content, value };
}

function bars({ sides, asked_per_core }: IoTest, report: Report): Figure {
  const spec: Rows = {
    rows: PHASES.map((phase) => ({ name: phase, meaning: "MB/s per core", values: sides.map((side) => side[phase]?.per_core.value ?? null) })),
    sides: sides.map((side) => ({ configuration: side.configuration, name: name(side, report) })),
    format: (value) => megabytes(value),
  };
  return {
    title: "MB/s per core",
    label: "What a core wrote and read per second, a bar for each side.",
    note: asked_per_core.map(([what, value]) => `${megabytes(value)} MB/s are asked for ${what}`).join("; "),
    height: rowsHeight(spec),
    wide: true,
    option: (palette) => rowsOption(spec, palette),
    legend: (palette) =>
      sides.length < 2
        ? []
        : sides.map((side) => ({ name: name(side, report), colour: configurationColour(palette, side.configuration), mark: "solid" as const })),
    table: () => ({
      caption: "MB/s per core",
      columns: ["Side", ...PHASES].map((heading) => ({ heading })),
      rows: sides.map((side): Value[] => [name(side, report), ...PHASES.map((phase) => (side[phase] ? perCore(side[phase]) : "–"))]),
    }),
    modelled: false,
  };
}

function table({ sides, asked_per_core }: IoTest, report: Report): HTMLElement {
  const headings = ["Side", "Phase", "Files", "MB/s per core", "All cores", "Moved together", "Streams took, s", "Repeats"];
  return tableElement({
    caption: "Both phases of each side",
    columns: [...headings, ...asked_per_core.map(([what, value]) => `${megabytes(value)}: ${what}`)].map((heading) => ({ heading })),
    rows: sides.flatMap((side) =>
      PHASES.flatMap((word): Value[][] => {
        const phase = side[word];
        if (!phase) return [];
        const [fastest, slowest] = [digits(phase.fastest_s), digits(phase.slowest_s)];
        return [
          [
            name(side, report),
            word,
            `${side.streams} of ${bytes(side.file_bytes)}${side.content === "zeros" ? ", zeros" : ""}`,
            perCore(phase),
            cell(phase.per_core.value * side.cores, bandwidth, "B/s"),
            cell(phase.together_bytes_per_s, bandwidth, "B/s"),
            fastest === slowest ? fastest : `${fastest} – ${slowest}`,
            phase.repeats,
            ...phase.verdicts,
          ],
        ];
      }),
    ),
  });
}
