import { AppError, isAppError, parseJsonBody } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Treats a body that is not JSON as `{}` instead of refusing it. */
    lenientBody?: boolean;
  }
}

/** Represents an unreadable body until the route decides whether to refuse it. */
class UnreadableBody {
  readonly error: AppError;
  constructor(error: AppError) {
    this.error = error;
  }
}

/** Accepts JSON bodies only, bounded in size and depth, and never decompressed. */
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
  try {
    return parseJsonBody(text);
  } catch (error) {
    if (isAppError(error)) return new UnreadableBody(error);
    throw error;
  }
}
