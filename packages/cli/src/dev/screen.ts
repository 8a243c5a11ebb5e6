import { basename } from "node:path";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import type { LiveSession } from "./generation.ts";
import type { GenerationEvent } from "./generations.ts";

/** The output of `vocalhost dev`: JSON lines, plain lines, or lines above a list of live sessions. */
export interface Screen extends Disposable {
  line(line: string, generation: number): void;
  event(event: GenerationEvent): void;
  /** Once, when the first code runs. */
  ready(url: string): void;
  changed(paths: readonly string[]): void;
  note(text: string): void;
  sessions(sessions: readonly ShownSession[]): void;
}

export interface ShownSession extends LiveSession {
  isOnOldCode: boolean;
}

const LISTED_MAX = 8;
const ID_CHARACTERS = 8; // as log lines show it
const CLOCK_MS = 1_000;

export function createScreen({ ui, isJson }: Pick<CommandContext, "ui" | "isJson">, botFile: string): Screen {
  return isJson ? jsonScreen((value) => ui.print(JSON.stringify(value))) : lineScreen(ui, basename(botFile));
}

function jsonScreen(print: (value: object) => void): Screen {
  let shown = "";
  return {
    line: (text, generation) => print({ event: "log", generation, text }),
    event(event) {
      if (event.type === "ready")
        print({ event: "code-ready", generation: event.number, sessionsOnOldCode: event.sessionsOnOldCode });
      else if (event.type === "broken")
        print({
          event: "code-broken",
          exit: event.exit,
          message: event.lastWords,
          isServing: event.isServing,
        });
      else if (event.type === "lost") print({ event: "code-lost", generation: event.number });
      else print({ event: "code-starting", generation: event.number });
    },
    ready: (url) => print({ event: "ready", url }),
    changed: (paths) => print({ event: "changed", paths }),
    note: (message) => print({ event: "note", message }),
    sessions(sessions) {
      const text = JSON.stringify(sessions);
      if (text === shown) return;
      shown = text;
      print({ event: "sessions", sessions });
    },
    [Symbol.dispose]: () => undefined,
  };
}

function lineScreen(ui: CommandContext["ui"], botName: string): Screen {
  let isUp = false;
  let live: readonly ShownSession[] = [];
  const draw = (): void => ui.footer(["", ...sessionLines(live, Date.now()), KEYS]);
  const clock = setInterval(() => live.length > 0 && draw(), CLOCK_MS);

  function onReady({ number, banner, sessionsOnOldCode }: Extract<GenerationEvent, { type: "ready" }>): void {
    if (number === 1 || !isUp) ui.print(banner.replace(/\n+$/, "\n"));
    else ui.note(`New code is running: it takes the next session.${staying(sessionsOnOldCode)}`);
    isUp = true;
  }

  return {
    line: (text) => ui.print(text),
    event(event) {
      switch (event.type) {
        case "starting":
          return;
        case "ready":
          return onReady(event);
        case "broken":
          return ui.problem(brokenCode(event, botName));
        case "lost":
          return ui.note(
            `The bot's process has ended.${event.startsAgain ? " Restarting it." : " Save a file or press r to start it again."}`,
          );
        default:
          return event satisfies never;
      }
    },
    ready: draw,
    changed: (paths) => ui.note(`${paths.map((path) => basename(path)).join(", ")} changed`),
    note: (text) => ui.note(text),
    sessions(sessions) {
      live = sessions;
      if (isUp) draw();
    },
    [Symbol.dispose]() {
      clearInterval(clock);
      ui.footer([]);
    },
  };
}

const KEYS = "  o open in the browser   r restart   q quit";

export function sessionLines(sessions: readonly ShownSession[], nowMs: number): string[] {
  if (sessions.length === 0) return ["  No live sessions"];
  const rows = sessions.slice(0, LISTED_MAX).map(({ id, transport, state, sinceMs, isOnOldCode }) => {
    const remarks = [state === "waiting" ? "waiting for its client" : "", isOnOldCode ? "old code" : ""];
    const about = remarks.filter(Boolean).join(", ");
    return `    ${transport.padEnd(9)}  ${clockTime(nowMs - sinceMs)}  ${id.slice(0, ID_CHARACTERS)}${about && `  ${about}`}`;
  });
  const more = sessions.length > LISTED_MAX ? [`    and ${sessions.length - LISTED_MAX} more`] : [];
  return [`  ${sessions.length} live ${sessions.length === 1 ? "session" : "sessions"}`, ...rows, ...more];
}

function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
}

function staying(sessions: number): string {
  if (sessions === 0) return "";
  return ` ${sessions} live ${sessions === 1 ? "session stays" : "sessions stay"} on the old code.`;
}

function brokenCode(event: Extract<GenerationEvent, { type: "broken" }>, botName: string): Problem {
  return new Problem("bot_broken", `${botName} does not run: its process ${event.exit}.`, {
    why: event.isServing
      ? "The last working version keeps taking calls."
      : "Nothing takes calls until it is fixed.",
    fixes: [...likelyFixes(event.lastWords), "Fix it and save; it restarts automatically."],
  });
}

function likelyFixes(lastWords: string): string[] {
  if (lastWords === "")
    return ['Does it start the runner? Its last line should call main() from "vocalhost/runner".'];
  const [, missing] = /Cannot find package '([^']+)'/.exec(lastWords) ?? [];
  if (missing === undefined) return [];
  return [
    missing === "vocalhost" ? "Install the packages: npm install" : `Install it: npm install ${missing}`,
  ];
}
