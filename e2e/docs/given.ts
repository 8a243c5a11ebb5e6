import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Block } from "../../scripts/walk-docs/blocks.ts";

/** Names that the text around fragments has introduced. */
export const GIVEN = `
import type * as Sdk from "vocalhost";
import type { PipecatClient } from "@pipecat-ai/client-js";
import type { Server, ServerResponse } from "node:http";

declare global {
  const args: Sdk.RunnerArguments;
  const transport: Sdk.Transport;
  const audioOut: Sdk.Transport["audioOut"];
  const speech: Sdk.AudioFrame;
  const text: string;
  function transcribe(audio: AsyncIterable<Sdk.AudioFrame>): Promise<void>;
  const client: PipecatClient;
  const server: Server;
  function notFound(response: ServerResponse): void;
  const apiSecret: string;
  const bytes: Uint8Array<ArrayBuffer>;
  const payload: Uint8Array<ArrayBuffer>;
  const username: string;
  const password: string;
  const microphone: AsyncIterable<Int16Array>;
  const speaker: { write(samples: Int16Array): void };
}
`;

const ENTRIES = { vocalhost: "index.ts", "vocalhost/filters": "filters/index.ts" };

/**
 * A fragment in full: with imports of what it takes from the SDK without saying so, and whatever its mark names:
 * `given="bookings"` stands for something of the reader's own, of which nothing is known. (The test declares
 * packages named so.)
 */
export function completed({ text, marks }: Block, repository: string): string {
  const known = new Set<string>();
  const imports = Object.entries(ENTRIES).map(([entry, file]) => {
    const offered = exportsOf(join(repository, "packages/sdk/src", file));
    const taken = offered.filter((name) => isFree(name, text) && !known.has(name));
    for (const name of taken) known.add(name);
    return taken.length === 0 ? "" : `import { ${taken.join(", ")} } from "${entry}"; `;
  });
  const own = (marks["given"] ?? "").split(/, */).filter(Boolean);
  const declared = own.filter((name) => !/[@/]/.test(name)).map((name) => `declare const ${name}: any; `);
  const isOfFunction = /^(?:if \(.*\) )?return\b/m.test(text);
  const whole = isOfFunction ? `async function fragment() { ${text} }` : text;
  return `${imports.join("")}${declared.join("")}${whole}`;
}

/** Types with their modifier, as an import of them is written. */
function exportsOf(file: string): string[] {
  const lists = readFileSync(file, "utf8").matchAll(/export (type )?\{([^}]*)\}/g);
  return [...lists].flatMap(([, isType, names = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => /^(?:type )?\w+$/.test(name))
      .map((name) => (isType ? `type ${name}` : name)),
  );
}

function isFree(exported: string, text: string): boolean {
  const name = exported.replace("type ", "");
  const isUsed = new RegExp(String.raw`(?<![.\w"'])${name}\b(?!["'])`).test(text);
  const isOwn = new RegExp(String.raw`\b(?:const|let|function|class|type|interface) ${name}\b`).test(text);
  const isImported = new RegExp(String.raw`import [^;]*\b${name}\b[^;]*;`).test(text);
  return isUsed && !isOwn && !isImported;
}
