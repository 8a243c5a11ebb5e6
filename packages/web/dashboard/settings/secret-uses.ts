import type { AgentListItem } from "@vocalhost/protocol";

/** Names of the agents whose deployment reads the set, or pulls its image with it. */
export function agentsUsing(setName: string, agents: Pick<AgentListItem, "name" | "record">[]): string[] {
  return agents
    .filter(({ record }) => {
      const spec = record?.deployment?.manifest.spec;
      return spec?.envFromSecretNames?.includes(setName) || spec?.imagePullSecretName === setName;
    })
    .map(({ name }) => name);
}
