import {
  readAt,
  settingsOf,
  type AgentRecord,
  type ApiClient,
  type DeploymentSettings,
} from "@vocalhost/protocol";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";
import { confirm } from "../questions.ts";
import { answer, shownBytes, toFacts } from "../results.ts";
import { explained, isMissing, toServiceUrl } from "../service/explain.ts";
import { requireRegion, shortId } from "../service/find.ts";
import { onService, whereItStands, type Service } from "../service/open-service.ts";
import type { Ui } from "../ui.ts";
import { buildFolder, findBuild } from "./build-folder.ts";
import type { DeployOptions } from "./deploy-options.ts";
import {
  changesOf,
  toDeployRequest,
  type Change,
  type Deployed,
  type DeployRequest,
} from "./deploy-request.ts";
import { packFolder, type PackedFolder } from "./pack-folder.ts";
import { watchRollout } from "./watch-rollout.ts";

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

/** `vocalhost deploy` */
export const run = onService<DeployOptions>(async (service, options, context) => {
  const request = toDeployRequest(options, await readProject(process.cwd(), options.configFile));
  const prepared = await prepare(service, request, context);
  const { plan } = prepared;
  if (options.dryRun) {
    answer(
      context,
      { dryRun: true, ...plan },
      `${shownPlan(plan, context.ui)}\n\nNothing was changed: this was a dry run.`,
    );
    return exitCodes.ok;
  }
  context.ui.note(shownPlan(plan));
  const question = `Deploy '${request.agentName}'? Calls in progress are not interrupted.`;
  const isSure = options.force || plan.changes.length === 0 || (await confirm(context, question));
  if (!isSure) {
    context.ui.note("Nothing was changed.");
    return exitCodes.failed;
  }
  return carryOut(service, { request, prepared, timeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS }, context);
});

interface Prepared {
  record: AgentRecord | undefined;
  /** The folder that is still to be built. */
  packed: PackedFolder | undefined;
  buildId: string | undefined;
  plan: DeployPlan;
}

/** Looks at everything a deployment needs and changes nothing. */
async function prepare(service: Service, request: DeployRequest, context: CommandContext): Promise<Prepared> {
  const { api } = service;
  const { source, agentName } = request;
  const asked = request.settings.region ?? undefined;
  const record = await findRecord(api, agentName, asked);
  await checkReferences(api, request, record);
  if (!record && asked !== undefined) {
    const { regions = [] } = (await findRecord(api, agentName)) ?? {};
    if (regions.length > 0)
      context.ui.note(`'${agentName}' is in ${regions.join(", ")} and will be in ${asked} as well.`);
  }
  const now = { record, settings: await deployedSettings(service, request, record) };
  const region = request.settings.region ?? record?.region;
  if (source.type !== "folder") {
    const text = source.type === "image" ? source.image : `build ${source.buildId}`;
    const plan = planOf(request, { ...now, source: text });
    return { record, packed: undefined, buildId: source.type === "build" ? source.buildId : undefined, plan };
  }
  const { folder, exclude, dockerfile } = source;
  const packed = await context.ui.task(`Packing ${folder}`, () =>
    packFolder({ folder, exclude, signal: context.signal }),
  );
  for (const link of packed.linksLeftOut) context.ui.note(`${link} is a symbolic link and is left out.`);
  const found = await findBuild(api, { packed, region: region ?? undefined, dockerfile });
  const { files, archive } = packed;
  const text = found
    ? `build ${found.id}`
    : `a new build of ${files.length === 1 ? "1 file" : `${files.length} files`}, ${shownBytes(archive.length)}`;
  return {
    record,
    packed: found ? undefined : packed,
    buildId: found?.id,
    plan: planOf(request, { ...now, source: text }),
  };
}

