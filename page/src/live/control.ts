// Starting a suite and stopping a run, where the server allows it: a form, what became of the suites that were started, and a button.
//
// Model: the server decides; whatever it refuses is shown in its own sentence. Choices stay while news come.

import { element } from "../element";
import type { ControlState, StartedSuite } from "../model";

export interface Start {
  element: HTMLElement;
  show: (state: ControlState) => void;
}

/** Ask the server to do something; the sentence with which it refused, null when it does it. */
async function command(path: string, asked: object): Promise<string | null> {
  try {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
    return answer.ok ? null : (await answer.text()).trim();
  } catch {
    return "The server does not answer; nothing was done.";
  }
}

/** The form, shown once the server has said that suites can be started. */
export function startForm(): Start {
  const suite = element("select", { id: "suite" });
  const target = element("select", { id: "target" });
  const quick = element("input", { type: "checkbox", id: "quick", checked: true });
  const start = element("button", { type: "submit", class: "action" }, "Start");
  const takes = element("p", { class: "note" });
  const said = element("p", { class: "note refusal", role: "status" });
  const started = element("ul", { class: "started", "aria-label": "Suites that this page started" });
  let now: ControlState | null = null;

  function describe(): void {
    const known = now?.suites.find(({ name }) => name === suite.value);
    const given = now?.targets.find(({ name }) => name === target.value);
    if (!known || !given) return;
    start.disabled = given.busy;
    takes.textContent = [
      `${known.title}: ${quick.checked ? known.quick : known.full} of load.`,
      given.destroys ? `What is on ${given.name} may be overwritten.` : `Nothing on ${given.name} is overwritten.`,
      given.busy && `${given.name} is being measured.`,
    ]
      .filter(Boolean)
      .join(" ");
  }

  for (const one of [suite, target, quick]) one.addEventListener("change", describe);
  const form = element(
    "form",
    { class: "controls" },
    element("label", { class: "list" }, element("span", {}, "Suite"), suite),
    element("label", { class: "list" }, element("span", {}, "Target"), target),
    element("label", { class: "list" }, element("span", {}, "Quick form"), quick),
    start,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = { suite: suite.value, target: target.value, quick: quick.checked };
    start.disabled = true;
    void command("/api/start", asked).then((refusal) => {
      said.textContent = refusal ?? `${asked.suite} begins on ${asked.target}; its run stands below in a moment.`;
      describe();
    });
  });
  const section = element("section", { id: "start", "aria-labelledby": "start-heading", hidden: true });
  section.append(element("h2", { id: "start-heading" }, "Start a suite"), form, takes, said, started);
  return {
    element: section,
    show: (state) => {
      now = state;
      section.hidden = false;
      offer(suite, state.suites.map(({ name }) => name));
      offer(target, state.targets.map(({ name }) => name));
      started.replaceChildren(...state.started.map((one) => element("li", {}, startedText(one))));
      describe();
    },
  };
}

/** The options of a list; made anew only when they change, so that what was chosen stays. */
function offer(list: HTMLSelectElement, names: string[]): void {
  if ([...list.options].map(({ value }) => value).join("\n") === names.join("\n")) return;
  const chosen = list.value;
  list.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (names.includes(chosen)) list.value = chosen;
}

const STATUS: Record<string, string> = { running: "is being measured", complete: "is complete", interrupted: "was stopped" };

const startedText = ({ suite, target, status, said }: StartedSuite): string =>
  `${suite} on ${target} ${STATUS[status] ?? `did not come to its end: ${said ?? ""}`}`;

/** A button that stops the run `name` when it is pressed and confirmed. */
export function stopButton(name: string): HTMLElement {
  const said = element("span", { role: "status" });
  const stop = element("button", { type: "button", class: "action" }, "Stop");
  const sure = element("button", { type: "button", class: "action" }, "Stop this run");
  const no = element("button", { type: "button", class: "action" }, "Let it go on");
  const asking = element("span", { hidden: true }, "What was measured is kept. ", sure, " ", no);
  const ask = (is: boolean) => {
    stop.hidden = is;
    asking.hidden = !is;
    (is ? sure : stop).focus();
  };
  stop.addEventListener("click", () => ask(true));
  no.addEventListener("click", () => ask(false));
  sure.addEventListener("click", () => {
    ask(false);
    void command("/api/stop", { run: name }).then((refusal) => {
      said.textContent = refusal ?? "Stopping: what is in flight is awaited.";
      stop.disabled = refusal === null;
    });
  });
  return element("p", { class: "stop" }, stop, asking, " ", said);
}
