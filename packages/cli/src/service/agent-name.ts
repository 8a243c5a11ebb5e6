import { usageProblem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";

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
