import "./agents-logger.ts";

export { startAgentSession } from "./start-agent-session.ts";
export type { AgentSessionOptions, RunningAgentSession } from "./start-agent-session.ts";
