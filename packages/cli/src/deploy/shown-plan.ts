import type { Ui } from "../ui.ts";
import type { Change } from "./deploy-request.ts";

/** What a deployment would do. */
export interface DeployPlan {
  agent: string;
  isNew: boolean;
  isForced: boolean;
  changes: Change[];
}

export function shownPlan({ agent, isNew, isForced, changes }: DeployPlan, ui?: Pick<Ui, "style">): string {
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
