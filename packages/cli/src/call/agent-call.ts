import type { SessionDetails } from "@vocalhost/protocol";
import { setTimeout as pause } from "node:timers/promises";
import type { CommandContext } from "../define-command.ts";
import { Problem, usageProblem } from "../problem.ts";
import { openCallableService, type CallableService } from "../service/callable-service.ts";
import { aboutAgent } from "../service/explain.ts";
import { shortId } from "../service/find.ts";
import type { CallOptions } from "./call-options.ts";

/** A call to a deployed agent. */
export interface AgentCall {
  sessionId: string;
  /** Address of its stream, with the token that opens it once. */
  url: string;
  /** The service's problem with the call, once it is over. */
  problem(): Promise<Problem | undefined>;
}

const RECORD_MAX_MS = 5_000;
const RECORD_EVERY_MS = 100;

/** Starts a session as the carrier would, with the public key. */
export async function callAgent(
  agent: string,
  options: CallOptions,
  context: CommandContext,
): Promise<AgentCall> {
  const given = (["to", "webhook", "token"] as const).find((name) => options[name] !== undefined);
  if (given)
    throw usageProblem(
      `--${given} and the name of an agent exclude each other.`,
      `vocalhost call ${agent} finds address and token by itself.`,
    );
  const service = await openCallableService(options.apiKey, context);
  await aboutAgent(service, agent, service.api.agents.get(agent));
  const { sessionId, url } = await service.prepare(agent, options.carrier);
  return {
    sessionId,
    url,
    problem: async () => problemOf(await recordOf(service, agent, sessionId), agent),
  };
}

function problemOf(session: SessionDetails, agent: string): Problem | undefined {
  const id = shortId(session.sessionId);
  const fixes = [
    `See what it printed: vocalhost logs ${agent} --session-id ${id}`,
    `See how the agent is: vocalhost agent status ${agent}`,
  ];
  if (session.status === "failed")
    return new Problem("bot_not_started", `The bot of '${agent}' could not be started`, { fixes });
  if (session.endReason === "bot-failed")
    return new Problem("bot_failed", `The bot of '${agent}' failed during the call`, { fixes });
  return undefined;
}

/** The service hears of an end a moment after the caller does. */
async function recordOf({ api }: CallableService, agent: string, sessionId: string): Promise<SessionDetails> {
  const deadlineMs = performance.now() + RECORD_MAX_MS;
  for (;;) {
    const session = await api.sessions.get(agent, sessionId);
    if (session.endedAt !== null || performance.now() > deadlineMs) return session;
    await pause(RECORD_EVERY_MS);
  }
}
