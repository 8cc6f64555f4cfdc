// Database durability: what each trial kept of what was acknowledged, and its kills on a line of time.

import { killsHeight, killsOption, partColour, type Kills } from "../charts/kills";
import { element, type Child } from "../element";
import { figureElement, type Figure } from "../figure";
import { counted, duration, seconds } from "../format";
import type { DatabaseDurability, DurabilityRound, DurabilitySide, Report } from "../model";
import { tableElement, type Value } from "../table";
import type { DriverSection } from "./section";

export const databaseDurability: DriverSection<DatabaseDurability> = {
  title: "Durability of databases",
  draw: ({ sides }, report) => [
    element("p", { class: "note" }, "Refreshes are committed while the database is killed (SIGKILL). After each restart everything that was ever acknowledged is looked for."),
    sidesTable(sides, report),
    ...faults(sides, report),
    ...sides.flatMap((side) => figure(side, sides, report)),
    ...settings(sides),
  ],
};

const label = ({ configuration }: DurabilitySide, report: Report) => report.configurations[configuration]?.label ?? "";

function name(side: DurabilitySide, sides: DurabilitySide[], report: Report): string {
  const repeated = sides.filter(({ configuration }) => configuration === side.configuration).length > 1;
  return repeated ? `${label(side, report)}, run ${side.repeat}` : label(side, report);
}

const whole = (value: number) => value.toLocaleString("en-US");
const seconds_ = (value: number) => duration(value * 1e9);

function sidesTable(sides: DurabilitySide[], report: Report): HTMLElement {
  return tableElement({
    caption: "What was kept",
    columns: ["Side", "Engine", "Kills", "Acknowledged", "Found", "Lost", "There by half", "Restarts took", "Verdict"].map((heading) => ({ heading })),
    rows: sides.map((side): Value[] => [
      name(side, sides, report),
      side.engine,
      side.kills === side.kills_asked ? whole(side.kills) : `${side.kills} of ${side.kills_asked}`,
      side.acknowledged,
      side.found,
      side.lost - side.halves,
      side.halves,
      side.recovery_s === null ? "–" : `${seconds_(side.recovery_s[0])} to ${seconds_(side.recovery_s[1])}`,
      side.faults.length === 0 ? "all kept" : "NOT kept",
    ]),
  });
}

function faults(sides: DurabilitySide[], report: Report): Child[] {
  const said = sides.flatMap((side) => side.faults.map((fault) => `${name(side, sides, report)}: ${fault}.`));
  return said.length === 0 ? [] : [element("ul", { class: "sentences" }, ...said.map((sentence) => element("li", {}, sentence)))];
}

/** The line of time of one trial; none where its instants are not known. */
function figure(side: DurabilitySide, sides: DurabilitySide[], report: Report): Child[] {
  const known = side.rounds.filter(({ begin_s, kill_s }) => begin_s !== null && kill_s !== null);
  if (known.length === 0) return [];
  const end_s = Math.max(...known.map((round) => round.open_s ?? (round.kill_s as number))) * 1.02;
  const spec: Kills = {
    lanes: [
      {
        name: side.engine,
        spans: known.flatMap((round) => [
          { start_s: round.begin_s as number, end_s: round.kill_s as number, state: "works" as const, words: `round ${round.number}: commits` },
          ...(round.open_s === null ? [] : [{ start_s: round.kill_s as number, end_s: round.open_s, state: "down" as const, words: `restart ${round.number}` }]),
        ]),
        kills: known.map((round) => ({ at_s: round.kill_s as number, kept: round.wrong === null, words: words(round), parts: [round.found, round.lost] })),
      },
    ],
    end_s,
    bars: {
      axis: "refreshes so far",
      parts: [
        { name: "acknowledged and found", bad: false },
        { name: "acknowledged and lost", bad: true },
      ],
    },
  };
  const where = sides.length > 1 ? ` of ${name(side, sides, report)}` : "";
  const shown: Figure = {
    title: `Kills${where}`,
    label: `${counted(known.length, "kill")} over ${seconds(end_s)}: when the database worked, when it restarted, and what was found after each kill.`,
    note: "A thick bar is the database at work, a thin one its restart; a cross is a kill. Below: all that was acknowledged so far, as found after the kill.",
    height: killsHeight(spec),
    wide: true,
    option: (palette) => killsOption(spec, palette),
    legend: (palette) => spec.bars.parts.map(({ name: part, bad }) => ({ name: part, colour: partColour(palette, bad), mark: "solid" })),
    table: () => ({
      caption: "Kills in their order",
      columns: ["Kill", "At, s", "Acknowledged", "So far", "Found", "Lost", "Under way", "Became", "Restart, s", "Afterwards"].map((heading) => ({ heading })),
      rows: side.rounds.map((round): Value[] => [
        round.number,
        round.kill_s,
        round.acknowledged,
        round.acknowledged_so_far,
        round.found,
        round.lost,
        round.under_way ?? "–",
        round.became ?? "–",
        round.recovery_s,
        round.wrong ?? "all there",
      ]),
    }),
    modelled: false,
  };
  return [figureElement(shown)];
}

function words(round: DurabilityRound): string {
  const under = round.under_way === null ? "" : `; ${round.under_way} was under way${round.became ? ` and is ${round.became}` : ""}`;
  return `kill ${round.number}: ${round.wrong ?? "all there"}${under}`;
}

/** Versions and settings, once for all trials that share them. */
function settings(sides: DurabilitySide[]): Child[] {
  const told = new Set(sides.map((side) => `${side.engine} ${side.settings.map(([key, value]) => (key === "version" ? value : `${key} ${value}`)).join(", ")}`));
  return [...told].map((line) => element("p", { class: "note" }, `${line}.`));
}
