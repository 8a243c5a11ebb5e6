import { AppError, limits } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A body that is not JSON counts as `{}` instead of being refused. */
    lenientBody?: boolean;
  }
}

/** Stands in for a body that could not be read, until it is known whether the route minds. */
class UnreadableBody {
  readonly error: AppError;
  constructor(error: AppError) {
    this.error = error;
  }
}

/** JSON only, bounded in size and depth, never decompressed. */
export function installJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    done(null, parseBody(String(text)));
  });
  app.addHook("onRequest", async (request) => {
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") throw new AppError("UNSUPPORTED_MEDIA_TYPE");
  });
  app.addHook("preValidation", async (request) => {
    if (!(request.body instanceof UnreadableBody)) return;
    if (!request.routeOptions.config.lenientBody) throw request.body.error;
    request.body = {};
  });
}

function parseBody(text: string): unknown {
  if (text.trim() === "") return undefined;
  if (isDeeperThan(text, limits.jsonDepth)) return new UnreadableBody(new AppError("BODY_TOO_DEEP"));
  try {
    return JSON.parse(text, dropPollution);
  } catch (cause) {
    return new UnreadableBody(new AppError("MALFORMED_JSON", { cause }));
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
