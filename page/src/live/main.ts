// The live page: the list of runs, or the course of one that goes on, as the address says (`#NAME`).

import { element } from "../element";
import { redraw } from "../figure";
import { counted } from "../format";
import type { Entry, Live, Report } from "../model";
import { head } from "../sections/masthead";
import { runCourse } from "./course";
import { startForm } from "./control";
import { listen } from "./events";
import { runList } from "./list";

const named = (): string | null => (location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : null);

function start(page: HTMLElement): void {
  const main = element("main", { id: "main" });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const top = element("div", {});
  page.append(element("a", { class: "skip", href: "#main" }, "Skip to the runs"), top, trouble, main);
  let end = () => {};
  const title = (text: string, facts: string[]) => {
    document.title = `Plimsoll: ${text}`;
    const now = head(text, facts);
    if (top.firstElementChild?.textContent !== now.textContent) top.replaceChildren(now);
  };
  const over = element("p", { class: "over", role: "status", hidden: true }, "The run has ended, and this page stays as it is. 'plimsoll report' draws the whole report.");
  page.insertBefore(over, trouble);
  const said = { problem: null as string | null, connected: true };
  const tell = () => {
    const words = said.connected ? said.problem : "The server does not answer; the page goes on as soon as it does.";
    trouble.hidden = words === null;
    trouble.textContent = words ?? "";
  };
  const common = {
    problem: (sentence: string | null) => {
      said.problem = sentence;
      tell();
    },
    connected: (is: boolean) => {
      said.connected = is;
      tell();
    },
    ended: () => {
      over.hidden = false;
      document.documentElement.dataset.over = "true";
    },
  };

  function showList(): void {
    const list = runList();
    const start = startForm();
    main.replaceChildren(start.element, list.element);
    title("Runs", []);
    end = listen(null, {
      ...common,
      live: () => {},
      report: () => {},
      control: start.show,
      runs: (entries: Entry[]) => {
        const running = entries.filter(({ status }) => status === "running").length;
        title("Runs", [counted(entries.length, "run"), ...(running ? [`${running} being measured`] : [])]);
        list.show(entries);
        document.documentElement.dataset.complete = "true";
      },
    });
  }

  function showRun(name: string): void {
    const course = runCourse(name);
    main.replaceChildren(element("p", { class: "back" }, element("a", { href: "#" }, "All runs")), course.element);
    title(name, []);
    const load = async () => {
      const answer = await fetch(`/api/runs/${encodeURIComponent(name)}`);
      if (answer.ok) course.report((await answer.json()) as Report);
      else common.problem(await answer.text());
      document.documentElement.dataset.complete = "true";
    };
    void load();
    end = listen(name, {
      ...common,
      runs: () => {},
      control: course.allowStop,
      live: (live: Live) => {
        title(live.label, [live.name === live.label ? "" : live.name, live.point?.point.target ?? ""].filter(Boolean));
        course.show(live);
      },
      report: () => void load(),
    });
  }

  function follow(): void {
    end();
    delete document.documentElement.dataset.complete;
    const name = named();
    if (name === null || name === "main") showList();
    else showRun(name);
  }
  follow();
  addEventListener("hashchange", follow);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

start(document.body);
