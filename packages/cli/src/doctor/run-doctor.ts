import { readReachVariables } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "../operate/operate-options.ts";
import { exitCodes } from "../problem.ts";
import { openCallableService } from "../service/callable-service.ts";
import { toServiceUrl } from "../service/explain.ts";
import { readCredentials, whereItStands } from "../service/open-service.ts";
import type { Style, Ui } from "../ui.ts";
import { checkCarrier } from "./check-carrier.ts";
import { checkEngine, checkNetworkPolicy } from "./check-engine.ts";
import { checkFilter } from "./check-filter.ts";
import {
  checkBots,
  checkDatabase,
  checkDevPort,
  checkDisk,
  checkIce,
  checkProject,
} from "./check-machine.ts";
import { checkMedia } from "./check-media.ts";
import { checkService } from "./check-service.ts";
import { ok, type Hop } from "./hop.ts";

interface Options extends OperateOptions {
  webhook: string | undefined;
  /** Agent to call. */
  filter: string | undefined;
  apiKey: string | undefined;
}

const MARKS: Record<Hop["state"], { mark: string; style: Style }> = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  failed: { mark: "✗", style: "red" },
  skipped: { mark: "–", style: "dim" },
};

/** `vocalhost doctor` */
export async function run(options: Options, context: CommandContext): Promise<number> {
  return whereItStands(
    context,
    () => "Nothing was changed.",
    async () => {
      const { filter } = options;
      const hops = await (filter === undefined
        ? context.ui.task("Looking at everything a call passes through", () => look(options, context))
        : context.ui.task(`Calling '${filter}' four times with a talker in the background (one minute)`, () =>
            lookAtFilter(filter, options, context),
          ));
      const broken = hops.filter(({ state }) => state === "failed");
      const text = [...hops.map((hop) => shown(hop, context.ui)), "", summaryOf(hops, context.ui)].join("\n");
      context.ui.print(context.isJson ? JSON.stringify({ ok: broken.length === 0, hops }) : text);
      return broken.length === 0 ? exitCodes.ok : exitCodes.failed;
    },
  );
}

async function look(
  { webhook, filter: _filter, apiKey: _key, ...service }: Options,
  { signal }: CommandContext,
): Promise<Hop[]> {
  const { credentials } = await readCredentials();
  const { iceServers, publicUrl, engineVariables } = readReachVariables();
  const { hostname } = new URL(toServiceUrl(credentials.apiUrl));
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(hostname);
  const [project, ports, engine, hops, bots, ice, media, carrier, disk, database, networkPolicy] =
    await Promise.all([
      checkProject(process.cwd()),
      checkDevPort(),
      checkEngine({ environment: engineVariables }, signal),
      checkService(credentials, signal),
      checkBots(credentials, signal),
      checkIce({ iceServers, isLocal }, signal),
      checkMedia(credentials, signal),
      checkCarrier(webhook ?? publicUrl, signal),
      checkDisk(service, signal),
      checkDatabase(service, signal),
      checkNetworkPolicy(service, engineVariables, signal),
    ]);
  return [
    ok("node", process.version),
    project,
    ports,
    engine,
    networkPolicy,
    disk,
    database,
    ...hops,
    bots,
    ice,
    media,
    carrier,
  ];
}

async function lookAtFilter(agent: string, { apiKey }: Options, context: CommandContext): Promise<Hop[]> {
  return checkFilter(await openCallableService(apiKey, context), agent, context.signal);
}

const NAME_CHARACTERS = 15;

function shown({ name, state, says, fixes }: Hop, ui: Ui): string {
  const { mark, style } = MARKS[state];
  const indent = " ".repeat(NAME_CHARACTERS + 4);
  const lines = [
    `${ui.style(style, mark)} ${name.padEnd(NAME_CHARACTERS)}  ${says}`,
    ...fixes.map((fix) => `${indent}→ ${fix}`),
  ];
  return lines.join("\n");
}

function summaryOf(hops: Hop[], ui: Ui): string {
  const broken = hops.filter(({ state }) => state === "failed");
  const doubtful = hops.filter(({ state }) => state === "warning").map(({ name }) => name);
  if (broken.length === 0 && doubtful.length > 0)
    return ui.style("yellow", `Nothing is broken. Look at ${inWords(doubtful)} before other people use it.`);
  if (broken.length === 0) return ui.style("green", "All is well.");
  const names = inWords(broken.map(({ name }) => name));
  return ui.style(
    "red",
    `Something is broken: ${names}. The arrows above say what to do; then run vocalhost doctor again.`,
  );
}

function inWords(names: string[]): string {
  return new Intl.ListFormat("en", { type: "conjunction" }).format(names);
}
