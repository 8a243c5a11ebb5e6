import { AppError } from "@vocalhost/protocol";
import { SESSION_OF_REQUEST, type SessionRequest } from "./session-path.ts";
import type { SessionServer } from "./session-server.ts";

/**
 * `/sessions/{id}/…`: custom routes have been found by now (`session-path.ts`); what arrives here
 * names an unknown session or a path nobody serves.
 */
export function mountSessionRoutes({ app, sessions }: SessionServer): void {
  app.addHook("onRequest", async (request) => {
    request.sessionId = (request.raw as SessionRequest)[SESSION_OF_REQUEST] ?? null;
  });
  const refuse = async (request: { params: unknown }): Promise<never> => {
    const { id } = request.params as { id: string };
    throw new AppError(sessions.get(id) ? "NOT_FOUND" : "SESSION_NOT_FOUND");
  };
  // As a hook, so that WebSockets are refused too instead of being opened and closed.
  for (const path of ["/sessions/:id", "/sessions/:id/*"]) app.all(path, { onRequest: refuse }, refuse);
}
