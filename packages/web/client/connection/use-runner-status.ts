import { useEffect } from "react";
import { isOpen } from "../../shared/events/phase.ts";
import { createStore } from "../../shared/store.ts";
import { useStore } from "../../shared/use-store.ts";
import { readRunnerStatus, type RunnerStatus } from "../runner/runner.ts";
import { connection } from "../state/client-state.ts";

const LOOK_AGAIN_MS = 2_000; // a developer restarts the runner all the time

export const runnerStatus = createStore<RunnerStatus>({ kind: "looking" });

let again: ReturnType<typeof setTimeout> | undefined;

/** Asks the runner now, and again and again while it does not answer. */
export async function lookForRunner(): Promise<void> {
  clearTimeout(again);
  if (isOpen(connection.phase.get())) return;
  const found = await readRunnerStatus();
  clearTimeout(again);
  runnerStatus.set(found);
  if (found.kind === "ready") connection.runnerFound();
  if (found.kind === "unreachable") again = setTimeout(() => void lookForRunner(), LOOK_AGAIN_MS);
}

/** Looks for the runner when the page comes into view, and when a session has failed. */
export function useRunnerStatus(): RunnerStatus {
  useEffect(() => {
    const lookWhenVisible = () => {
      if (document.visibilityState === "visible") void lookForRunner();
    };
    const lookAfterFailure = () => {
      if (connection.phase.get().name === "failed") void lookForRunner();
    };
    void lookForRunner();
    document.addEventListener("visibilitychange", lookWhenVisible);
    const unsubscribe = connection.phase.subscribe(lookAfterFailure);
    return () => {
      clearTimeout(again);
      document.removeEventListener("visibilitychange", lookWhenVisible);
      unsubscribe();
    };
  }, []);
  return useStore(runnerStatus);
}
