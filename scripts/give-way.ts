import type { ChildProcess } from "node:child_process";
import { setPriority } from "node:os";

const BEHIND_OTHERS = 10;

/** Tests that listen to sound run beside it, and come first. */
export function giveWay<T extends ChildProcess>(child: T): T {
  if (child.pid !== undefined) setPriority(child.pid, BEHIND_OTHERS);
  return child;
}
