import { answer } from "../answer.ts";
import { exitCodes, usageProblem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutSession } from "../service/explain.ts";
import { findSession } from "../service/find-session.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  sessionId: string | undefined;
}

/** `vocalhost agent stop` */
export const run = onService<Options>(async (service, options, context) => {
  if (options.sessionId === undefined)
    throw usageProblem(
      "Which session? None was given.",
      "Give --session-id; vocalhost agent sessions lists them.",
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
