// Runs many command lines in one process, because starting one costs more than most of them: a list of lists of words
// as JSON on its input, what each printed and how it ended as JSON on its output.
import { text } from "node:stream/consumers";
import { main } from "../../packages/cli/src/main.ts";
import type { Finished } from "./vocalhost-process.ts";

const lines = JSON.parse(await text(process.stdin)) as string[][];
const finished: Finished[] = [];
for (const words of lines) finished.push(await run(words));
process.stdout.write(JSON.stringify(finished));

async function run(words: string[]): Promise<Finished> {
  const output = capture(process.stdout);
  const errors = capture(process.stderr);
  try {
    const exitCode = await main(words);
    return { exitCode, output: output.text(), errors: errors.text() };
  } finally {
    output.end();
    errors.end();
  }
}

function capture(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const write = stream.write.bind(stream);
  let seen = "";
  stream.write = (chunk: string | Uint8Array) => {
    seen += String(chunk);
    return true;
  };
  return { text: () => seen, end: () => void (stream.write = write) };
}
