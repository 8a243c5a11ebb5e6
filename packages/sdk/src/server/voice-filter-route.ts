import { AppError, SwitchFilter, type FilterView } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { VoiceIsolation } from "../filters/voice-isolation.ts";
import { parseRequest } from "./error-replies.ts";

const PATH = "/api/voice-filter";

/** `/sessions/{id}/api/voice-filter`: how loud the caller is before and after the filter, and a switch to compare. */
export function mountVoiceFilter(app: FastifyInstance, isolation: VoiceIsolation): void {
  const switchOf = ({ sessionId }: FastifyRequest) => {
    if (sessionId === null) throw new AppError("SESSION_NOT_FOUND");
    const found = isolation.switchOf(sessionId);
    if (!found) throw new AppError("VOICE_FILTER_NOT_ATTACHED");
    return found;
  };

  app.get(PATH, async (request): Promise<FilterView> => switchOf(request).view());
  app.post(PATH, async (request): Promise<FilterView> => {
    const found = switchOf(request);
    found.isBypassed = parseRequest(SwitchFilter, request.body).isBypassed;
    return found.view();
  });
}
