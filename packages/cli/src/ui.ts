import { stripVTControlCharacters, styleText } from "node:util";
import type { Problem } from "./problem.ts";

/** All output of a command: results go to standard output, everything else to standard error. */
export interface Ui {
  readonly isTerminal: boolean;
  /** The result. */
  print(text: string): void;
  /** A remark; not shown with `--json`. */
  note(text: string): void;
  problem(problem: Problem): void;
  /** One line that the next one overwrites. Does nothing where that is not possible. */
  progress(text: string): void;
  /** Lines that stay below all other output. Does nothing where that is not possible. */
  footer(lines: readonly string[]): void;
  /** Shows a progress line while `work` runs. */
  task<Result>(text: string, work: (update: TaskUpdate) => Promise<Result>): Promise<Result>;
  /** Adds colour where the terminal shows it. */
  style(style: Style, text: string): string;
}

/** Progress of a task: from 0 to 1 where it is known, and the current step. */
export type TaskUpdate = (done: number | undefined, doing?: string) => void;

export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

export function createUi(options: UiOptions): Ui {
  return new TerminalUi(options);
}

class TerminalUi implements Ui {
  readonly isTerminal: boolean;
  readonly #options: UiOptions;
  #hasProgress = false;
  #footer: readonly string[] = [];
  #footerRows = 0;

  constructor(options: UiOptions) {
    this.#options = options;
    this.isTerminal = !options.isJson && options.errors.isTTY;
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#options.output });
  }

  print(text: string): void {
    this.#aboveFooter(() => this.#options.output.write(`${text}\n`));
  }

  note(text: string): void {
    if (!this.#options.isJson) this.#say(this.#styleError("dim", shown(text)));
  }

  problem({ code, message, why, fixes }: Problem): void {
    const { output, isJson } = this.#options;
    if (isJson) {
      output.write(`${JSON.stringify({ ok: false, problem: { code, message, why, fixes } })}\n`);
      return;
    }
    this.#say(this.#styleError("red", shown(message)));
    if (why) this.#say(shown(why).replace(/^/gm, "  "));
    for (const fix of fixes) this.#say(`  ${this.#styleError("cyan", "→")} ${shown(fix)}`);
  }

  progress(text: string): void {
    if (!this.isTerminal) return;
    this.#options.errors.write(`\r\u001b[K${this.#fitting(text)}`);
    this.#hasProgress = true;
  }

  footer(lines: readonly string[]): void {
    if (!this.isTerminal) return;
    this.#footer = lines;
    this.#aboveFooter(() => undefined);
  }

  async task<Result>(text: string, work: (update: TaskUpdate) => Promise<Result>): Promise<Result> {
    if (!this.isTerminal) return work(() => undefined);
    let told = "";
    let frame = 0;
    const draw = (): void => this.progress(`${FRAMES[frame++ % FRAMES.length]} ${text}${told}`);
    const timer = setInterval(draw, FRAME_MS);
    draw();
    try {
      return await work((done, doing = "") => {
        told = `${done === undefined ? "" : `  ${bar(done)}`}${doing && `  ${doing}`}`;
      });
    } finally {
      clearInterval(timer);
      this.#endProgress();
    }
  }

  #say(text: string): void {
    this.#aboveFooter(() => this.#options.errors.write(`${text}\n`));
  }

  #endProgress(): void {
    if (this.#hasProgress) this.#options.errors.write("\r\u001b[K");
    this.#hasProgress = false;
  }

  #aboveFooter(write: () => void): void {
    const { errors } = this.#options;
    const rows = this.#footerRows;
    this.#endProgress();
    if (rows > 0) errors.write(`\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`);
    write();
    this.#footerRows = this.#footer.length;
    if (this.#footerRows > 0)
      errors.write(this.#footer.map((line) => this.#styleError("dim", this.#fitting(line))).join("\n"));
  }

  #fitting(text: string): string {
    const width = this.#options.errors.columns || 80; // terminals that do not know their width say 0
    return shown(text).slice(0, width - 1);
  }

  #styleError(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#options.errors });
  }
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
  /** Writes one JSON object to standard output and nothing else. */
  isJson: boolean;
}

/** Removes control characters: text from a server must not drive the terminal. */
function shown(text: string): string {
  return stripVTControlCharacters(text);
}
