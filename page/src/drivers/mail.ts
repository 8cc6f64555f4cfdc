// Mail users: the score, how long each task took beside what it weighs, the way of letters, and what storage did for it.

import { killsHeight, killsOption, partColour, type Kills } from "../charts/kills";
import { rowsHeight, rowsOption, type Rows } from "../charts/rows";
import { element, type Child } from "../element";
import { figureElement, type Figure } from "../figure";
import { bandwidth, bounded, counted, duration, exact, rate, seconds } from "../format";
import type { Estimate, MailSide, MailUsers, Report } from "../model";
import { configurationColour } from "../palette";
import { settingsText } from "../settings";
import { tableElement, type Rich, type Value } from "../table";
import type { DriverSection } from "./section";

/** More sides than this have their tasks folded. */
const MANY = 2;

export const mailUsers: DriverSection<MailUsers> = {
  title: "Mail users",
  draw: ({ sides }, report) => [
    cards(sides, report),
    sidesTable(sides, report),
    ...sides.flatMap((side) => (side.astray ? [element("p", { class: "note" }, `${name(side, report)}: ${side.astray}`)] : [])),
    ...killed(sides, report),
    ...letters(sides, report),
    storage(sides, report),
    ...servers(sides),
    ...tasks(sides, report),
  ],
};

const label = ({ configuration }: MailSide, report: Report) => report.configurations[configuration]?.label ?? "";

function name(side: MailSide, report: Report): string {
  const settings = settingsText(side.settings);
  if (settings && report.configurations.length === 1) return settings;
  return settings ? `${label(side, report)}, ${settings}` : label(side, report);
}

const cell = (value: number | null | undefined, shown: (value: number) => string, unit = ""): Rich => ({
  content: value == null ? "–" : element("data", { value: String(value), title: exact(value, unit) }, shown(value)),
  value: value ?? null,
});

const time = (found: Estimate | null | undefined): Rich => cell(found?.value, (value) => bounded(value, found?.at_least), "ns");
const whole = (value: number) => value.toLocaleString("en-US");

/** The score of each side; of many the table says it. */
function cards(sides: MailSide[], report: Report): Child {
  if (sides.length > 6) return null;
  return element(
    "dl",
    { class: "extremes" },
    ...sides.flatMap((side) => {
      const found = side.score;
      if (!found) return [];
      const interval = found.low === null || found.high === null ? "" : ` [${duration(found.low)}, ${duration(found.high)}]`;
      return [
        element(
          "div",
          {},
          element("dt", {}, `Score${sides.length > 1 ? ` at ${name(side, report)}` : ""}`),
          element("dd", { class: "value" }, element("data", { value: String(found.value), title: exact(found.value, "ns") }, bounded(found.value, found.at_least))),
          element("dd", {}, `the 95th percentiles of the tasks of ${whole(side.users)} users, averaged by weight${interval}`),
        ),
      ];
    }),
  );
}

function sidesTable(sides: MailSide[], report: Report): HTMLElement {
  return tableElement({
    caption: "Users and their letters",
    columns: ["Side", "Users", "Score", "Tasks/s", "Letters", "Deliveries kept", "Delivered again", "Servers killed"].map((heading) => ({ heading })),
    rows: sides.map((side): Value[] => [
      name(side, report),
      side.users,
      time(side.score),
      cell(side.per_s?.value, rate, "per second"),
      side.letters,
      side.astray ? "NOT all" : `all ${whole(side.taken)}`,
      side.repeated,
      side.kills,
    ]),
  });
}

