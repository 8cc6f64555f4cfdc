// The colours of the page as the style sheet defines them, read anew whenever the colour scheme changes, so that charts follow it.

import { type ComparisonVerdict, FILE_OPS, MAIL_OPS, type Op, QUERY_OPS, STORE_OPS, TRANSACTION_OPS } from "./model";

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  faint: string;
  surface: string;
  accent: string;
  shade: string;
  /** The limit of an objective. */
  limit: string;
  verdict: Record<ComparisonVerdict, string>;
  font: string;
  op: Record<Op, string>;
  configurations: string[];
  heat: string[];
  cpu: string[];
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const list = (name: string, count: number) => Array.from({ length: count }, (_, index) => read(`${name}-${index + 1}`));
  const configurations = list("configuration", 8);
  // The operations of a driver take the colours of configurations in turn: no chart shows both, nor operations of two drivers.
  const inTurn = (ops: readonly Op[]) => ops.map((op, index) => [op, configurations[index % configurations.length]]);
  const driven = [FILE_OPS, QUERY_OPS, TRANSACTION_OPS, MAIL_OPS, STORE_OPS].flatMap(inTurn);
  return {
    ink: read("ink"),
    muted: read("muted"),
    line: read("line"),
    faint: read("faint"),
    surface: read("surface"),
    accent: read("accent"),
    shade: read("shade"),
    limit: read("invalid"),
    verdict: { faster: read("faster"), slower: read("slower"), "no difference shown": read("same"), "too short to tell": read("doubt") },
    font: getComputedStyle(document.body).fontFamily,
    op: {
      ...Object.fromEntries(driven),
      read: read("op-read"),
      write: read("op-write"),
      trim: read("op-trim"),
      flush: read("op-flush"),
    } as Record<Op, string>,
    configurations,
    heat: list("heat", 5),
    cpu: list("cpu", 4),
  };
}

/** The colour of a configuration; after the eighth they repeat. */
export function configurationColour(palette: Palette, index: number): string {
  return palette.configurations[index % palette.configurations.length] as string;
}

/** `colour` with the given opacity, for `#rrggbb` colours. */
export function translucent(colour: string, opacity: number): string {
  return `${colour}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, "0")}`;
}

/** A colour along `stops` (all `#rrggbb`), at 0 the first and at 1 the last. */
export function along(stops: string[], position: number): string {
  const place = Math.min(Math.max(position, 0), 1) * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [channels(stops[left] as string), channels(stops[left + 1] as string)];
  const mixed = from.map((channel, index) => Math.round(channel + ((to[index] as number) - channel) * (place - left)));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}
