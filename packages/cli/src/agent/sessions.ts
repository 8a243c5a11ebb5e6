import type { Session, SessionDetails, SessionFilter } from "@vocalhost/protocol";
import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { answer, shownBytes, shownSeconds, shownTime, toFacts, toTable, type Cell } from "../results.ts";
import { aboutAgent, aboutSession } from "../service/explain.ts";
import { findAgentName, findSession, shortId } from "../service/find.ts";
import { onService, openPublicService } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Style } from "../ui.ts";

interface ListOptions extends ServiceOptions {
  agent: string | undefined;
  id: string | undefined;
  status: "active" | "ended" | "all";
  region: string | undefined;
  limit: number | undefined;
}

const DEFAULT_LIMIT = 20;
const STYLES: Partial<Record<Session["status"], Style>> = {
  active: "green",
  failed: "red",
  starting: "yellow",
};

/** `vocalhost agent sessions` */
export const sessions = onService<ListOptions>(async (service, options, context) => {
  const { api } = service;
  const { ui } = context;
  const name = await findAgentName(options.agent);
  if (options.id !== undefined) {
    const id = await findSession(service, name, options.id);
    const session = await aboutSession(service, id, api.sessions.get(name, id));
    answer(context, { session }, toFacts(ui, detailsOf(session)));
    return 0;
  }
  const { status, region } = options;
  const query = {
    status,
    limit: options.limit ?? DEFAULT_LIMIT,
    ...(region === undefined ? {} : { region }),
  };
  const { sessions, total_count: total } = await aboutAgent(service, name, api.sessions.list(name, query));
  const rows = sessions.map((session) => [
    shortId(session.sessionId),
    stateOf(session),
    session.transport,
    shownTime(session.createdAt),
    shownSeconds(session.seconds),
    shownSeconds(session.botStartSeconds),
    session.coldStart === null ? "–" : session.coldStart ? "cold" : "warm",
    session.endReason ?? "–",
  ]);
  const columns = ["Session", "Status", "Transport", "Began", "Length", "Bot after", "Start", "End"];
  const text =
    sessions.length === 0 ? "No sessions." : `${toTable(ui, columns, rows)}\n\n${summaryOf(sessions, total)}`;
  answer(context, { total, sessions }, text);
  return 0;
});

function placeOf({ region, regionReason }: Session): string {
  return [region ?? "–", ...(regionReason ? [`(${regionReason})`] : [])].join(" ");
}

function stateOf({ status }: Session): Cell {
  return { text: status, style: STYLES[status] ?? "dim" };
}

function summaryOf(sessions: Session[], total: number): string {
  const starts = sessions
    .flatMap(({ botStartSeconds }) => botStartSeconds ?? [])
    .sort((one, other) => one - other);
  const shown = `${sessions.length} of ${total} sessions`;
  if (starts.length === 0) return shown;
  const at = (part: number): string =>
    shownSeconds(starts[Math.min(starts.length - 1, Math.floor(part * starts.length))]);
  const average = starts.reduce((sum, each) => sum + each, 0) / starts.length;
  return `${shown}; the bot started after ${shownSeconds(average)} on average, ${at(0.05)} at p5, ${at(0.95)} at p95`;
}

function claimWords({ coldStart }: SessionDetails): string[] {
  if (coldStart === null) return [];
  return [coldStart ? "cold: a new instance booted" : "warm: an instance was waiting"];
}

function detailsOf(session: SessionDetails): [string, Cell][] {
  const { resourceMetrics: metrics } = session;
  const steps = Object.entries(session.timeline).map(
    ([name, ms]) => `${name.replace(/Ms$/, "")} ${Math.round(ms)} ms`,
  );
  return [
    ["Session", session.sessionId],
    ["Status", stateOf(session)],
    ["Transport", session.transport],
    ["Deployment", session.deploymentId || "–"],
    ["Region", placeOf(session)],
    ["Began", shownTime(session.createdAt)],
    ["Ended", shownTime(session.endedAt)],
    ["Length", shownSeconds(session.seconds)],
    ["End", session.endReason ?? "–"],
    ["Completion", session.completionStatus ?? "–"],
    ["Start", [...claimWords(session), ...steps].join(", ") || "–"],
    ...(session.filter ? ([["Voice filter", filterWords(session.filter)]] satisfies [string, Cell][]) : []),
    ...(metrics
      ? ([
          [
            "CPU",
            `${sparkline(metrics.timeseries.map(({ c }) => c))} p50 ${Math.round(metrics.cpuMillicoresP50)}m, p99 ${Math.round(metrics.cpuMillicoresP99)}m`,
          ],
          [
            "Memory",
            `${sparkline(metrics.timeseries.map(({ m }) => m))} p50 ${shownBytes(metrics.memoryBytesP50)}, p99 ${shownBytes(metrics.memoryBytesP99)}`,
          ],
        ] satisfies [string, Cell][])
      : []),
  ];
}

