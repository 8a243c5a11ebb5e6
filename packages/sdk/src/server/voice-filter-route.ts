import { AppError, SwitchFilter, type FilterView } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { FilterSwitch } from "../filters/filter-switch.ts";
import type { VoiceIsolation } from "../filters/voice-isolation.ts";
import { parseRequest } from "./error-replies.ts";

const PATH = "/api/voice-filter";

const NO_FILTER: FilterView = { model: null, isBypassed: false, levelMs: 100, levels: [] };

/** `/sessions/{id}/api/voice-filter`: the caller's volume before and after the filter, and a switch for comparing. */
export function mountVoiceFilter(app: FastifyInstance, isolation: VoiceIsolation | undefined): void {
  const switchOf = ({ sessionId }: FastifyRequest): FilterSwitch | undefined => {
    if (sessionId === null) throw new AppError("SESSION_NOT_FOUND");
    return isolation?.switchOf(sessionId);
  };

  app.get(PATH, async (request): Promise<FilterView> => switchOf(request)?.view() ?? NO_FILTER);
  app.post(PATH, async (request): Promise<FilterView> => {
    const found = switchOf(request);
    if (!found) throw new AppError("VOICE_FILTER_NOT_ATTACHED");
    found.isBypassed = parseRequest(SwitchFilter, request.body).isBypassed;
    return found.view();
  });
}
