import { parse, TomlError, type TomlTable } from "smol-toml";
import type { z } from "zod";
import { closestWord } from "@vocalhost/protocol";
import { Problem } from "../problem.ts";
import { findKeyLines, type KeyLines } from "./key-lines.ts";
import { knownKeys, ProjectConfig } from "./project-config.ts";

const FILE_MAX_BYTES = 64 * 1024;
const DEPTH_MAX = 20;
const MISTAKES_SHOWN = 10;

/** Reads a project file. Throws a Problem that names every wrong line and key. */
export function parseProject(bytes: Uint8Array, path: string): ProjectConfig {
  if (bytes.length > FILE_MAX_BYTES)
    throw new Problem(
      "config_too_large",
      `${path} has ${Math.ceil(bytes.length / 1024)} KiB; the limit is 64 KiB`,
      {
        why: "A project file is a page of settings; this looks like something else.",
      },
    );
  const text = decode(bytes, path);
  const table = parseToml(text, path);
  const result = ProjectConfig.safeParse(table, { reportInput: true });
  const lines = findKeyLines(text);
  const mistakes = result.success
    ? contradictions(result.data, lines)
    : result.error.issues.flatMap((issue) => toMistakes(issue, lines));
  if (result.success && mistakes.length === 0) return result.data;
  throw toProblem(mistakes, path);
}

interface Mistake {
  line: number | undefined;
  key: string;
  what: string;
  fix?: string | undefined;
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const readable = new TextDecoder().decode(bytes);
    const line = readable.slice(0, readable.indexOf("\uFFFD")).split("\n").length;
    throw new Problem("config_invalid", `${path}, line ${line}: this is not UTF-8 text`, {
      fixes: ["Save the file as UTF-8."],
      cause: error,
    });
  }
}

function parseToml(text: string, path: string): TomlTable {
  try {
    return parse(text, { maxDepth: DEPTH_MAX });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    const [headline = ""] = error.message.split("\n");
    const key = keyAbove(text, line);
    throw new Problem(
      "config_invalid",
      `${path}, line ${line}, column ${column}${key && `, at ${key}`}: ${headline.replace("Invalid TOML document: ", "")}`,
      {
        why: error.codeblock.trimEnd(),
        fixes: ['Text stands in quotes: region = "eu-central". Tables begin with [scaling].'],
        cause: error,
      },
    );
  }
}

/** The key a line that cannot be read most likely belongs to. */
function keyAbove(text: string, line: number): string {
  const above = text.split("\n").slice(0, line).reverse();
  const found = above.map((candidate) => /^\s*([\w.-]+)\s*=/.exec(candidate)?.[1]).find(Boolean);
  return found ?? "";
}

function toMistakes(issue: z.core.$ZodIssue, lines: KeyLines): Mistake[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(key, path, lines));
  const key = path.join(".");
  return [{ line: lineOf(path, lines), key, what: `${key} ${wrongValue(issue)}` }];
}

function unknownKey(key: string, table: string[], lines: KeyLines): Mistake {
  const place = table.join(".");
  return {
    line: lineOf([...table, key], lines),
    key: [...table, key].join("."),
    what: `unknown key ${shown(key)}${place && ` in [${place}]`}`,
    fix: suggestion(key, place),
  };
}

function suggestion(key: string, place: string): string {
  const home = Object.keys(knownKeys).find((table) => knownKeys[table]?.includes(key));
  if (home !== undefined)
    return home === "" ? `${key} belongs before all tables.` : `${key} belongs in [${home}].`;
  const known = knownKeys[place] ?? [];
  const near = SYNONYMS.get(`${place}.${key}`) ?? closestWord(key, known);
  if (near) return `Did you mean ${near}?`;
  for (const [table, keys] of Object.entries(knownKeys)) {
    const found = closestWord(key, keys);
    if (found) return `Did you mean ${found}${table && ` in [${table}]`}?`;
  }
  return `Known here: ${known.join(", ")}`;
}

// Spellings other tools have for the same.
const SYNONYMS = new Map([
  ["scaling.min_instances", "min_agents"],
  ["scaling.max_instances", "max_agents"],
]);

function wrongValue(issue: z.core.$ZodIssue): string {
  const given = "input" in issue ? `, not ${shownValue(issue.input)}` : "";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}${given}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}${given}`;
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be ${issue.minimum} or more${given}`;
    case "too_big": {
      const unit = UNITS[issue.origin] ?? "";
      return `must be ${issue.maximum}${unit} at most${given}`;
    }
    case "invalid_format":
      return issue.format === "uuid"
        ? `must be the id of a build${given}`
        : `${sentence(issue.message)}${given}`;
    default:
      return sentence(issue.message);
  }
}

const TYPE_NAMES: Record<string, string> = {
  string: "text in quotes",
  int: "a whole number",
  number: "a whole number",
  object: "a table",
  array: "a list",
};

const UNITS: Record<string, string> = { string: " characters", array: " entries" };

function sentence(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function contradictions(config: ProjectConfig, lines: KeyLines): Mistake[] {
  const mistakes: Mistake[] = [];
  const { min_agents, max_agents } = config.scaling ?? {};
  if (config.image !== undefined && config.build_id !== undefined)
    mistakes.push({
      line: lineOf(["build_id"], lines),
      key: "build_id",
      what: "build_id and image cannot be used together",
      fix: "An agent runs an image or a build. Remove one of them.",
    });
  if (min_agents !== undefined && max_agents !== undefined && min_agents > max_agents)
    mistakes.push({
      line: lineOf(["scaling", "min_agents"], lines),
      key: "scaling.min_agents",
      what: `scaling.min_agents is ${min_agents}, more than max_agents, which is ${max_agents}`,
    });
  return mistakes;
}

/** Line of the key itself, or of the table it is in. */
function lineOf(path: string[], lines: KeyLines): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const line = lines.get(path.slice(0, length).join("."));
    if (line !== undefined) return line;
  }
  return undefined;
}

function toProblem(mistakes: Mistake[], path: string): Problem {
  const first = new Map(mistakes.toReversed().map((mistake) => [mistake.key, mistake])); // one of each key
  const inOrder = [...first.values()].sort((left, right) => (left.line ?? 0) - (right.line ?? 0));
  const listed = inOrder.slice(0, MISTAKES_SHOWN);
  const sentences = listed.map(({ line, what }) => `${path}, line ${line ?? 1}: ${what}`);
  if (inOrder.length > listed.length) sentences.push(`and ${inOrder.length - listed.length} more`);
  const fixes = listed.flatMap(({ line, fix }) => {
    if (fix === undefined) return [];
    return inOrder.length === 1 ? fix : `Line ${line}: ${fix}`;
  });
  return new Problem("config_invalid", sentences.join("\n"), {
    why: "Nothing was changed.",
    fixes: fixes.length > 0 ? fixes : [`Fix ${path} and try again.`],
  });
}

function shown(key: string): string {
  return key.length > 60 ? `${JSON.stringify(key.slice(0, 60))}…` : JSON.stringify(key);
}

function shownValue(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
