import type { UpdateAgent } from "@vocalhost/protocol";
import type { ProjectConfig } from "./project-config.ts";

/** The service's words for what a project says. What it does not say is not sent, so a redeploy keeps it. */
export function toAgentSettings(config: ProjectConfig): UpdateAgent {
  const { scaling, vendor_viva } = config;
  const settings: Record<string, unknown> = {
    image: config.image,
    buildId: config.build_id,
    imagePullSecretSet: config.image_credentials,
    secretSet: config.secret_set,
    region: config.region,
    agentProfile: config.agent_profile,
    maxSessionDuration: config.max_session_duration,
    websocketAuth: config.websocket_auth,
    vendorViva: withoutGaps({ audioFilter: vendor_viva?.audio_filter }),
    autoScaling: withoutGaps({ minAgents: scaling?.min_agents, maxAgents: scaling?.max_agents }),
  };
  return withoutGaps(settings) ?? {};
}

function withoutGaps(values: Record<string, unknown>): Record<string, unknown> | undefined {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}