/** What became of mail whose servers were killed, and when that was. */
function killed(sides: MailSide[], report: Report): Child[] {
  const known = sides.filter(({ kill_course }) => kill_course.length > 0);
  if (known.length === 0) return [];
  const headings = ["Side", "Kills", "Accepted", "Found", "Lost", "Otherwise wrong", "Delivered once more", "In two folders", "Down for"];
  const down = ({ kill_course }: MailSide) => kill_course.map(({ down_s }) => down_s * 1e9);
  return [
    element("h3", {}, "Servers killed while users work"),
    tableElement({
      caption: "What was kept",
      columns: headings.map((heading) => ({ heading })),
      rows: known.map((side): Value[] => [
        name(side, report),
        side.kills,
        side.account.taken,
        side.account.found,
        side.account.lost,
        side.account.wrong,
        side.account.repeated,
        side.account.copied,
        `${duration(Math.min(...down(side)))} to ${duration(Math.max(...down(side)))}`,
      ]),
    }),
    ...known.map((side) => figureElement(killFigure(side, known, report))),
  ];
}

const CALLED: Record<string, string> = { dovecot: "Dovecot", postfix: "Postfix" };

function killFigure(side: MailSide, known: MailSide[], report: Report): Figure {
  const servers = ["dovecot", "postfix"].filter((server) => side.kill_course.some((kill) => kill.server === server));
  const spec: Kills = {
    lanes: servers.map((server) => {
      const kills = side.kill_course.filter((kill) => kill.server === server);
      const begins = [0, ...kills.map(({ at_s, down_s }) => at_s + down_s)];
      const called = CALLED[server] ?? server;
      return {
        name: called,
        spans: begins.flatMap((begin, index) => {
          const kill = kills[index];
          const worked = { start_s: begin, end_s: kill?.at_s ?? side.seconds, state: "works" as const, words: `${called} works` };
          return kill ? [worked, { start_s: kill.at_s, end_s: kill.at_s + kill.down_s, state: "down" as const, words: `${called} starts again` }] : [worked];
        }),
        kills: kills.map(({ at_s, queued }) => ({ at_s, kept: null, words: `${called} killed`, parts: [queued] })),
      };
    }),
    end_s: Math.max(side.seconds, ...side.kill_course.map(({ at_s, down_s }) => at_s + down_s)),
    bars: { axis: "letters queued", parts: [{ name: "letters in the queue at the kill", bad: false }] },
  };
  const where = known.length > 1 ? `: ${name(side, report)}` : "";
  return {
    title: `Kills${where}`,
    label: `${counted(side.kill_course.length, "kill")} over ${seconds(spec.end_s)}: when each server worked, was killed, and started again.`,
    note: "A thick bar is a server at work, a thin one its restart; a cross is a kill. Letters are looked for once, after the last kill.",
    height: killsHeight(spec),
    wide: true,
    option: (palette) => killsOption(spec, palette),
    legend: (palette) => spec.bars.parts.map(({ name: part, bad }) => ({ name: part, colour: partColour(palette, bad), mark: "solid" })),
    table: () => ({
      caption: "Kills in their order",
      columns: ["Server", "At, s", "Down, s", "Letters queued"].map((heading) => ({ heading })),
      rows: side.kill_course.map((kill): Value[] => [CALLED[kill.server] ?? kill.server, kill.at_s, kill.down_s, kill.queued]),
    }),
    modelled: false,
  };
}

/** The way of letters, where the server tells. */
function letters(sides: MailSide[], report: Report): Child[] {
  const known = sides.filter(({ deliveries_per_s, handover_p95_ns }) => deliveries_per_s !== null || handover_p95_ns !== null);
  if (known.length === 0) return [];
  const parts = [...new Set(known.flatMap(({ way }) => way.map(({ what }) => what)))];
  const headings = ["Side", "Handed over, p95", "Delivered/s", "Until in the mailbox, p50", "p95", ...parts.map((part) => `${part}, mean`), "Queue, mean", "most"];
  return [
    tableElement({
      caption: "The way of letters",
      columns: headings.map((heading) => ({ heading })),
      rows: known.map((side): Value[] => [
        name(side, report),
        cell(side.handover_p95_ns, duration, "ns"),
        cell(side.deliveries_per_s, rate, "per second"),
        cell(side.delay_p50_ns, duration, "ns"),
        cell(side.delay_p95_ns, duration, "ns"),
        ...parts.map((part) => cell(side.way.find(({ what }) => what === part)?.mean_ns, duration, "ns")),
        cell(side.queue_mean, rate, "letters"),
        cell(side.queue_max, whole, "letters"),
      ]),
    }),
  ];
}

