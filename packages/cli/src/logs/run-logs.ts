import type { LogLine } from "@vocalhost/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import type { CommandContext } from "../define-command.ts";
import { exitCodes } from "../problem.ts";
import { aboutAgent } from "../service/explain.ts";
import { findAgentName, findDeployment, findSession, shortId } from "../service/find.ts";
import { onService, type Service } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Style } from "../ui.ts";
import { isAtLeast, levelOf, type LogLevel } from "./level.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  follow: boolean | undefined;
  limit: number | undefined;
  level: LogLevel | undefined;
  deployment: string | undefined;
  sessionId: string | undefined;
  region: string | undefined;
  search: string | undefined;
}

const DEFAULT_LIMIT = 100;
const RECONNECT_MS = 1_000;

/** `vocalhost logs` */
export const run = onService<Options>(async (service, options, context) => {
  const name = await findAgentName(options.agent);
  const filters = await filtersOf(service, name, options);
  const isFiltered = Object.keys(filters).length > 0;
  const limit = options.limit ?? DEFAULT_LIMIT;
  const writer = createLineWriter(context);
  const write = (line: LogLine): void => {
    if (isAtLeast(line.log, options.level)) writer(line);
  };
  if (!options.follow) {
    const { logs, total } = await aboutAgent(
      service,
      name,
      service.api.agents.logs(name, { ...filters, limit, order: "desc" }),
    );
    for (const line of logs.reverse()) write(line);
    if (logs.length === 0)
      context.ui.note(isFiltered ? "No matching lines." : "Nothing has been printed yet.");
    else if (total.value > logs.length)
      context.ui.note(
        `The last ${logs.length} of ${total.relation === "gte" ? "at least " : ""}${total.value} lines; --limit shows more.`,
      );
    return exitCodes.ok;
  }
  await aboutAgent(service, name, service.api.agents.get(name));
  context.ui.note(`Following '${name}' on all instances. Ctrl-C stops following, not the agent.`);
  await follow(service, { name, filters, write }, context);
  context.ui.note("Stopped following. The agent keeps running.");
  return exitCodes.interrupted;
});

interface Filters {
  deploymentId?: string;
  sessionId?: string;
  region?: string;
  query?: string;
}

async function filtersOf(
  service: Service,
  agentName: string,
  { deployment, sessionId, region, search }: Options,
): Promise<Filters> {
  return {
    ...(deployment === undefined
      ? {}
      : { deploymentId: await findDeployment(service, { agentName, region }, deployment) }),
    ...(sessionId === undefined ? {} : { sessionId: await findSession(service, agentName, sessionId) }),
    ...(region === undefined ? {} : { region }),
    ...(search === undefined ? {} : { query: search }),
  };
}

/** Until Ctrl-C. A lost connection is made again and goes on after the last line. */
async function follow(
  { api }: Service,
  options: { name: string; filters: Filters; write: (line: LogLine) => void },
  { ui, signal }: CommandContext,
): Promise<void> {
  let after: string | undefined;
  let isLost = false;
  while (!signal.aborted) {
    try {
      const query = { ...options.filters, signal, ...(after === undefined ? {} : { after }) };
      for await (const { id, line } of api.agents.tailLogs(options.name, query)) {
        if (isLost) ui.note("Reconnected.");
        isLost = false;
        after = id;
        options.write(line);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TypeError)) throw error; // what fetch throws when the line breaks
      if (!isLost) ui.note("The connection was lost, reconnecting…");
      isLost = true;
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
  }
}

const INSTANCE_STYLES: readonly Style[] = ["cyan", "green", "yellow", "bold"];

/** Time, instance and text of every line; each instance in its colour. With `--json` an object a line. */
function createLineWriter({ ui, isJson }: Pick<CommandContext, "ui" | "isJson">): (line: LogLine) => void {
  const styles = new Map<string, Style>();
  const styleOf = (instance: string): Style => {
    const style = styles.get(instance) ?? INSTANCE_STYLES[styles.size % INSTANCE_STYLES.length] ?? "dim";
    styles.set(instance, style);
    return style;
  };
  return (line) => {
    if (isJson) return ui.print(JSON.stringify(line));
    const { timestamp, instanceId, log } = line;
    const time = ui.style("dim", `${timestamp.slice(0, 10)} ${timestamp.slice(11, 23)}Z`);
    const instance = instanceId === undefined ? [] : [ui.style(styleOf(instanceId), shortId(instanceId))];
    const text = stripVTControlCharacters(log);
    const isBad = ["ERROR", "CRITICAL"].includes(levelOf(text));
    ui.print([time, ...instance, isBad ? ui.style("red", text) : text].join(" "));
  };
}
