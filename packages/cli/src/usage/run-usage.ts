import type { Usage } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { shownSeconds } from "../moments.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toFacts, toTable } from "../table.ts";
import type { Ui } from "../ui.ts";

interface Options extends ServiceOptions {
  month: string | undefined;
  csv: boolean | undefined;
}

/** `vocalhost usage` */
export const run = onService<Options>(async ({ api }, { month, csv }, context) => {
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