/** What the devices below the mailboxes did. */
function storage(sides: MailSide[], report: Report): Child {
  const known = sides.filter((side) => side.storage !== null);
  if (known.length === 0) return element("p", { class: "note" }, "What the storage below the mailboxes did is not seen from this host.");
  return tableElement({
    caption: "What the storage did",
    columns: ["Side", "Reads/s", "Writes/s", "Written", "A write took, mean", "Flushes/s"].map((heading) => ({ heading })),
    rows: known.map((side): Value[] => [
      name(side, report),
      cell(side.storage?.reads_per_s, rate, "per second"),
      cell(side.storage?.writes_per_s, rate, "per second"),
      cell(side.storage?.write_bytes_per_s, bandwidth, "B/s"),
      cell(side.storage?.write_ns, duration, "ns"),
      cell(side.storage?.flushes_per_s, rate, "per second"),
    ]),
  });
}

/** What the servers were, and how they kept mail. */
function servers(sides: MailSide[]): Child[] {
  const told = new Set(sides.map(({ facts }) => facts.map(([fact, value]) => `${fact} ${value}`).join(", ")));
  return [...told].filter(Boolean).map((facts) => element("p", { class: "note" }, `Servers: ${facts}.`));
}

/** A picture and a table of the tasks of each side; of many sides the tables are folded. */
function tasks(sides: MailSide[], report: Report): Child[] {
  return [
    ...picture(sides, report),
    ...sides.map((side) => {
      const table = tableElement({
        caption: `Tasks of ${name(side, report)}`,
        columns: ["Task", "Weight", "Per second", "mean", "p95", "errors"].map((heading) => ({ heading })),
        rows: side.tasks.map((task): Value[] => [task.op, task.weight, cell(task.per_s, rate, "per second"), time(task.mean), time(task.p95), task.errors]),
      });
      if (sides.length <= MANY) return table;
      return element("details", { class: "data more" }, element("summary", {}, `Tasks of ${name(side, report)}`), table);
    }),
  ];
}

/** The 95th percentile of each task, sides beside each other, at the highest number of users that each has. */
function picture(sides: MailSide[], report: Report): Child[] {
  const most = new Map<number, MailSide>();
  for (const side of sides) {
    const known = most.get(side.configuration);
    if (!known || side.users > known.users) most.set(side.configuration, side);
  }
  const shown = [...most.values()];
  const ops = [...new Set(shown.flatMap((side) => side.tasks.filter(({ p95 }) => p95).map(({ op }) => op)))];
  if (ops.length === 0) return [];
  const of = (side: MailSide, op: string) => side.tasks.find((task) => task.op === op)?.p95;
  const spec: Rows = {
    rows: ops.map((op) => ({ name: op, meaning: "95th percentile", values: shown.map((side) => of(side, op)?.value ?? null) })),
    sides: shown.map((side) => ({ configuration: side.configuration, name: name(side, report) })),
    format: duration,
  };
  const figure: Figure = {
    title: "95th percentile of each task",
    label: "How long nineteen of twenty tasks of each kind took at most, a bar for each side.",
    note: "From when a task was due, at the highest number of users of each side.",
    height: rowsHeight(spec),
    wide: true,
    option: (palette) => rowsOption(spec, palette),
    legend: (palette) =>
      shown.length < 2 ? [] : shown.map((side) => ({ name: name(side, report), colour: configurationColour(palette, side.configuration), mark: "solid" })),
    table: () => ({
      caption: "95th percentile of each task",
      columns: ["Task", ...shown.map((side) => name(side, report))].map((heading) => ({ heading })),
      rows: ops.map((op): Value[] => [op, ...shown.map((side) => time(of(side, op)))]),
    }),
    modelled: false,
  };
  return [figureElement(figure)];
}
