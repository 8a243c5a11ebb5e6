import { stripVTControlCharacters, styleText } from "node:util";
import type { Problem } from "./problem.ts";

/** Everything a command says. Results go to standard output, what happens meanwhile to standard error. */
export interface Ui {
  readonly isTerminal: boolean;
  /** The result. */
  print(text: string): void;
  /** A remark; not shown with `--json`. */
  note(text: string): void;
  problem(problem: Problem): void;
  /** One line that is written over by the next; nothing where that is not possible. */
  progress(text: string): void;
  /** Lines that stay below everything else that is said; nothing where that is not possible. */
  footer(lines: readonly string[]): void;
  /** Shows that something is going on for as long as it does. */
  task<Result>(text: string, work: (update: TaskUpdate) => Promise<Result>): Promise<Result>;
  /** Colours only where colours are shown. */
  style(style: Style, text: string): string;
}

/** How far a task is: from 0 to 1 where that is known, and what it does at the moment. */
export type TaskUpdate = (done: number | undefined, doing?: string) => void;

export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

export function createUi(options: UiOptions): Ui {
  const { output, errors, isJson } = options;
  const isTerminal = !isJson && errors.isTTY;
  let hasProgress = false;
  let footer: readonly string[] = [];
  let footerRows = 0;

  function say(text: string): void {
    aboveFooter(() => errors.write(`${text}\n`));
  }

  function endProgress(): void {
    if (hasProgress) errors.write("\r\u001b[K");
    hasProgress = false;
  }

  function aboveFooter(write: () => void): void {
    endProgress();
    if (footerRows > 0) errors.write(`\r${footerRows > 1 ? `\u001b[${footerRows - 1}A` : ""}\u001b[J`);
    write();
    footerRows = footer.length;
    if (footerRows > 0) errors.write(footer.map((line) => styleError("dim", fitting(line))).join("\n"));
  }

  function fitting(text: string): string {
    const width = errors.columns || 80; // terminals that do not know their width say 0
    return shown(text).slice(0, width - 1);
  }

  const style = (name: Style, text: string): string => styleText(name, text, { stream: output });
  const styleError = (name: Style, text: string): string => styleText(name, text, { stream: errors });

  const ui: Ui = {
    isTerminal,
    style,
    print(text) {
      aboveFooter(() => output.write(`${text}\n`));
    },
    note(text) {
      if (!isJson) say(styleError("dim", shown(text)));
    },
    problem(problem) {
      if (isJson) {
        const { code, message, why, fixes } = problem;
        output.write(`${JSON.stringify({ ok: false, problem: { code, message, why, fixes } })}\n`);
        return;
      }
      say(styleError("red", shown(problem.message)));
      if (problem.why) say(shown(problem.why).replace(/^/gm, "  "));
      for (const fix of problem.fixes) say(`  ${styleError("cyan", "→")} ${shown(fix)}`);
    },
    progress(text) {
      if (!isTerminal) return;
      errors.write(`\r\u001b[K${fitting(text)}`);
      hasProgress = true;
    },
    footer(lines) {
      if (!isTerminal) return;
      footer = lines;
      aboveFooter(() => undefined);
    },
    async task(text, work) {
      if (!isTerminal) return work(() => undefined);
      let told = "";
      let frame = 0;
      const draw = (): void => ui.progress(`${FRAMES[frame++ % FRAMES.length]} ${text}${told}`);
      const timer = setInterval(draw, FRAME_MS);
      draw();
      try {
        return await work((done, doing = "") => {
          told = `${done === undefined ? "" : `  ${bar(done)}`}${doing && `  ${doing}`}`;
        });
      } finally {
        clearInterval(timer);
        endProgress();
      }
    },
  };
  return ui;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const BAR_CHARACTERS = 24;

function bar(done: number): string {
  const part = Math.min(1, Math.max(0, done));
  const full = Math.round(part * BAR_CHARACTERS);
  return `${"█".repeat(full)}${"░".repeat(BAR_CHARACTERS - full)} ${Math.round(part * 100)} %`;
}

export interface UiOptions {
  output: NodeJS.WriteStream;
  errors: NodeJS.WriteStream;
  /** One JSON object on standard output and nothing else. */
  isJson: boolean;
}

/** What a server sent is shown, not obeyed. */
function shown(text: string): string {
  return stripVTControlCharacters(text);
}
