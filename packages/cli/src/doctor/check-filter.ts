import { aboutAgent } from "../service/explain.ts";
import type { CallableService } from "../service/callable-service.ts";
import { placeFilterCall, type FilterCall } from "./filter-call.ts";
import { failed, ok, skipped, warning, type Hop } from "./hop.ts";

/** Checks that voice isolation keeps a talker in the background from interrupting an agent. Deploys nothing. */
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
      ...unchecked("filter engine", "with filter", "without filter"),
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
      ...unchecked("with filter", "without filter"),
    ];
  const withFilter = await placeFilterCall(service, agent, { bypass: false, signal });
  const without = await placeFilterCall(service, agent, { bypass: true, signal });
  return [setting, ok("filter engine", "installed"), ...judge({ agent, withFilter, without })];
}

/** Two calls, side by side. */
export function judge({ agent, withFilter, without }: JudgedCalls): Hop[] {
  const [few, many] = [withFilter.summary.falseInterruptions, without.summary.falseInterruptions];
  const { filter } = withFilter;
  if (filter?.state !== "ran")
    return [
      failed(
        "with filter",
        filter?.warning ?? "nobody knows what became of the filter",
        "Attach it: createTransport(args, { audioIn: { filter: vivaFilter() } })",
        `See the logs: vocalhost logs ${agent}`,
      ),
      ...unchecked("without filter"),
    ];
  if (!without.wasBypassed)
    return [
      counted(withFilter),
      warning(
        "without filter",
        "the filter could not be switched off for a call",
        "Deploy the agent again: its base is too old.",
      ),
    ];
  return [
    few === 0 || few < many
      ? counted(withFilter)
      : failed(
          "with filter",
          saysOf(withFilter),
          "Docs: voice-isolation, troubleshooting. A talker within a metre is one of its limits.",
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
  withFilter: FilterCall;
  without: FilterCall;
}

function counted(call: FilterCall): Hop {
  return ok("with filter", saysOf(call));
}

function saysOf({ summary, filter, wasBypassed }: FilterCall): string {
  const count = summary.falseInterruptions;
  const times = `${count} false ${count === 1 ? "interruption" : "interruptions"}`;
  const removed = filter?.levelRemovedDb ?? null;
  const proof = wasBypassed || removed === null ? "" : `; ${removed.toFixed(1)} dB removed`;
  return `${times} in ${Math.round(summary.durationMs / 1_000)} s with a talker 10 dB below the caller${proof}`;
}

function unchecked(...names: string[]): Hop[] {
  return names.map((name) => skipped(name, "not checked"));
}
