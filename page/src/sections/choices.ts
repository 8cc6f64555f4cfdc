// Controls above charts: one of a few (segments), one of many (a list), and on or off.

import { element } from "../element";

/** Radio buttons side by side; `choose` gets the index. Names of groups must differ within a page. */
export function segments(name: string, legend: string, choices: string[], choose: (index: number) => void, chosen = 0): HTMLElement {
  const options = choices.map((choice, index) => {
    const input = element("input", { type: "radio", name, checked: index === chosen });
    input.addEventListener("change", () => choose(index));
    return element("label", {}, input, element("span", {}, choice));
  });
  return element("fieldset", { class: "segments" }, element("legend", {}, legend), ...options);
}

/** A list to choose from, for more than fit side by side. */
export function list(legend: string, choices: string[], choose: (index: number) => void, chosen = 0): HTMLElement {
  const select = element("select", {}, ...choices.map((choice, index) => element("option", { selected: index === chosen }, choice)));
  select.addEventListener("change", () => choose(select.selectedIndex));
  return element("label", { class: "list" }, element("span", {}, legend), select);
}

export function check(text: string, choose: (on: boolean) => void, on = false): HTMLElement {
  const input = element("input", { type: "checkbox", checked: on });
  input.addEventListener("change", () => choose(input.checked));
  return element("label", { class: "check" }, input, text);
}
