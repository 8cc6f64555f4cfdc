// What the server tells as it happens. A connection that breaks comes back by itself; the reader is told meanwhile.

import type { ControlState, Entry, Live } from "../model";

export interface Heard {
  runs: (entries: Entry[]) => void;
  live: (live: Live) => void;
  /** What can be started, where that is allowed. */
  control: (state: ControlState) => void;
  /** A point of the run that is followed has ended. */
  report: () => void;
  /** The store cannot be read; null when it can again. */
  problem: (sentence: string | null) => void;
  connected: (is: boolean) => void;
  /** The server shows one run, which has ended, and ends, too. */
  ended: () => void;
}

/** Listen, and to the course of `run` if there is one; the answer ends it. */
export function listen(run: string | null, heard: Heard): () => void {
  const source = new EventSource(run === null ? "/api/events" : `/api/events?run=${encodeURIComponent(run)}`);
  let version: string | null = null;
  const on = <T>(name: string, then: (value: T) => void) =>
    source.addEventListener(name, (event) => then(JSON.parse((event as MessageEvent<string>).data) as T));
  on<{ version: string }>("hello", (said) => {
    // The script of another version would read the server's records wrongly.
    if (version !== null && version !== said.version) location.reload();
    version = said.version;
    heard.connected(true);
  });
  on<Entry[]>("runs", (entries) => {
    heard.problem(null);
    heard.runs(entries);
  });
  on<Live>("live", heard.live);
  on("report", heard.report);
  on<ControlState>("control", heard.control);
  on<{ sentence: string }>("problem", ({ sentence }) => heard.problem(sentence));
  on("end", () => {
    source.close();
    heard.ended();
  });
  source.addEventListener("error", () => heard.connected(false));
  return () => source.close();
}
