import { agentSettings, type AgentRecord, type RevisionInfo } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { shownTime } from "../moments.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import { shortId } from "../service/short-id.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toFacts, type Cell } from "../table.ts";
import { agentState } from "./agent-state.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
}

/** `vocalhost agent status` */
export const run = onService<Options>(async (service, options, context) => {
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
