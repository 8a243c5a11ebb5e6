import type { AgentRecord } from "@vocalhost/protocol";
import { Problem, usageProblem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";
import { aboutAgent } from "./explain.ts";
import type { Service } from "./open-service.ts";

interface IdSearch {
  /** `session`, `build` … */
  what: string;
  /** The command that lists them. */
  listedBy: string;
  /** Returns the ids that a prefix can match. */
  known(): Promise<string[]>;
}

/** The id that was meant: given as a whole, or by its beginning, as our tables show it. */
export async function findId(given: string, { what, listedBy, known }: IdSearch): Promise<string> {
  const wanted = given.toLowerCase();
  if (WHOLE_ID.test(wanted)) return wanted;
  const found = BEGINNING.test(wanted) ? (await known()).filter((id) => id.startsWith(wanted)) : [];
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const message =
    found.length === 0 ? `There is no ${what} ${given}` : `Several ${what}s start with ${given}`;
  throw new Problem("not_found", message, {
    ...(found.length === 0 ? {} : { why: `They are ${found.slice(0, SHOWN_MAX).join(", ")}.` }),
    fixes: [`See which exist: ${listedBy}`],
  });
}

const WHOLE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const BEGINNING = /^[\da-f][\da-f-]{1,35}$/;
const SHOWN_MAX = 3;

const NEWEST = 1000; // as many as the service lists at once

/** Finds a session by its id or the start of it. The start is looked up among the newest sessions only. */
export async function findSession(service: Service, agentName: string, given: string): Promise<string> {
  return findId(given, {
    what: "session",
    listedBy: `vocalhost agent sessions ${agentName}`,
    async known() {
      const listed = service.api.sessions.list(agentName, { status: "all", limit: NEWEST });
      const { sessions } = await aboutAgent(service, agentName, listed);
      return sessions.map(({ sessionId }) => sessionId);
    },
  });
}

/** A deployment of an agent by its id or the beginning of it. */
export async function findDeployment(
  service: Service,
  { agentName, region }: { agentName: string; region?: string | undefined },
  given: string,
): Promise<string> {
  return findId(given, {
    what: "deployment",
    listedBy: `vocalhost agent deployments ${agentName}`,
    async known() {
      const listed = service.api.agents.deployments(agentName, { region });
      const { deployments } = await aboutAgent(service, agentName, listed);
      return deployments.map(({ id }) => id);
    },
  });
}

/** The agent that was named, or that of the project here. */
export async function findAgentName(given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { config } = await readProject(process.cwd());
  if (config.agent_name !== undefined) return config.agent_name;
  throw usageProblem(
    "Which agent? None was given, and there is no vocalhost.toml here that names one.",
    "Name it, or change to the bot's folder. vocalhost agent list shows all.",
  );
}

/** Throws if the agent is in several regions and none was named, so that no other agent is changed by accident. */
export function requireRegion(
  { regions = [] }: AgentRecord,
  { agent, region }: { agent: string; region: string | null | undefined },
): void {
  if (regions.length < 2 || typeof region === "string") return;
  throw new Problem("region_needed", `'${agent}' is in several regions: ${regions.join(", ")}`, {
    fixes: regions.map((each) => `Name the one you mean: --region ${each}`),
  });
}

/** Enough of an id to recognise it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
