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
  /** Colours only where colours are shown. */
  style(style: Style, text: string): string;
}

export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

export function createUi(options: UiOptions): Ui {
  const { output, errors, isJson } = options;
  const isTerminal = !isJson && errors.isTTY;
  let hasProgress = false;

  function say(text: string): void {
    endProgress();
    errors.write(`${text}\n`);
  }

  function endProgress(): void {
    if (hasProgress) errors.write("\r\u001b[K");
    hasProgress = false;
  }

  const style = (name: Style, text: string): string => styleText(name, text, { stream: output });
  const styleError = (name: Style, text: string): string => styleText(name, text, { stream: errors });

  return {
    isTerminal,
    style,
    print(text) {
      endProgress();
      output.write(`${text}\n`);
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
      if (problem.why) say(`  ${shown(problem.why)}`);
      for (const fix of problem.fixes) say(`  ${styleError("cyan", "→")} ${shown(fix)}`);
    },
    progress(text) {
      if (!isTerminal) return;
      const width = errors.columns || 80; // terminals that do not know their width say 0
      errors.write(`\r\u001b[K${shown(text).slice(0, width - 1)}`);
      hasProgress = true;
    },
  };
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
