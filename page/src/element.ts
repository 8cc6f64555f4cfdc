// Building the document: text goes in as text nodes only, so that nothing stored in a result can become markup.
//
//   element("p", { class: "lead" }, "All ", element("b", {}, "12"), " points are complete.")

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG = "http://www.w3.org/2000/svg";

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return filled(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

function filled<E extends Element>(made: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value != null && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child): child is Node | string => child != null && child !== false));
  return made;
}

/** A number with its exact value in the markup and on hover. */
export function number(value: number | null | undefined, shown: string, exactly: string): HTMLElement | string {
  return value == null ? "–" : element("data", { value: String(value), title: exactly }, shown);
}
