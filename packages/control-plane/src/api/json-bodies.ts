import { AppError, limits } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";

/** JSON only, bounded in size and depth, never decompressed. */
export function installJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    try {
      done(null, parseBody(String(text)));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook("onRequest", async (request) => {
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") throw new AppError("UNSUPPORTED_MEDIA_TYPE");
  });
}

function parseBody(text: string): unknown {
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

/** Text that no database can hold, anywhere in a value. */
export function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => name.includes("\0") || holdsNul(inner));
}
