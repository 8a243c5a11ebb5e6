import {
  chooseTransport,
  requestedTransport,
  requireStartBodyFits,
  StartRequest,
  type Started,
} from "@vocalhost/protocol";
import { doorOf } from "./doors/doors.ts";
import { parseRequest } from "./error-replies.ts";
import type { SessionServer } from "./session-server.ts";

/** `POST /start`: where every session begins; its door answers. */
export function mountStartRoute(server: SessionServer): void {
  server.app.post("/start", { config: { lenientBody: true } }, async (request, reply): Promise<Started> => {
    const input = parseRequest(StartRequest, request.body);
    const transport = chooseTransport(requestedTransport(input), {
      accepted: server.transports,
      only: server.onlyTransport,
      refusal: "is disabled in this runner environment. Check the startup banner for enabled transports.",
    });
    server.bot();
    requireStartBodyFits(transport, input.body);
    const { sessionId, answer } = await doorOf(transport).start({ server, request, transport, input });
    if (sessionId !== null) reply.header("x-vocalhost-session-id", sessionId);
    return answer;
  });
}
