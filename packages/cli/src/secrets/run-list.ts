import { answer } from "../answer.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";
import type { Style } from "../ui.ts";
import { aboutSet } from "./about-set.ts";

interface Options extends ServiceOptions {
  set: string | undefined;
  sets: boolean | undefined;
  region: string | undefined;
}

const STYLES: Record<string, Style> = { ready: "green", pending: "yellow", failed: "red" };

/** `vocalhost secrets list` */
export const run = onService<Options>(async (service, options, context) => {
  const { api } = service;
  const { ui } = context;
  if (options.set !== undefined) {
    const set = await aboutSet(service, options.set, api.secrets.get(options.set));
    const rows = set.secrets.map(({ fieldName }) => [fieldName]);
    answer(
      context,
      { name: options.set, ...set },
      rows.length === 0 ? "The set is empty." : toTable(ui, ["Key"], rows),
    );
    return 0;
  }
  const { sets: all } = await api.secrets.list(
    options.region === undefined ? {} : { region: options.region },
  );
  const sets = options.sets ? all.filter(({ type }) => type === "secret") : all;
  const rows = sets.map(({ name, type, region, status, errorMessage }) => [
    { text: name, style: "bold" as const },
    type === "secret" ? "secrets" : "image pull",
    region,
    {
      text: errorMessage === undefined ? status : `${status}: ${errorMessage}`,
      style: STYLES[status] ?? ("dim" as const),
    },
  ]);
  const text =
    rows.length === 0
      ? "No secret sets yet. Create one with: vocalhost secrets set"
      : toTable(ui, ["Set", "Kind", "Region", "Status"], rows);
  answer(context, { sets }, text);
  return 0;
});
