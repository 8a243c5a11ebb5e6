import { aboutAgent } from "../service/explain.ts";
import type { CallableService } from "../service/callable-service.ts";
import { placeFilterCall, talkerStarts, type FilterCall, type TalkerStart } from "./filter-call.ts";
import { failed, ok, skipped, warning, type Hop } from "./hop.ts";

const ORDERS = Object.keys(talkerStarts) as TalkerStart[];

/**
 * Checks that voice isolation keeps a background talker from interrupting an agent. The talker begins before, during and
 * after the caller. Deploys nothing.
 */
export async function checkFilter(
  service: CallableService,
  agent: string,
  signal: AbortSignal,
): Promise<Hop[]> {
  const { vendorViva } = await aboutAgent(service, agent, service.api.agents.get(agent));
  const model = vendorViva?.audioFilter ?? null;
  if (model === null)
    return [
      failed(
        "filter setting",
        `the deployment of '${agent}' does not use the voice filter`,
        `Switch it on: vocalhost deploy ${agent} --vendor-viva-audio-filter tel`,
      ),
      ...unchecked("filter engine", ...ORDERS.map(nameOf), "without filter"),
    ];
  const setting = ok("filter setting", `'${agent}' is deployed with ${model}`);
  const { engine } = await service.api.voiceFilter();
  if (engine === "absent")
    return [
      setting,
      failed(
        "filter engine",
        "this service has none: audio is neither filtered nor billed",
        "Install @vocalhost/viva beside the service, or name one with VOCALHOST_VIVA_ENGINE.",
      ),
      ...unchecked(...ORDERS.map(nameOf), "without filter"),
    ];
  const withFilter: FilterCall[] = [];
  for (const talker of ORDERS)
    withFilter.push(await placeFilterCall(service, agent, { talker, bypass: false, signal }));
  const without = await placeFilterCall(service, agent, { talker: "before", bypass: true, signal });
  return [setting, ok("filter engine", "installed"), ...judge({ agent, withFilter, without })];
}

/** Compares the calls with the filter with one without it. */
export function judge({ agent, withFilter, without }: JudgedCalls): Hop[] {
  const notRun = withFilter.find(({ filter }) => filter?.state !== "ran");
  if (notRun)
    return [
      failed(
        nameOf(notRun.talker),
        notRun.filter?.warning ?? "the session's record does not say whether the filter ran",
        "Attach it: createTransport(args, { audioIn: { filter: vivaFilter() } })",
        `See the logs: vocalhost logs ${agent}`,
      ),
      ...unchecked("without filter"),
    ];
  if (!without.wasBypassed)
    return [
      ...withFilter.map(counted),
      warning(
        "without filter",
        "the filter could not be switched off for a call",
        "Deploy the agent again: its base is too old.",
      ),
    ];
  const many = without.summary.falseInterruptions;
  return [
    ...withFilter.map((call) =>
      call.summary.falseInterruptions === 0 || call.summary.falseInterruptions < many
        ? counted(call)
        : failed(
            nameOf(call.talker),
            saysOf(call),
            "Docs: voice-isolation, troubleshooting. A talker within a metre is one of its limits.",
          ),
    ),
    many > 0
      ? ok("without filter", saysOf(without))
      : warning(
          "without filter",
          `${saysOf(without)}, so this shows nothing`,
          "Use an agent that can be interrupted and answers for some seconds, such as the parrot.",
        ),
  ];
}

export interface JudgedCalls {
  agent: string;
  withFilter: readonly FilterCall[];
  without: FilterCall;
}

function nameOf(talker: TalkerStart): string {
  return `talker ${talker}`;
}

function counted(call: FilterCall): Hop {
  return ok(nameOf(call.talker), saysOf(call));
}

function saysOf({ summary, talker, filter, wasBypassed }: FilterCall): string {
  const count = summary.falseInterruptions;
  const times = `${count} false ${count === 1 ? "interruption" : "interruptions"}`;
  const removed = filter?.levelRemovedDb ?? null;
  const proof = wasBypassed || removed === null ? "" : `; ${removed.toFixed(1)} dB removed`;
  const begins = `a talker 10 dB below the caller who begins ${talker} the caller`;
  return `${times} in ${Math.round(summary.durationMs / 1_000)} s with ${begins}${proof}`;
}

function unchecked(...names: string[]): Hop[] {
  return names.map((name) => skipped(name, "not checked"));
}
