import { once } from "node:events";
import { startChild, type Child } from "../machine/child.ts";
import { LOAD_CORE } from "../machine/cores.ts";
import type { LoadAnswer, LoadCommand, LoadSettings } from "./commands.ts";

/** Callers in a process of their own, on the other core. */
export interface Load extends Child {
  add(count: number): Promise<LoadAnswer>;
  remove(count: number): Promise<LoadAnswer>;
  restart(): Promise<LoadAnswer>;
  report(): Promise<LoadAnswer>;
}

export type LoadKind = "peer-load" | "socket-load" | "echo-probe" | "room-load" | "room-caller-load";

const ANSWER_MS = 90_000;

export function startLoad(kind: LoadKind, settings: LoadSettings): Load {
  const child = startChild({
    file: `bench/load/${kind}.ts`,
    args: [JSON.stringify(settings)],
    core: LOAD_CORE,
  });
  async function ask(command: LoadCommand): Promise<LoadAnswer> {
    const answered = once(child.process, "message", { signal: AbortSignal.timeout(ANSWER_MS) });
    child.process.send(command, () => undefined); // that it has ended is noticed below
    const outcome = await Promise.race([answered, child.ended]);
    if (typeof outcome === "string") throw new Error(`The load ended with ${outcome}:\n${child.output()}`);
    const [answer] = outcome as [LoadAnswer | { error: string }];
    if ("error" in answer) throw new Error(answer.error);
    return answer;
  }
  return {
    ...child,
    add: (count) => ask({ type: "add", count }),
    remove: (count) => ask({ type: "remove", count }),
    restart: () => ask({ type: "restart" }),
    report: () => ask({ type: "report" }),
  };
}
