import { agentSettings, placeAt, readAt, type AgentSetting, type UpdateAgent } from "@vocalhost/protocol";
import type { ProjectConfig } from "./project-config.ts";

/** The service's words for what a project says. What it does not say is not sent, so a redeploy keeps it. */
export function toAgentSettings(config: ProjectConfig): UpdateAgent {
  const settings = Object.values<AgentSetting>(agentSettings).map(
    ({ rest, toml }): [AgentSetting["rest"], unknown] => [rest, readAt(config, toml)],
  );
  return placeAt([
    [["image"], config.image],
    [["buildId"], config.build_id],
    [["region"], config.region],
    ...settings,
  ]);
}
