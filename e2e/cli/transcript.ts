import { vocalhost, type CommandLines, type Desk, type Finished } from "./vocalhost-process.ts";

/** Records what a user sees of one command after the other, without the parts that differ between runs. */
export interface Transcript {
  /** Runs a command and writes it down; what it gets on standard input is not shown. */
  run(line: string, input?: string): Promise<Finished>;
  text(): string;
}

export function startTranscript(
  { desk, lines }: { desk: Desk; lines: CommandLines },
  replaced: readonly (readonly [RegExp | string, string])[] = [],
): Transcript {
  const parts: string[] = [];
  return {
    async run(line, input) {
      const words = wordsOf(line);
      const finished = await (input === undefined ? lines.run(words) : vocalhost(desk, words, input));
      const { exitCode, output, errors } = finished;
      const said = errors.replace(/^(?=.)/gm, "  stderr | ");
      parts.push(steady(`$ vocalhost ${line}\n${output}${said}[exit ${exitCode}]\n`, replaced));
      return finished;
    },
    text: () => parts.join("\n"),
  };
}

/** As a shell would, with double quotes only. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

function steady(text: string, replaced: readonly (readonly [RegExp | string, string])[]): string {
  const own = replaced.reduce((before, [from, to]) => before.replaceAll(from, to), text);
  return own
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>")
    .replace(/\beyJ[\w.-]+/g, "<token>")
    .replace(/\b([sp]k_)[0-9A-Za-z]{36}\b/g, "$1<36 characters>")
    .replace(/\b([sp]k_)[0-9A-Za-z]{5}\*{4}/g, "$1<5 characters>****")
    .replace(/\b([sp]k_…)[0-9A-Za-z]{4}/g, "$1<4 characters>")
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replace(/^( {2}stderr \|) +[\d.]+ s {2}/gm, "$1  <seconds>  ")
    .replace(/^ {2}stderr \| {2}<seconds> {2}(?:Creating|Validating): .*\n/gm, "") // seen only by who looks at once
    .replace(/\bin [\d.]+ s$/gm, "in <seconds>")
    .replace(/\b[0-9a-f]{8}\b/g, "<short>")
    .replace(/localhost:\d+/g, "localhost:<port>")
    .replace(/[\d.]+ (?:bytes|kB)\b/g, "<size>");
}
