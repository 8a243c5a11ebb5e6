import { getPriority, setPriority } from "node:os";

const STEP = 5; // about three programs' share; with a crowd of them, bots still have more than the controller
let taken = 0;

/**
 * Raises the priority of the controller. Callers wait for it, and every start wakes a bot: without precedence, fifty bots
 * that get ready delay the answer to the last of fifty starts. Does nothing where the service may not.
 */
export function takePrecedence(): void {
  try {
    setPriority(getPriority() - STEP);
    taken = STEP;
  } catch {
    // not root
  }
}

/** Gives a child process of the controller the usual priority. */
export function giveNoPrecedence(pid: number | undefined): void {
  if (taken === 0 || pid === undefined) return;
  try {
    setPriority(pid, getPriority() + taken);
  } catch {
    // it has just ended
  }
}
