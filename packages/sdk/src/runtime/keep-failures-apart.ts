import type { Log } from "../log.ts";
import { sessionOfRunningCode } from "../server/session.ts";

/** What a bot lets slip, in a timer or a forgotten promise, ends its own session and no other. */
export function keepFailuresApart(log: Log): void {
  const onFailure = (error: unknown): void => {
    const session = sessionOfRunningCode();
    if (session) session.fail(error);
    else log.error({ err: error }, "error outside of any session");
  };
  process.on("uncaughtException", onFailure);
  process.on("unhandledRejection", onFailure);
}
