import { exitCodes } from "./problem.ts";

/** The first Ctrl-C asks the command to end in good order, the second ends the process. So does losing its reader. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  /** Undefined while nobody has interrupted. */
  readonly exitCode: number | undefined;
}

const TERMINATED = 143;
const UNREAD = 141; // as if ended by SIGPIPE: `vocalhost dev | head`

export function listenToSignals(): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;

  function interrupt(code: number): void {
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
    controller.abort();
  }

  const onInterrupt = (): void => interrupt(exitCodes.interrupted);
  const onTerminate = (): void => interrupt(TERMINATED);
  const onUnread = (): void => {
    exitCode ??= UNREAD; // each further line fails too; none of them may end us
    controller.abort();
  };
  const outputs = [process.stdout, process.stderr];
  for (const output of outputs) output.on("error", onUnread);
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    [Symbol.dispose]() {
      process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
    },
  };
}
