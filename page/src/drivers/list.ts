// The sections of drivers: what only this driver knows of what it measured. A file here for each, named as its record's file in
// python/plimsoll/reports/view/drivers, and a line in `SECTIONS`.

import { element } from "../element";
import type { DriverSections, Report } from "../model";
import { databaseDurability } from "./databaseDurability";
import { analyticsWorkflows } from "./analytics";
import { decisionSupport } from "./decisionSupport";
import { fileOperations } from "./files";
import { ioTests } from "./ioTest";
import { mailUsers } from "./mail";
import { mailStores } from "./mailstore";
import { orderEntry } from "./orderEntry";
import type { DriverSection } from "./section";

const SECTIONS: { [Name in keyof Required<DriverSections>]: DriverSection<NonNullable<DriverSections[Name]>> } = {
  files: fileOperations,
  analytics: analyticsWorkflows,
  io_test: ioTests,
  mail: mailUsers,
  mailstore: mailStores,
  decision_support: decisionSupport,
  order_entry: orderEntry,
  database_durability: databaseDurability,
};

const names = ({ drivers }: Report) => (Object.keys(SECTIONS) as (keyof DriverSections)[]).filter((name) => drivers[name]);

const anchorOf = (name: string) => `driver-${name.replaceAll("_", "-")}`;

/** For the list of contents. */
export const driverTitles = (report: Report) => names(report).map((name): [string, string] => [anchorOf(name), SECTIONS[name].title]);

export const driverSections = (report: Report) => names(report).map((name) => drawn(name, report));

function drawn<Name extends keyof DriverSections>(name: Name, report: Report): HTMLElement {
  const { title, draw }: DriverSection<NonNullable<DriverSections[Name]>> = SECTIONS[name];
  const id = anchorOf(name);
  return element(
    "section",
    { id, class: "driver", "aria-labelledby": `${id}-heading` },
    element("h2", { id: `${id}-heading` }, title),
    ...draw(report.drivers[name] as NonNullable<DriverSections[Name]>, report),
  );
}
