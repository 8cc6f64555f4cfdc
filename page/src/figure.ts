// A figure: title, chart, legend, the numbers of the chart as a table, and its life in the page.
//
// Model: a chart is a pure function from palette and width to an ECharts option. It is drawn when the reader scrolls near it, drawn again
// when the colour scheme or the width changes, and drawn at once, in print colours, when the page is printed; far from the screen it is
// given up when its width changes and after printing. Entries of the legend that hide something are buttons.
// Limits: the table is built when it is first opened; the print shows it only then, so that a report does not become a book of numbers.

import { modelledBadge } from "./badge";
import { element } from "./element";
import { echarts, type EChartsOption, type EChartsType } from "./echarts";
import { readPalette, type Palette } from "./palette";
import { tableElement, type Table } from "./table";

export interface Figure {
  title: string;
  /** One sentence for those who cannot see the chart. */
  label: string;
  note?: string;
  height: number | ((width: number) => number);
  /** `hidden` names what the reader has switched off in the legend; series of these names are left out without further ado. */
  option: (palette: Palette, width: number, hidden: ReadonlySet<string>) => EChartsOption;
  legend?: (palette: Palette) => LegendEntry[];
  table: () => Table;
  canvas?: boolean;
  wide?: boolean;
  modelled: boolean;
}

export interface LegendEntry {
  name: string;
  colour: string;
  /** How the mark looks: filled, light with an outline, a line, a dashed line, a gradient of colours, or a sign of the chart. */
  mark: "solid" | "light" | "line" | "dashed" | "dotted" | "sign" | string[];
  /** The sign itself: one character. */
  sign?: string;
  /** What the reader hides by a click on the entry: all series of this name, or of this name and `|` and more. */
  hides?: string;
}

/** Figures get the height for this width until they have their own, so that the page moves little when they are drawn. */
const TYPICAL_WIDTH = 640;

interface Held {
  figure: Figure;
  frame: HTMLElement;
  canvas: HTMLElement;
  legend: HTMLElement;
  chart: EChartsType | null;
  /** Whether the frame is near the screen; one without a width yet is drawn when it gets one. */
  near: boolean;
  hidden: Set<string>;
}

const figures = new Set<Held>();
const byFrame = new WeakMap<Element, Held>();
/** Whether charts far from the screen are drawn, too: while the page is printed. */
let everything = false;

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      const held = byFrame.get(target);
      if (!held) continue;
      held.near = isIntersecting;
      if (isIntersecting && !held.chart) draw(held);
    }
  },
  { rootMargin: "300px 0px" },
);
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const held = byFrame.get(target);
    if (!held || held.chart?.getWidth() === held.frame.clientWidth) continue;
    if (held.near || everything) draw(held);
    else undraw(held);
  }
});

/** The figure as an element; its chart appears when it comes near the screen. */
export function figureElement(figure: Figure): HTMLElement {
  const canvas = element("div", { class: "chart", role: "img", tabindex: 0, "aria-label": figure.label });
  canvas.style.height = `${heightAt(figure, TYPICAL_WIDTH)}px`;
  const frame = element("div", { class: "frame" }, canvas);
  const legend = element("ul", { class: "legend" });
  const numbers = element("details", { class: "data" }, element("summary", {}, "Numbers"));
  numbers.addEventListener("toggle", () => numbers.children.length === 1 && numbers.append(tableElement(figure.table())));
  const held: Held = { figure, frame, canvas, legend, chart: null, near: false, hidden: new Set() };
  byFrame.set(frame, held);
  figures.add(held);
  nearby.observe(frame);
  sizes.observe(frame);
  return element(
    "figure",
    { class: figure.wide ? "wide" : null },
    element("figcaption", {}, figure.title, modelledBadge(figure.modelled)),
    legend,
    frame,
    figure.note && element("p", { class: "note" }, figure.note),
    numbers,
  );
}

/** Give a figure that is in the page new data: `element` is what `figureElement` made. Its numbers are made anew where they are open. */
export function renewFigure(element: Element, figure: Figure): void {
  const held = byFrame.get(element.querySelector(".frame") as Element);
  if (!held) return;
  held.figure = figure;
  held.canvas.setAttribute("aria-label", figure.label);
  if (held.chart) draw(held);
  const numbers = element.querySelector("details.data");
  const shown = numbers?.querySelector(":scope > .scroll");
  if (!shown) return;
  if ((numbers as HTMLDetailsElement).open) shown.replaceWith(tableElement(figure.table()));
  else shown.remove();
}

