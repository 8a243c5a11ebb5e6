import {
  AppError,
  chooseTransport,
  requestedTransport,
  requireStartBodyFits,
  StartRequest,
  type Started,
} from "@vocalhost/protocol";
import type { SessionHost } from "./doors/door.ts";
import { doorOf, mountOpenDoors } from "./doors/doors.ts";
import { parseRequest } from "./error-replies.ts";
import { SESSION_OF_REQUEST, type SessionRequest } from "./session-path.ts";

/** Adds every route through which sessions are started and reached. */
export function mountSessionServer(host: SessionHost): void {
  mountStartRoute(host);
  mountOpenDoors(host);
  mountSessionRoutes(host);
}

/** `POST /start`: every session begins here, and its door answers. */
function mountStartRoute(host: SessionHost): void {
  host.app.post("/start", { config: { lenientBody: true } }, async (request, reply): Promise<Started> => {
    const input = parseRequest(StartRequest, request.body);
    const transport = chooseTransport(requestedTransport(input), {
      accepted: host.transports,
      only: host.onlyTransport,
      refusal: "is disabled in this runner environment. Check the startup banner for enabled transports.",
    });
    host.bot();
    requireStartBodyFits(transport, input.body);
    const { sessionId, answer } = await doorOf(transport).start({ server: host, request, transport, input });
    if (sessionId !== null) reply.header("x-vocalhost-session-id", sessionId);
    return answer;
  });
}

/**
 * `/sessions/{id}/…`: custom routes were found before (`session-path.ts`). A request that arrives here names an unknown
 * session, or a path without a route.
 */
export function mountSessionRoutes({ app, sessions }: Pick<SessionHost, "app" | "sessions">): void {
  app.addHook("onRequest", async (request) => {
    request.sessionId = (request.raw as SessionRequest)[SESSION_OF_REQUEST] ?? null;
  });
  const refuse = async (request: { params: unknown }): Promise<never> => {
    const { id } = request.params as { id: string };
    throw new AppError(sessions.get(id) ? "NOT_FOUND" : "SESSION_NOT_FOUND");
  };
  // A hook refuses WebSockets as well; the handler alone would open them first.
  for (const path of ["/sessions/:id", "/sessions/:id/*"]) app.all(path, { onRequest: refuse }, refuse);
}
