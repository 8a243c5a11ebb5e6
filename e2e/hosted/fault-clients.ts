import { ApiError } from "@vocalhost/protocol";
import { randomUUID } from "node:crypto";
import { until } from "../../testing/wait.ts";
import { CallRefusedError, openCall, type Call } from "./fault-call.ts";
import type { FaultService } from "./fault-service.ts";
import type { Reply } from "./fault-invariants.ts";

/** Callers that do not give up: what a service in trouble refuses they try again. */
export interface FaultClients {
  /** Every start that was answered. */
  readonly replies: Reply[];
  /** Sessions that were over before their callers had hung up, with how. */
  readonly dropped: string[];
  /** A session from its start, asked for twice under one key, to its stop. */
  startAndStop(): Promise<void>;
  /** A call from its start to its bot's hang-up. */
  callAndHangUp(numbers?: number): Promise<void>;
}

const PATIENCE_MS = 40_000;
const LATER = [429, 502, 503, 504];
const NORMAL = 1000;

export function createFaultClients({ service }: FaultService, agent: string): FaultClients {
  const replies: Reply[] = [];
  const dropped: string[] = [];

  async function start(key: string): Promise<string> {
    const sessionId = await persist(async () => {
      const started = await service.publicApi.sessions.start(agent, {
        transport: "webrtc",
        idempotencyKey: key,
      });
      return "sessionId" in started ? started.sessionId : undefined;
    }, `session of key ${key}`);
    replies.push({ key, sessionId });
    return sessionId;
  }

  return {
    replies,
    dropped,
    async startAndStop() {
      const key = randomUUID();
      const sessionId = await start(key);
      await start(key);
      await persist(async () => {
        await service.api.sessions.stop(agent, sessionId).catch((error: unknown) => {
          if (!(error instanceof ApiError && error.status === 404)) throw error; // stopped by the attempt before
        });
        return true;
      }, `stop of session ${sessionId}`);
      await service.sessionEnded(sessionId, PATIENCE_MS);
    },
    async callAndHangUp(numbers = 5) {
      using call: Call = await persist(() => openCall(service, { agent }), "call");
      await until(() => call.echoed >= numbers || !call.isOpen, PATIENCE_MS, "conversation");
      call.fallSilent();
      if (call.isOpen) call.say("hang up");
      const code = await call.closed();
      const reason = await service.sessionEnded(call.sessionId, PATIENCE_MS);
      if (code !== NORMAL || reason !== "bot-finished") dropped.push(`${call.sessionId}: ${code}, ${reason}`);
      dropped.push(...call.faults);
    },
  };
}

async function persist<T>(attempt: () => Promise<T | undefined>, what: string): Promise<T> {
  return until(
    () =>
      attempt().catch((error: unknown) => {
        if (isTrouble(error)) return undefined;
        throw error;
      }),
    PATIENCE_MS,
    what,
  );
}

// A refusal that asks for patience, or a connection that broke.
function isTrouble(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof CallRefusedError) return LATER.includes(error.status);
  return error instanceof TypeError;
}
