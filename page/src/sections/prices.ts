// What the sides cost, and what a unit of what they carried costs: a sentence for each load, the figures, and the price lists.

import { element } from "../element";
import { digits, exact } from "../format";
import type { Priced, Prices, Report, StoredPrice } from "../model";
import { tableElement, type Rich } from "../table";

const SYMBOLS = "$€£¥";
/** Amounts from here on have two decimals, as on an invoice; smaller ones three digits that count. */
const CENTS_FROM = 0.1;

export function pricesSection({ prices }: Report): HTMLElement | null {
  if (!prices) return null;
  return element(
    "section",
    { id: "prices", "aria-labelledby": "prices-heading" },
    element("h2", { id: "prices-heading" }, "Prices"),
    element("ul", { class: "findings" }, ...prices.findings.map((sentence) => element("li", {}, sentence))),
    tableElement({
      caption: "Price over figure: less is better",
      columns: ["Load", "Side", "Price", "Figure", "Value", "Price per unit", "95 % interval", "Ratio"].map((heading) => ({ heading })),
      rows: prices.rows.map((row) => cells(row, prices)),
    }),
    prices.notes.length > 0 && element("ul", { class: "remarks" }, ...prices.notes.map((note) => element("li", {}, note))),
    ...prices.prices.map(({ side, price }) => priceList(side, price)),
  );
}

function cells(row: Priced, { prices, currency }: Prices) {
  const price = prices.find(({ side }) => side === row.side)?.price;
  const unknown = { content: "–", value: null };
  return [
    row.title,
    row.modelled ? `${row.side} (modelled)` : row.side,
    price ? rich(price.amount, priceWords(price)) : "–",
    row.figure,
    row.value === null ? "none held" : rich(row.value, `${row.at_least ? "≥ " : ""}${digits(row.value, 4)} ${row.unit}`, row.unit),
    row.per_unit === null ? unknown : rich(row.per_unit, `${row.at_least ? "≤ " : ""}${inCurrency(money(row.per_unit), currency)}`, `per ${row.unit}`),
    row.per_unit_low === null || row.per_unit_high === null ? "–" : `[${money(row.per_unit_low)}, ${money(row.per_unit_high)}]`,
    row.ratio === null ? unknown : rich(row.ratio, `${row.ratio.toFixed(2)} ×`),
  ];
}

const rich = (value: number, shown: string, unit = ""): Rich => ({
  content: element("data", { value: String(value), title: exact(value, unit) }, shown),
  value,
});

/** What was bought, where it was listed. */
function priceList(side: string, price: StoredPrice): HTMLElement | false {
  const items = price.items ?? [];
  if (items.length === 0) return false;
  const currency = price.currency ?? "";
  return element(
    "details",
    { class: "data more" },
    element("summary", {}, `Price list of ${side}: ${priceWords(price)}`),
    tableElement({
      caption: `Price list of ${side}`,
      columns: ["Item", "Count", "Each", "Together"].map((heading) => ({ heading })),
      rows: items.map(({ name, count, amount }) => [
        name,
        count,
        rich(amount, inCurrency(money(amount), currency)),
        rich(amount * count, inCurrency(money(amount * count), currency)),
      ]),
    }),
  );
}

export function priceWords({ amount, currency, years }: StoredPrice): string {
  const whole = Number.isInteger(amount) ? amount.toLocaleString("en-US") : money(amount);
  const time = years == null ? "" : ` for ${years === 1 ? "1 year" : `${years} years`}`;
  return `${inCurrency(whole, currency ?? "")}${time}`;
}

/** An amount as a bill has it; what is far below one keeps its digits. */
export const money = (amount: number) =>
  amount >= CENTS_FROM || amount <= 0 ? amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : digits(amount);

const inCurrency = (amount: string, currency: string) =>
  currency === "" ? amount : SYMBOLS.includes(currency) ? `${currency}${amount}` : `${amount} ${currency}`;
