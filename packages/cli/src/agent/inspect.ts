import { agentSettings, type AgentRecord, type RevisionInfo } from "@vocalhost/protocol";
import { answer, shownTime, toFacts, toTable, type Cell } from "../results.ts";
import { aboutAgent } from "../service/explain.ts";
import { findAgentName, shortId } from "../service/find.ts";
import { onService } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Style } from "../ui.ts";

interface ListOptions extends ServiceOptions {
  region: string | undefined;
}

/** `vocalhost agent list` */
export const list = onService<ListOptions>(async ({ api }, { region }, context) => {
  const { services } = await api.agents.list({
    includeRecord: true,
    ...(region === undefined ? {} : { region }),
  });
  if (services.length === 0) {
    answer(context, { agents: [] }, "No agents yet. Create one with: vocalhost deploy");
    return 0;
  }
  const rows = services.map(({ name, region: place, desiredDeploymentId, updatedAt, record }) => {
    const state = record && agentState(record);
    return [
      { text: name, style: "bold" as const },
      state ? { text: state.word, style: state.style } : "–",
      String(record?.activeSessionCount ?? "–"),
      record ? `${record.autoScaling.minReplicas}–${record.autoScaling.maxReplicas}` : "–",
      place,
      shortId(desiredDeploymentId),
      shownTime(updatedAt),
    ];
  });
  const columns = ["Name", "State", "Sessions", "Agents", "Region", "Deployment", "Updated"];
  answer(context, { agents: services }, toTable(context.ui, columns, rows));
  return 0;
});

interface StatusOptions extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
}

/** `vocalhost agent status` */
export const status = onService<StatusOptions>(async (service, options, context) => {
  const name = await findAgentName(options.agent);
  const record = await aboutAgent(service, name, service.api.agents.get(name, { region: options.region }));
  answer(context, { agent: record }, toFacts(context.ui, factsOf(record)));
  return 0;
});

function factsOf(record: AgentRecord): [string, Cell][] {
  const { deployment, autoScaling, currentRevision, previousRevision } = record;
  const spec = deployment?.manifest.spec;
  const state = agentState(record);
  const elsewhere = (record.regions ?? []).filter((region) => region !== record.region);
  const source = spec?.buildId === undefined ? (spec?.image ?? "–") : `build ${spec.buildId}`;
  const facts: [string, Cell | undefined][] = [
    ["Agent", record.name],
    ["State", { text: state.word, style: state.style }],
    ["Sessions now", String(record.activeSessionCount)],
    ["Deployment", record.desiredDeploymentId],
    ["Current", revisionLine(currentRevision)],
    ["Previous", revisionLine(previousRevision)],
    ["Source", source],
    ["Region", record.region],
    ["Also in", elsewhere.join(", ") || undefined],
    ["Profile", record.agentProfile ?? "–"],
    ["Agents", `${autoScaling.minReplicas} kept ready, ${autoScaling.maxReplicas} at most`],
    ["Audio filter", record.vendorViva?.audioFilter ?? "none"],
    ["Longest session", `${spec?.maxSessionDurationSeconds ?? agentSettings.maxSessionDurationS.default} s`],
    ["Secret set", spec?.envFromSecretNames?.join(", ")],
    ["Image-pull secret", spec?.imagePullSecretName],
    ["Created", shownTime(record.createdAt)],
    ["Updated", shownTime(record.updatedAt)],
  ];
  for (const { code, message } of record.errors ?? [])
    facts.push(["Error", { text: `${code}: ${message}`, style: "red" }]);
  const crash = currentRevision?.health?.message?.trim();
  if (crash) facts.push(["Last crash", crash]);
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, Cell]]));
}

function revisionLine(revision: RevisionInfo | null | undefined): string | undefined {
  if (!revision) return undefined;
  const { health } = revision;
  const crashes = health?.restartCount ? `, ${health.restartCount} crashes` : "";
  const reason = health?.reason === undefined ? "" : ` (${health.reason})`;
  return `${shortId(revision.deploymentID)} ${revision.phase}, ${revision.readyReplicas} instances ready${crashes}${reason}`;
}

interface DeploymentsOptions extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
}

const PHASE_STYLES: Partial<Record<string, Style>> = {
  Active: "green",
  Failed: "red",
  Creating: "yellow",
  Validating: "yellow",
};

/** `vocalhost agent deployments` */
export const deployments = onService<DeploymentsOptions>(async (service, options, context) => {
  const name = await findAgentName(options.agent);
  const { region } = options;
  const listed = service.api.agents.deployments(name, { region });
  const { deployments } = await aboutAgent(service, name, listed);
  const rows = deployments.map(({ id, phase, settings, failure, createdAt }) => [
    shortId(id),
    { text: failure ? `${phase}: ${failure.code}` : phase, style: PHASE_STYLES[phase] ?? ("dim" as const) },
    settings.buildId === null ? settings.image : `build ${shortId(settings.buildId)}`,
    settings.agentProfile,
    settings.audioFilter ?? "–",
    settings.secretSet ?? "–",
    shownTime(createdAt),
  ]);
  const columns = ["Deployment", "Phase", "Source", "Profile", "Filter", "Secrets", "Created"];
  answer(context, { deployments }, toTable(context.ui, columns, rows));
  return 0;
});

/** The condition of an agent. */
interface AgentState {
  word: "rolling out" | "ready" | "degraded" | "progressing" | "unavailable";
  style: Style;
}

function agentState(record: AgentRecord): AgentState {
  const is = (type: string): boolean =>
    record.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
  const isFailed = (record.errors?.length ?? 0) > 0;
  if (record.reconciledDeploymentId !== record.desiredDeploymentId && !isFailed)
    return { word: "rolling out", style: "yellow" };
  if (record.available && record.ready && !is("Degraded")) return { word: "ready", style: "green" };
  if (record.available && (is("Degraded") || isFailed)) return { word: "degraded", style: "yellow" };
  if (record.available || is("Progressing")) return { word: "progressing", style: "yellow" };
  return { word: "unavailable", style: "red" };
}
