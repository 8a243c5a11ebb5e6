import { createApiClient } from "@vocalhost/protocol";
import { packFolder } from "../../builds/pack-folder.ts";
import type { Clock } from "@vocalhost/base/clock";

export interface FolderDeployment {
  apiUrl: string;
  privateKey: string;
  agentName: string;
  folder: string;
  minAgents: number;
  clock: Clock;
  /** Reports one sentence of progress. */
  progress(text: string): void;
}

const LOOK_AGAIN_MS = 100;
const ABOUT_THE_BASE = /^(?!STEP).*\bvocalhost\/base:/;

/**
 * Deploys a bot's folder through the REST interface, as any client would. Resolves when it accepts sessions. An
 * existing agent of that name was deployed by an earlier start.
 */
export async function deployFolder(options: FolderDeployment): Promise<void> {
  const { agentName, clock } = options;
  const api = createApiClient({ baseUrl: options.apiUrl, token: options.privateKey });
  const { services } = await api.agents.list();
  if (!services.some(({ name }) => name === agentName)) await makeAgent(api, options);
  for (;;) {
    const agent = await api.agents.get(agentName);
    if (agent.ready && agent.available) return;
    const [problem] = agent.errors ?? [];
    if (problem) throw new Error(`${agentName} could not be deployed: ${problem.message}`);
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

async function makeAgent(
  api: ReturnType<typeof createApiClient>,
  options: Omit<FolderDeployment, "apiUrl" | "privateKey">,
): Promise<void> {
  const { agentName, clock, progress } = options;
  progress(`building ${agentName}`);
  const { uploadId, uploadUrl, uploadFields } = await api.builds.createUpload();
  const file = new Blob([new Uint8Array(await packFolder(options.folder))], { type: "application/gzip" });
  await api.builds.upload({ uploadUrl, uploadFields, file });
  let { build } = await api.builds.create({ uploadId });
  let nextToken: string | undefined;
  while (build.status === "pending" || build.status === "building") {
    await clock.sleep(LOOK_AGAIN_MS);
    ({ build } = await api.builds.get(build.id));
    const page = await api.builds.logs(build.id, nextToken === undefined ? {} : { nextToken });
    nextToken = page.nextToken ?? nextToken;
    for (const line of page.logs) if (ABOUT_THE_BASE.test(line)) progress(line); // the only step that takes long
  }
  if (build.status !== "success")
    throw new Error(`The build of ${agentName} failed: ${build.errorMessage ?? build.status}`);
  progress(`deploying ${agentName}`);
  await api.agents.create({
    serviceName: agentName,
    buildId: build.id,
    autoScaling: { minAgents: options.minAgents, maxAgents: 10 },
  });
}