async function findRecord(
  api: Service["api"],
  agentName: string,
  region?: string,
): Promise<AgentRecord | undefined> {
  return api.agents.get(agentName, { region }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** The agent's record does not hold them all; asked for only when it matters. */
async function deployedSettings(
  { api }: Service,
  { agentName, settings }: DeployRequest,
  record: AgentRecord | undefined,
): Promise<DeploymentSettings | undefined> {
  const isAsked = settingsOf("deployment").some(([, { rest }]) => readAt(settings, rest) !== undefined);
  if (!record || !isAsked) return undefined;
  const { deployments } = await api.agents.deployments(agentName, { region: record.region });
  return deployments.find(({ id }) => id === record.desiredDeploymentId)?.settings;
}

function planOf(request: DeployRequest, deployed: Deployed): DeployPlan {
  return {
    agent: request.agentName,
    isNew: deployed.record === undefined,
    isForced: request.settings.forceRedeploy === true,
    changes: changesOf(request, deployed),
  };
}

async function carryOut(
  service: Service,
  { request, prepared, timeoutMs }: { request: DeployRequest; prepared: Prepared; timeoutMs: number },
  context: CommandContext,
): Promise<number> {
  const { agentName } = request;
  let standing = "Nothing was built and nothing was deployed.";
  return whereItStands(
    context,
    () => standing,
    async () => {
      const source = await readySource();
      standing = "Nothing was deployed.";
      context.signal.throwIfAborted();
      const after = await send(service, { request, record: prepared.record, source });
      const { desiredDeploymentId: deploymentId } = after;
      standing = `Deployment ${shortId(deploymentId)} keeps rolling out on the service; calls stay where they are until it is active. Check it with: vocalhost agent status ${agentName}`;
      if (after.warning !== undefined)
        context.ui.note(after.warning.replace(/Send forceRedeploy/, "Use --force"));
      const state = await watchRollout({
        ...{ api: service.api, agentName, region: after.region, deploymentId, timeoutMs, context },
      });
      const isSame = deploymentId === prepared.record?.desiredDeploymentId;
      sayDone(service, { agentName, deploymentId, state, isSame }, context);
      return exitCodes.ok;
    },
  );

  async function readySource(): Promise<{ image: string } | { buildId: string }> {
    const { packed, buildId, record } = prepared;
    if (request.source.type === "image") return { image: request.source.image };
    if (buildId !== undefined) return { buildId };
    if (!packed || request.source.type !== "folder") throw usageProblem("There is nothing to deploy.");
    const region = request.settings.region ?? record?.region ?? undefined;
    const built = await buildFolder({
      api: service.api,
      packed,
      region,
      dockerfile: request.source.dockerfile,
      context,
      watchUpload: service.watchUpload,
      onStarted(id) {
        standing = `Nothing was deployed. Build ${id} continues on the service: follow it with vocalhost build logs ${id}, deploy it with --build-id ${id}.`;
      },
    });
    return { buildId: built };
  }
}

async function send(
  service: Service,
  options: {
    request: DeployRequest;
    record: AgentRecord | undefined;
    source: { image: string } | { buildId: string };
  },
): Promise<AgentRecord> {
  const { request, record, source } = options;
  const { forceRedeploy, ...settings } = request.settings;
  const { api } = service;
  return explained(
    service,
    record
      ? api.agents.update(request.agentName, {
          ...settings,
          ...source,
          ...(forceRedeploy ? { forceRedeploy } : {}),
        })
      : api.agents.create({ ...settings, ...source, serviceName: request.agentName }),
    "buildId" in source ? { missing: ["See which builds exist: vocalhost build list"] } : {},
  );
}

function sayDone(
  service: Service,
  done: { agentName: string; deploymentId: string; state: string; isSame: boolean },
  context: CommandContext,
): void {
  const { agentName, deploymentId, state, isSame } = done;
  const { ui } = context;
  const talkUrl = `${toServiceUrl(service.apiUrl)}/agents/${agentName}/talk`;
  const head = `${ui.style("green", `'${agentName}' is live`)}: deployment ${shortId(deploymentId)}, ${state}.`;
  const facts = toFacts(ui, [
    ["Talk to it", talkUrl],
    ["Start", `vocalhost agent start ${agentName}`],
    ["Watch", `vocalhost logs ${agentName} -f`],
  ]);
  const indented = facts.replace(/^/gm, "  ");
  answer(
    context,
    { agent: agentName, deploymentId, isNewDeployment: !isSame, talkUrl },
    `${head}\n\n${indented}`,
  );
}

/** Checks that secrets and builds named by the request exist, before anything is built. */
async function checkReferences(
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

/** Describes a deployment before it is made. */
interface DeployPlan {
  agent: string;
  isNew: boolean;
  isForced: boolean;
  changes: Change[];
}

function shownPlan({ agent, isNew, isForced, changes }: DeployPlan, ui?: Pick<Ui, "style">): string {
  const bold = (text: string): string => ui?.style("bold", text) ?? text;
  if (changes.length === 0)
    return `${bold(`'${agent}' stays as it is`)}${isForced ? ", but is deployed again because of --force." : "."}`;
  const width = Math.max(...changes.map(({ setting }) => setting.length));
  const lines = changes.map(({ setting, from, to }) => {
    const before = from === undefined ? "" : `${from} → `;
    return `  ${setting.padEnd(width)}  ${before}${to}`;
  });
  return [bold(isNew ? `'${agent}' is new:` : `'${agent}' changes:`), ...lines].join("\n");
}