/** Forget figures whose elements are about to be replaced. */
export function discardFigures(container: Element): void {
  for (const held of [...figures]) {
    if (!container.contains(held.frame)) continue;
    undraw(held);
    nearby.unobserve(held.frame);
    sizes.unobserve(held.frame);
    figures.delete(held);
  }
}

/** Draw every figure that has a width, seen or not: before printing. Widths are read first, since drawing lays the page out anew. */
export function drawAll(): void {
  everything = true;
  const palette = readPalette();
  const widths = [...figures].map((held) => [held, held.frame.clientWidth] as const);
  for (const [held, width] of widths) draw(held, width, palette);
}

/** Draw what is near the screen and give the rest up until it comes near: after printing. */
export function drawNear(): void {
  everything = false;
  for (const held of figures) if (!held.near) undraw(held);
  redraw();
}

/** Draw again what is drawn already: after a change of colours, of which paper knows nothing. */
export function redraw(): void {
  if (everything) return;
  for (const held of figures) if (held.chart) draw(held);
}

const heightAt = ({ height }: Figure, width: number): number => (typeof height === "function" ? height(width) : height);

function undraw(held: Held): void {
  held.chart?.dispose();
  held.chart = null;
  delete held.canvas.dataset.marks;
}

function draw(held: Held, width = held.frame.clientWidth, palette = readPalette()): void {
  const { figure, canvas } = held;
  if (width === 0) return;
  const height = heightAt(figure, width);
  canvas.style.height = `${height}px`;
  if (held.chart) held.chart.resize({ width, height });
  else held.chart = echarts.init(canvas, null, { renderer: figure.canvas ? "canvas" : "svg", width, height });
  held.chart.setOption(without(figure.option(palette, width, held.hidden), held.hidden), { notMerge: true });
  canvas.dataset.marks = String(marks(held.chart));
  const entries = figure.legend?.(palette) ?? [];
  const focused = [...held.legend.querySelectorAll("button")].indexOf(document.activeElement as HTMLButtonElement);
  held.legend.replaceChildren(...entries.map((entry) => legendItem(entry, entries, held)));
  if (focused >= 0) held.legend.querySelectorAll("button")[focused]?.focus();
}

/** The option without the series that are switched off. */
function without(option: EChartsOption, hidden: ReadonlySet<string>): EChartsOption {
  if (hidden.size === 0 || !Array.isArray(option.series)) return option;
  const isShown = ({ name }: { name?: string | number }) => !hidden.has(String(name ?? "").split("|")[0] as string);
  return { ...option, series: option.series.filter((series) => isShown(series as { name?: string })) };
}

/** How many data items the chart draws; tests read it. */
function marks(chart: EChartsType): number {
  const { series } = chart.getOption() as { series: { data?: unknown[] }[] };
  return series.reduce((total, { data }) => total + (data?.length ?? 0), 0);
}

function legendItem(entry: LegendEntry, entries: LegendEntry[], held: Held): HTMLElement {
  const { name, hides } = entry;
  const alone = new Set(entries.map((each) => each.hides).filter(Boolean)).size < 2;
  if (!hides || alone) return element("li", {}, swatchOf(entry), name);
  const button = element("button", { type: "button", "aria-pressed": String(!held.hidden.has(hides)) }, swatchOf(entry), name);
  button.title = "Show or hide";
  button.addEventListener("click", () => {
    if (!held.hidden.delete(hides)) held.hidden.add(hides);
    draw(held);
  });
  return element("li", {}, button);
}

function swatchOf({ colour, mark, sign }: LegendEntry): HTMLElement {
  const swatch = element("span", { class: `swatch ${Array.isArray(mark) ? "gradient" : mark}`, "aria-hidden": "true" }, sign);
  swatch.style.setProperty("--colour", colour);
  if (Array.isArray(mark)) swatch.style.backgroundImage = `linear-gradient(90deg, ${mark.join(", ")})`;
  return swatch;
}
