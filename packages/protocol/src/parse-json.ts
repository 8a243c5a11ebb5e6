import { AppError } from "./errors.ts";
import { limits } from "./limits.ts";

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a request's body: bounded in depth, free of `__proto__`. Undefined when there is none. */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === "") return undefined;
  if (isDeeperThan(text, limits.jsonDepth)) throw new AppError("BODY_TOO_DEEP");
  try {
    return JSON.parse(text, dropPollution);
  } catch (cause) {
    throw new AppError("MALFORMED_JSON", { cause });
  }
}

function dropPollution(this: unknown, key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

/** Counts brackets outside strings, so that a hostile body is refused before it is parsed. */
function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === 0x5c) at += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return false;
}
