// Running a bot on this machine
import { isHosted } from "../runtime/hosted.ts";
import type { MainOptions } from "./main.ts";

export { app } from "../runtime/app.ts";
export type { MainOptions };

/** Runs the bot of the program that calls this. Resolves once the runner listens. */
export async function main(options: MainOptions = {}): Promise<void> {
  if (isHosted()) return;
  const runner = await import("./main.ts"); // not before: a hosted bot imports this for its routes, and has no runner
  await runner.main(options);
}
