import type { AgentListItem } from "@vocalhost/protocol";

const SET_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const KEY_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Undefined while nothing is typed, or when it is right. */
export function setNameProblem(name: string): string | undefined {
  if (name === "" || (SET_NAME.test(name) && name.length >= 3 && name.length <= 63)) return undefined;
  return "3 to 63 lower-case letters, digits, hyphens and dots; a letter or digit at both ends";
}

export function keyNameProblem(name: string): string | undefined {
  if (name === "" || KEY_NAME.test(name)) return undefined;
  return "At most 64 letters, digits, hyphens and underscores";
}

export function hostProblem(host: string): string | undefined {
  if (host === "" || (URL.canParse(host) && /^https?:/.test(host))) return undefined;
  return "An address such as https://ghcr.io";
}

/** As registries want it. Names and tokens may hold any character. */
export function toPullCredential(username: string, token: string): string {
  const bytes = new TextEncoder().encode(`${username}:${token}`);
  return btoa(String.fromCharCode(...bytes));
}

/** Names of the agents whose deployment reads the set, or pulls its image with it. */
export function agentsUsing(setName: string, agents: Pick<AgentListItem, "name" | "record">[]): string[] {
  return agents
    .filter(({ record }) => {
      const spec = record?.deployment?.manifest.spec;
      return spec?.envFromSecretNames?.includes(setName) || spec?.imagePullSecretName === setName;
    })
    .map(({ name }) => name);
}
