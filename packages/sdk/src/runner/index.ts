// Running a bot on this machine
import { isHosted } from "../runtime/hosted.ts";
import type { MainOptions } from "./main.ts";

export { app } from "../runtime/app.ts";
export type { MainOptions };

/** Runs the bot of the calling program. Resolves once the runner listens. */
export async function main(options: MainOptions = {}): Promise<void> {
  if (isHosted()) return;
  const runner = await import("./main.ts"); // loaded late: a hosted bot imports this module for its routes, and needs no runner
  await runner.main(options);
}
