import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { answer } from "../answer.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem, usageProblem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { openPublicService } from "../service/open-service.ts";
import { toFacts } from "../table.ts";

interface Options {
  agent: string | undefined;
  apiKey: string | undefined;
  transport: string;
  data: string | undefined;
  dataFile: string | undefined;
  region: string | undefined;
  stayInRegion: boolean | undefined;
}

/** `vocalhost agent start` */
export async function run(options: Options, context: CommandContext): Promise<number> {
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

async function readBody({ data, dataFile }: Options): Promise<unknown> {
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
