import type { OrganizationId } from "../identity/principal.ts";
import type { SimulatedAgent } from "./controller.ts";

export interface ClusterAgent extends SimulatedAgent {
  region: string;
  minAgents: number;
  maxAgents: number;
}

/** The one that goes down now and then. */
export const FRAIL_REGION = "eu-north";

export const organizations = ["org-0", "org-1", "org-2", "org-3", "org-4"].map((name, place) => ({
  id: uuid(place + 1) as OrganizationId,
  name,
}));

/** Its agents want a tenth more than it may have. */
export const tightOrganization = organizations[0]!;

export function planAgents({
  agents,
  instancesEach,
}: {
  agents: number;
  instancesEach: number;
}): ClusterAgent[] {
  return Array.from({ length: agents }, (_, place) => ({
    organizationId: organizations[place % organizations.length]!.id,
    id: uuid(1_000 + place),
    ...addressOf(place),
    ...sizesOf(place, instancesEach),
  }));
}

/** Every name is two agents of its organisation, one in each region. */
function addressOf(place: number): { name: string; region: string } {
  const isSecond = Math.floor(place / organizations.length) % 2 === 1;
  return isSecond
    ? { name: `bot-${place - organizations.length}`, region: FRAIL_REGION }
    : { name: `bot-${place}`, region: "us-west" };
}

function sizesOf(place: number, instancesEach: number): { minAgents: number; maxAgents: number } {
  const isOfTight = place % organizations.length === 0;
  const maxAgents = isOfTight ? Math.ceil(instancesEach * 1.1) : instancesEach;
  return { minAgents: place % 10 === 9 ? 0 : maxAgents, maxAgents }; // one in ten starts cold
}

/** Whether the agent's organisation may have fewer instances than its agents want. */
export function isTight(agent: ClusterAgent): boolean {
  return agent.organizationId === tightOrganization.id;
}

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}
