import type { Usage } from "@vocalhost/protocol";
import { exitCodes } from "../problem.ts";
import { answer, shownSeconds, toFacts, toTable } from "../results.ts";
import { explained } from "../service/explain.ts";
import { onService } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Ui } from "../ui.ts";

/** `vocalhost organizations list` */
export const list = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const { organizations } = await api.organizations();
  const rows = organizations.map(({ name, verboseName, role }) => [
    { text: name, style: "bold" as const },
    verboseName,
    role ?? "by key",
  ]);
  answer(context, { organizations }, toTable(context.ui, ["Name", "Title", "Role"], rows));
  return exitCodes.ok;
});

interface CreateOptions extends ServiceOptions {
  name: string;
  title: string | undefined;
}

/** `vocalhost organizations create` */
export const create = onService<CreateOptions>(async (service, { name, title }, context) => {
  const made = await explained(
    service,
    service.api.createOrganization({ name, ...(title === undefined ? {} : { verboseName: title }) }),
  );
  answer(
    context,
    made,
    `Created the organisation ${made.name}. Work in it with --organization ${made.name}; its other members are invited in the dashboard.`,
  );
  return exitCodes.ok;
});

/** `vocalhost organizations quotas` */
export const quotas = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const quotas = await api.quotas();
  const { agents, instances, builds, diskMib } = quotas;
  const rows = (
    [
      ["Agents", agents],
      ["Instances", instances],
      ["Builds waiting or running", builds],
      ["Uploads and builds, MiB", diskMib],
    ] as const
  ).map(([what, { used, limit }]) => [what, String(used), String(limit)]);
  answer(context, { quotas }, toTable(context.ui, ["What", "Used", "At most"], rows));
  return exitCodes.ok;
});

/** `vocalhost regions list` */
export const listRegions = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const [{ regions }, { properties }] = await Promise.all([api.regions(), api.properties.get()]);
  const haveDrivers = regions.some(({ driver }) => driver !== undefined);
  const rows = regions.map(({ code, display_name: name, driver = "", status }) => [
    { text: code, style: "bold" as const },
    name,
    ...(haveDrivers ? [driver, status ?? ""] : []),
    code === properties.defaultRegion ? "default" : "",
  ]);
  answer(
    context,
    { regions, defaultRegion: properties.defaultRegion },
    toTable(context.ui, ["Code", "Name", ...(haveDrivers ? ["Driver", "Status"] : []), ""], rows),
  );
  return 0;
});

interface UsageOptions extends ServiceOptions {
  month: string | undefined;
  csv: boolean | undefined;
}

/** `vocalhost usage` */
export const usage = onService<UsageOptions>(async ({ api }, { month, csv }, context) => {
  if (csv) {
    const text = (await api.usageCsv(month)).trimEnd();
    answer(context, { csv: text }, text);
    return 0;
  }
  const usage = await api.usage(month);
  answer(context, { usage }, describe(usage, context.ui));
  return 0;
});

function describe(usage: Usage, ui: Ui): string {
  const facts = toFacts(ui, [
    ["Month", `${usage.month}, ${usage.closed ? "closed" : "still open"}`],
    [
      "Voice isolation",
      `${usage.minutes} min in ${usage.sessions === 1 ? "1 session" : `${usage.sessions} sessions`}`,
    ],
    ["Free", `${usage.freeMinutes} min`],
    ["Billed", `${usage.billableMinutes} min`],
    ["Amount", `USD ${usage.invoiceUsd}`],
  ]);
  const rows = usage.agents.map(({ agent, seconds, sessions }) => [
    agent,
    shownSeconds(seconds),
    String(sessions),
  ]);
  return rows.length === 0 ? facts : `${facts}\n\n${toTable(ui, ["Agent", "Time", "Sessions"], rows)}`;
}
