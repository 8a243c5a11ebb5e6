import type { IceServer } from "@vocalhost/protocol";
import { z } from "zod";
import { FlagError, type FlagValue } from "./flags.ts";

const IceServerObject = z.strictObject({
  urls: z.union([z.string(), z.array(z.string()).min(1)]),
  username: z.string().optional(),
  credential: z.string().optional(),
});

/** Each flag value is one server; the variable may hold a JSON array, one object or a list of URLs. */
export function parseIceServers(flag: FlagValue | undefined, variable: string | undefined): IceServer[] {
  if (Array.isArray(flag)) return flag.map(parseOne);
  const text = variable?.trim() ?? "";
  if (text === "") return [];
  if (text.startsWith("[")) {
    const list = parseJson(text);
    if (!Array.isArray(list)) throw new FlagError(`ICE servers: expected a JSON array, got ${text}`);
    return list.map((entry) => (typeof entry === "string" ? fromUrl(entry) : fromObject(entry)));
  }
  if (text.startsWith("{")) return [parseOne(text)];
  return text.split(",").map((url) => parseOne(url.trim()));
}

function parseOne(text: string): IceServer {
  return text.startsWith("{") ? fromObject(parseJson(text)) : fromUrl(text);
}

function fromUrl(url: string): IceServer {
  if (/^(?:stuns?|turns?):[^\s/]+$/.test(url)) return { urls: url };
  throw new FlagError(
    `ICE servers: "${url}" is not a STUN or TURN address such as stun:stun.example.com:3478`,
  );
}

function fromObject(entry: unknown): IceServer {
  const withoutNulls =
    typeof entry === "object" && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null))
      : entry;
  const result = IceServerObject.safeParse(withoutNulls);
  if (!result.success)
    throw new FlagError(
      `ICE servers: ${result.error.issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": ")).join("; ")}`,
    );
  const { urls, username, credential } = result.data;
  for (const url of [urls].flat()) fromUrl(url);
  return { urls, ...(username ? { username } : {}), ...(credential ? { credential } : {}) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FlagError(`ICE servers: not valid JSON: ${text}`, { cause });
  }
}
