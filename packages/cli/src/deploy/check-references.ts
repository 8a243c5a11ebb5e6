import type { AgentRecord, ApiClient } from "@vocalhost/protocol";
import { Problem, usageProblem } from "../problem.ts";
import { requireRegion } from "../service/require-region.ts";
import type { DeployRequest } from "./deploy-request.ts";

/** What the request names must exist, said before anything is built. */
export async function checkReferences(
  api: ApiClient,
  { settings, agentName }: DeployRequest,
  record: AgentRecord | undefined,
): Promise<void> {
  const { region, secretSet, imagePullSecretSet } = settings;
  if (typeof region === "string") await checkRegion(api, region);
  if (record) requireRegion(record, { agent: agentName, region });
  const named = [
    { name: secretSet, type: "secret", make: "vocalhost secrets set" },
    { name: imagePullSecretSet, type: "imagePullSecret", make: "vocalhost secrets image-pull-secret" },
  ].filter(({ name }) => name);
  if (named.length === 0) return;
  const { sets } = await api.secrets.list();
  for (const { name, type, make } of named) {
    if (sets.some((set) => set.name === name && set.type === type)) continue;
    const what = type === "secret" ? "secret set" : "image-pull secret";
    throw new Problem("not_found", `There is no ${what} '${name}'`, {
      fixes: [`Create it: ${make} ${name} …`, "See which exist: vocalhost secrets list"],
    });
  }
}

async function checkRegion(api: ApiClient, region: string): Promise<void> {
  const { regions } = await api.regions();
  if (regions.some(({ code }) => code === region)) return;
  throw usageProblem(
    `There is no region '${region}'.`,
    `Regions: ${regions.map(({ code }) => code).join(", ")}`,
  );
}
