import type { Log } from "../log.ts";
import { sessionOfRunningCode } from "../server/session.ts";

/** Makes an uncaught error in a timer or a forgotten promise end its own session only. */
export function keepFailuresApart(log: Log): void {
  const onFailure = (error: unknown): void => {
    const session = sessionOfRunningCode();
    if (session) session.fail(error);
    else log.error({ err: error }, "error outside of any session");
  };
  process.on("uncaughtException", onFailure);
  process.on("unhandledRejection", onFailure);
}
