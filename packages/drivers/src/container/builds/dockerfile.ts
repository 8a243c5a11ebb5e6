import { ImageBuildError } from "../../image-builder.ts";

/** One instruction of a Dockerfile. */
export interface Instruction {
  /** The keyword in capitals. */
  keyword: string;
  /** `--chown=bot:bot` and the like, which come first. */
  flags: string[];
  /** The text after them, on one line. */
  rest: string;
  /** The text of the instruction as it was written. */
  text: string;
  /** Number of its first line, from 1. */
  line: number;
}

const MAX_BYTES = 256 * 1024;

/**
 * Parses a Dockerfile as engines do. Refuses syntax that engines may read differently: the check would then cover
 * another file than the build.
 */
export function parseDockerfile(text: string): Instruction[] {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new ImageBuildError("The Dockerfile has more than 256 KiB");
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  refuseDirectives(lines);
  const instructions: Instruction[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (isBlankOrComment(lines[at] ?? "")) continue;
    const first = at;
    const parts: string[] = [];
    for (; ; at += 1) {
      const line = lines[at] ?? "";
      if (parts.length > 0 && isBlankOrComment(line) && at < lines.length) continue;
      const isContinued = /\\[ \t]*$/.test(line) && at + 1 < lines.length;
      parts.push(line.replace(/\\[ \t]*$/, ""));
      if (!isContinued) break;
    }
    instructions.push(toInstruction(parts.join("").trim(), lines.slice(first, at + 1).join("\n"), first + 1));
  }
  return instructions;
}

function toInstruction(joined: string, text: string, line: number): Instruction {
  const [, keyword = "", after = ""] = /^([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(joined) ?? [];
  if (keyword === "")
    throw new ImageBuildError(`Dockerfile, line ${line}: this is no instruction: ${joined.slice(0, 80)}`);
  const flags: string[] = [];
  let rest = after.trim();
  for (let flag = /^(--\S+)\s*/.exec(rest); flag; flag = /^(--\S+)\s*/.exec(rest)) {
    flags.push(flag[1] ?? "");
    rest = rest.slice(flag[0].length);
  }
  if (/<<-?["']?[A-Za-z_]/.test(rest) && /^(?:RUN|COPY|ADD)$/i.test(keyword))
    throw new ImageBuildError(
      `Dockerfile, line ${line}: engines do not agree on <<; write a file and COPY it`,
    );
  return { keyword: keyword.toUpperCase(), flags, rest, text, line };
}

function isBlankOrComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

/** They stand in comments before everything else. */
function refuseDirectives(lines: string[]): void {
  for (const line of lines) {
    const [, name] = /^\s*#\s*([A-Za-z]+)\s*=/.exec(line) ?? [];
    if (name === undefined) return;
    if (name.toLowerCase() === "escape")
      throw new ImageBuildError("The Dockerfile sets another escape character, which is not supported");
  }
}
