import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";

/** What is said on the way goes to standard error, the result to standard output. */
export interface Terminal {
  print(text: string): void;
  note(text: string): void;
  error(text: string): void;
  bold(text: string): string;
  /** Shows that something takes its time. */
  busy(text: string): Disposable;
  /** Undefined where nobody can answer. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;

export function createTerminal({ isJson }: { isJson: boolean }): Terminal {
  const { stdin, stdout, stderr } = process;
  const isLively = stderr.isTTY && !isJson;
  return {
    print: (text) => void stdout.write(`${text}\n`),
    note: (text) => void (isJson || stderr.write(`${text}\n`)),
    error: (text) => void stderr.write(`${styleText("red", text, { stream: stderr })}\n`),
    bold: (text) => styleText("bold", text, { stream: stdout }),
    busy(text) {
      if (!isLively) return { [Symbol.dispose]: () => undefined };
      let frame = 0;
      const draw = (): void => void stderr.write(`\r\u001b[K${FRAMES[frame++ % FRAMES.length]} ${text}`);
      const timer = setInterval(draw, FRAME_MS);
      draw();
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          stderr.write("\r\u001b[K");
        },
      };
    },
    async ask(question, signal) {
      if (!isLively || !stdin.isTTY) return undefined;
      const reader = createInterface({ input: stdin, output: stderr });
      reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
      try {
        return await reader.question(question, { signal });
      } finally {
        reader.close();
      }
    },
  };
}
