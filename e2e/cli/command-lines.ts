// Runs many command lines in one process, because starting one costs more than most of them: words as a line of JSON on
// its input, what they printed and how they ended as a line of JSON on its output.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { programOf } from "../../testing/programs.ts";
import type { Finished } from "./vocalhost-process.ts";

const { main } = (await import(pathToFileURL(programOf("cli", "main")).href)) as {
  main(words: string[]): Promise<number>;
};

// Each line listens to them as a process of its own would.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line) as string[]))}\n`);
process.exit(0);

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
