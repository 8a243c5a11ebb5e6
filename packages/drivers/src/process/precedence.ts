import { getPriority, setPriority } from "node:os";

const STEP = 5; // about three programs' share; with a crowd of them, bots still have more than the controller
let taken = 0;

/**
 * Whoever starts a session waits for the controller, and every start wakes a bot: without precedence, fifty bots that get
 * ready keep the last of fifty starts from being answered. Where it is not allowed to, it is a program like any other.
 */
export function takePrecedence(): void {
  try {
    setPriority(getPriority() - STEP);
    taken = STEP;
  } catch {
    // not root
  }
}

/** What the controller starts is no controller. */
export function giveNoPrecedence(pid: number | undefined): void {
  if (taken === 0 || pid === undefined) return;
  try {
    setPriority(pid, getPriority() + taken);
  } catch {
    // it has just ended
  }
}