function filterWords(filter: SessionFilter): Cell {
  const { model, version, framesIn, framesFiltered, nearShare, levelRemovedDb, cpuMs, warning } = filter;
  if (warning !== null) return { text: `${model}. ${warning}.`, style: "yellow" };
  const parts = [
    version === null ? model : `${model} ${version}`,
    `${framesFiltered} of ${framesIn} frames filtered`,
    ...(nearShare === null ? [] : [`caller heard in ${Math.round(nearShare * 100)} %`]),
    ...(levelRemovedDb === null ? [] : [`${levelRemovedDb.toFixed(1)} dB removed`]),
    `${Math.round(cpuMs)} ms of CPU`,
  ];
  return parts.join(", ");
}

const BARS = "▁▂▃▄▅▆▇█";
const SPARKS_MAX = 40;

function sparkline(values: number[]): string {
  const shown = values.slice(-SPARKS_MAX);
  const most = Math.max(...shown, 1);
  return shown.map((value) => BARS[Math.min(7, Math.floor((value / most) * 8))]).join("");
}

interface StartOptions {
  agent: string | undefined;
  apiKey: string | undefined;
  transport: string;
  data: string | undefined;
  dataFile: string | undefined;
  region: string | undefined;
  stayInRegion: boolean | undefined;
}

/** `vocalhost agent start` */
export async function start(options: StartOptions, context: CommandContext): Promise<number> {
  const name = await findAgentName(options.agent);
  const body = await readBody(options);
  const service = await openPublicService(options.apiKey, context);
  if (!(await confirm(context, `Start a session of '${name}'?`))) {
    context.ui.note("Nothing was started.");
    return 1;
  }
  const started = await context.ui.task(`Starting a session of '${name}'`, () =>
    aboutAgent(
      service,
      name,
      service.api.sessions.start(name, {
        transport: options.transport,
        ...(options.region === undefined ? {} : { region: options.region }),
        ...(options.stayInRegion ? { stayInRegion: true } : {}),
        ...(body === undefined ? {} : { body }),
      }),
    ),
  );
  if (!("wsUrl" in started))
    answer(
      context,
      { agent: name, ...started },
      toFacts(context.ui, [
        ["Session", started.sessionId],
        ...("roomUrl" in started
          ? ([
              ["Room", started.roomUrl],
              ["Token", started.token],
            ] as const)
          : ([
              ["Offer to", `${service.apiUrl}/public/${name}/sessions/${started.sessionId}/api/offer`],
            ] as const)),
        ["Stop", `vocalhost agent stop ${name} --session-id ${started.sessionId}`],
      ]),
    );
  else
    answer(
      context,
      { agent: name, ...started },
      toFacts(context.ui, [
        ["Address", started.wsUrl],
        ...(started.token === undefined ? [] : [["Token", started.token] as const]),
        ["Note", "the bot starts when the socket opens; the token works once, for five minutes"],
      ]),
    );
  return 0;
}

async function readBody({ data, dataFile }: StartOptions): Promise<unknown> {
  if (data !== undefined && dataFile !== undefined)
    throw usageProblem("--data and --data-file cannot be used together.", "Use one of them.");
  const text = dataFile === undefined ? data : await readText(dataFile);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usageProblem(
      `The data for the bot is not valid JSON: ${(error as Error).message}`,
      `For example: --data '{"name":"Ada"}'`,
    );
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await (path === "-" ? readAll(process.stdin) : readFile(path, "utf8"));
  } catch (error) {
    throw new Problem("file_unreadable", `Cannot read ${path}`, {
      why: (error as Error).message,
      cause: error,
    });
  }
}

interface StopOptions extends ServiceOptions {
  agent: string | undefined;
  sessionId: string | undefined;
}

/** `vocalhost agent stop` */
export const stop = onService<StopOptions>(async (service, options, context) => {
  if (options.sessionId === undefined)
    throw usageProblem(
      "No session was given.",
      "Give one with --session-id. See which exist: vocalhost agent sessions",
    );
  const name = await findAgentName(options.agent);
  const sessionId = await findSession(service, name, options.sessionId);
  const question = `Stop session ${sessionId}? The bot cannot say goodbye.`;
  const isSure = await confirm(context, question, { isDestructive: true });
  if (!isSure) {
    context.ui.note("Nothing was stopped.");
    return exitCodes.failed;
  }
  await context.ui.task("Stopping the session", () =>
    aboutSession(service, sessionId, service.api.sessions.stop(name, sessionId)),
  );
  answer(context, { sessionId, status: "terminated" }, `Stopped session ${sessionId}.`);
  return exitCodes.ok;
});
